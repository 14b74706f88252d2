//! What the ingress knows of a packet besides its length.

/// The flow a packet belongs to, as the driver sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlowKey {
    /// A hash of what identifies the flow (addresses, protocol, ports). Its low bits choose the
    /// flow bucket. Flows that share a bucket share an order: they may wait for each other.
    pub hash: u32,
    /// How the flow is to be treated.
    pub class: Class,
    /// Does the packet open a connection of TCP (SYN)? Full packets are expected to follow.
    pub opens: bool,
    /// Is the packet an acknowledgement of TCP, without data? The next one tells all that it tells (RFC 9293 §3.4): it is
    /// neither kept in order nor repaired, and need not leave if the next one comes to wait behind it.
    pub is_ack: bool,
}

impl FlowKey {
    /// How this packet of the flow is to be treated.
    pub(crate) const fn packet_class(self) -> Class {
        match self.class {
            Class::Normal | Class::LowDelay if self.is_ack => Class::Unordered,
            Class::Duplicated if self.is_ack => Class::DuplicatedUnordered,
            class => class,
        }
    }
}

/// How packets of a flow are to be treated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Class {
    /// One copy, delivered in the flow's order.
    #[default]
    Normal,
    /// One copy, in the flow's order, for a thin flow that must not wait. It takes the path that
    /// rate-aware gives it, and may leave before the pacer would let it. While more than two
    /// full packets of the flow wait, they are treated as normal.
    LowDelay,
    /// One copy, delivered on arrival: the flow does not mind reordering.
    Unordered,
    /// A copy on every usable path, the first one delivered, in the flow's order.
    Duplicated,
    /// A copy on every usable path, the first one delivered on arrival.
    DuplicatedUnordered,
}

impl Class {
    /// Is the flow to be kept in order?
    pub const fn is_ordered(self) -> bool {
        matches!(self, Self::Normal | Self::LowDelay | Self::Duplicated)
    }

    /// Does every usable path get a copy?
    pub const fn is_duplicated(self) -> bool {
        matches!(self, Self::Duplicated | Self::DuplicatedUnordered)
    }
}
