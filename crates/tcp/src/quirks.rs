//! What other simulators do and no standard has: for repeating what was measured with them.

/// Hands the quirks of a connection to the macro `$declare`, as `tcp_constants!` does.
#[macro_export]
macro_rules! quirk_constants {
    ($declare:path) => {
        $declare! {
            /// What other simulators do and no standard has. All off, a connection keeps the standards.
            #[derive(Clone, Copy, PartialEq, Eq, Debug)]
            pub struct Quirks {
                presets {
                    /// None.
                    linux,
                    /// None.
                    classic,
                }
                keys {
                    /// After every loss ssthresh is this, whatever the algorithm says: octets and segments mixed up (ns-3.13 with
                    /// Multipath TCP). Default: what the algorithm says.
                    ssthresh_after_loss: Option<u32> [segments] = None, None;
                    /// When a subflow acknowledges data that arrive before those of other subflows.
                    subflow_acks: SubflowAcks = SubflowAcks::Own, SubflowAcks::Own;
                    /// Whom a duplicate ACK of a subflow counts for.
                    duplicates_blame: Blame = Blame::Own, Blame::Own;
                }
                inner {}
            }
        }
    };
}

quirk_constants!(ropewalk_units::configuration);

/// When a subflow acknowledges data that arrive before those of other subflows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SubflowAcks {
    /// As they arrive on the subflow (RFC 8684 §3.3).
    #[default]
    Own,
    /// Once the data before them have come on whatever subflow: a slow path stalls a fast one.
    InDataOrder,
    /// Likewise, and an extra ACK, which advances nothing, as they arrive.
    Twice,
}

/// Whom a duplicate ACK of a subflow counts for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Blame {
    /// The subflow that got it (RFC 5681 §2).
    #[default]
    Own,
    /// Nobody.
    Nobody,
    /// The subflow that carries the oldest data without a DATA_ACK. Three of them cut its window. An ACK within a round
    /// trip restores the window, since it is too early for the segment that was sent again.
    BlockingUndone,
    /// The same, and the window stays cut.
    Blocking,
}
