//! Interfaces, addresses, routes and rules by rtnetlink.

use ipnet::IpNet;
use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleFlags, RuleMessage, RuleUidRange};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};
use std::io;

/// Number of the kernel's main routing table.
const MAIN: u32 = 254;
/// Priority of the first rule. The kernel asks rules from the lowest number on. The main table's
/// rule has 32766.
const PRIORITY: u32 = 5208;

/// A netlink socket for requests to the kernel.
pub struct Netlink {
    socket: Socket,
    sequence: u32,
}

const fn family(of: &IpNet) -> AddressFamily {
    match of {
        IpNet::V4(_) => AddressFamily::Inet,
        IpNet::V6(_) => AddressFamily::Inet6,
    }
}

impl Netlink {
    /// Opens a socket in the network namespace of this thread.
    ///
    /// # Errors
    /// The kernel refuses the socket.
    pub fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket, sequence: 0 })
    }

    /// Sends one request and waits for the kernel's acknowledgement.
    fn request(&mut self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.sequence += 1;
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
        header.sequence_number = self.sequence;
        let mut message = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(message));
        message.finalize();
        let mut octets = vec![0; message.buffer_len()];
        message.serialize(&mut octets);
        self.socket.send(&octets, 0)?;
        let (answer, _) = self.socket.recv_from_full()?;
        let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer).map_err(io::Error::other)?;
        match answer.payload {
            NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
            _ => Ok(()),
        }
    }

    /// `ip link set … up`.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_up(&mut self, interface: u32) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = interface;
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
        self.request(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// `ip link set … mtu …`.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_mtu(&mut self, interface: u32, mtu: u32) -> io::Result<()> {
        self.set_link(interface, LinkAttribute::Mtu(mtu))
    }

    /// `ip link set … gso_max_segs …`: the most packets that the kernel may join into one.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_most_segments(&mut self, interface: u32, segments: u32) -> io::Result<()> {
        self.set_link(interface, LinkAttribute::GsoMaxSegs(segments))
    }

    fn set_link(&mut self, interface: u32, attribute: LinkAttribute) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = interface;
        message.attributes.push(attribute);
        self.request(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// `ip address add …`. An IPv6 address gets `nodad`, since no other host is on the interface.
    ///
    /// # Errors
    /// The kernel's.
    pub fn add_address(&mut self, interface: u32, address: &IpNet) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = family(address);
        message.header.prefix_len = address.prefix_len();
        message.header.index = interface;
        if let IpNet::V6(_) = address {
            message.header.flags = AddressHeaderFlags::Nodad;
        }
        let address = address.addr();
        message.attributes = vec![AddressAttribute::Local(address), AddressAttribute::Address(address)];
        self.request(RouteNetlinkMessage::NewAddress(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// `ip route add … dev … table …`.
    ///
    /// # Errors
    /// The kernel's.
    pub fn add_route(&mut self, interface: u32, to: &IpNet, table: u32) -> io::Result<()> {
        let mut message = RouteMessage::default();
        message.header.address_family = family(to);
        message.header.destination_prefix_length = to.prefix_len();
        message.header.protocol = RouteProtocol::Static;
        message.header.scope = RouteScope::Link;
        message.header.kind = RouteType::Unicast;
        let destination = match to.trunc() {
            IpNet::V4(net) => RouteAddress::Inet(net.addr()),
            IpNet::V6(net) => RouteAddress::Inet6(net.addr()),
        };
        message.attributes = vec![
            RouteAttribute::Oif(interface),
            RouteAttribute::Table(table),
            RouteAttribute::Destination(destination),
        ];
        self.request(RouteNetlinkMessage::NewRoute(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Adds two rules for packets that do not have this mark. The first asks the main table without
    /// its default route. The second asks the table whose number is `mark`.
    ///
    /// # Errors
    /// The kernel's.
    pub fn add_rules(&mut self, family: AddressFamily, mark: u32) -> io::Result<()> {
        rules(family, mark)
            .into_iter()
            .try_for_each(|rule| self.request(RouteNetlinkMessage::NewRule(rule), NLM_F_CREATE | NLM_F_EXCL))
    }

    /// Adds a rule that lets a user pass by the tunnel: packets of the user whose number is `mark`
    /// ask the main table first.
    ///
    /// # Errors
    /// The kernel's.
    pub fn add_pass(&mut self, family: AddressFamily, mark: u32) -> io::Result<()> {
        self.request(RouteNetlinkMessage::NewRule(pass(family, mark)), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Removes these rules, however often they are there.
    pub fn remove_rules(&mut self, family: AddressFamily, mark: u32) {
        for rule in rules(family, mark).into_iter().chain([pass(family, mark)]) {
            while self.request(RouteNetlinkMessage::DelRule(rule.clone()), 0).is_ok() {}
        }
    }
}

fn pass(family: AddressFamily, user: u32) -> RuleMessage {
    let mut message = RuleMessage::default();
    message.header.family = family;
    message.header.action = RuleAction::ToTable;
    message.attributes = vec![
        RuleAttribute::Priority(PRIORITY - 1),
        RuleAttribute::UidRange(RuleUidRange { start: user, end: user }),
        RuleAttribute::Table(MAIN),
    ];
    message
}

fn rules(family: AddressFamily, mark: u32) -> [RuleMessage; 2] {
    let rule = |number: u32, table: u32, more: Option<RuleAttribute>| {
        let mut message = RuleMessage::default();
        message.header.family = family;
        message.header.action = RuleAction::ToTable;
        message.header.flags = RuleFlags::Invert;
        message.attributes = vec![
            RuleAttribute::Priority(PRIORITY + number),
            RuleAttribute::FwMark(mark),
            RuleAttribute::Table(table),
        ];
        message.attributes.extend(more);
        message
    };
    [rule(0, MAIN, Some(RuleAttribute::SuppressPrefixLen(0))), rule(1, mark, None)]
}
