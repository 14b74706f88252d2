//! Interfaces, addresses, routes and rules: rtnetlink.

use super::Netlink;
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteMessage, RouteMetric, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use std::io;
use std::net::IpAddr;

/// The table that is asked when no rule says otherwise.
const MAIN: u8 = 254;

/// The prefix that is a whole address.
const fn whole(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

const fn family(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}

const fn route_address(address: IpAddr) -> RouteAddress {
    match address {
        IpAddr::V4(address) => RouteAddress::Inet(address),
        IpAddr::V6(address) => RouteAddress::Inet6(address),
    }
}

/// What a route tells TCP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RouteMetrics {
    /// The MSS option that is sent, in octets.
    pub(crate) mss: u32,
    /// Initial window in segments.
    pub(crate) initial_window: u32,
}

/// A route out of an interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Route {
    /// `None`: to everywhere.
    pub(crate) to: Option<IpAddr>,
    /// The source address of what leaves by it.
    pub(crate) from: IpAddr,
    /// Index of the interface.
    pub(crate) interface: u32,
    /// A table of its own, or the main one.
    pub(crate) table: Option<u8>,
    pub(crate) metrics: RouteMetrics,
}

/// The network settings of the namespace in which it was opened.
pub(crate) struct Routing(Netlink);

impl Routing {
    pub(crate) fn open() -> io::Result<Self> {
        Netlink::open(NETLINK_ROUTE).map(Self)
    }

    fn create(&mut self, message: RouteNetlinkMessage) -> io::Result<()> {
        self.0.request(message, NLM_F_CREATE | NLM_F_EXCL).map(drop)
    }

    /// `ip link set … up`.
    pub(crate) fn set_up(&mut self, interface: u32) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = interface;
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
        self.0.request(RouteNetlinkMessage::SetLink(message), 0).map(drop)
    }

    /// `ip link set … gso_max_segs …`.
    pub(crate) fn set_most_segments(&mut self, interface: u32, segments: u32) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = interface;
        message.attributes.push(LinkAttribute::GsoMaxSegs(segments));
        self.0.request(RouteNetlinkMessage::SetLink(message), 0).map(drop)
    }

    /// `ip address add …/32`, or `…/128 nodad`: nobody else has it.
    pub(crate) fn add_address(&mut self, interface: u32, address: IpAddr) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = family(address);
        message.header.prefix_len = whole(address);
        message.header.index = interface;
        message.attributes = vec![AddressAttribute::Local(address), AddressAttribute::Address(address)];
        if address.is_ipv6() {
            message.header.flags = AddressHeaderFlags::Nodad;
        }
        self.create(RouteNetlinkMessage::NewAddress(message))
    }

    /// `ip route add`.
    pub(crate) fn add_route(&mut self, route: &Route) -> io::Result<()> {
        let mut message = RouteMessage::default();
        message.header.address_family = family(route.from);
        message.header.table = route.table.unwrap_or(MAIN);
        message.header.protocol = RouteProtocol::Static;
        message.header.scope = RouteScope::Link;
        message.header.kind = RouteType::Unicast;
        let metrics = &route.metrics;
        message.attributes = vec![
            RouteAttribute::Oif(route.interface),
            RouteAttribute::PrefSource(route_address(route.from)),
            RouteAttribute::Metrics(vec![
                RouteMetric::Advmss(metrics.mss),
                RouteMetric::InitCwnd(metrics.initial_window),
            ]),
        ];
        if let Some(to) = route.to {
            message.header.destination_prefix_length = whole(to);
            message.attributes.push(RouteAttribute::Destination(route_address(to)));
        }
        self.create(RouteNetlinkMessage::NewRoute(message))
    }

    /// `ip rule add from … lookup …`.
    pub(crate) fn add_rule(&mut self, from: IpAddr, table: u8) -> io::Result<()> {
        let mut message = RuleMessage::default();
        message.header.family = family(from);
        message.header.src_len = whole(from);
        message.header.table = table;
        message.header.action = RuleAction::ToTable;
        message.attributes = vec![RuleAttribute::Source(from), RuleAttribute::Table(table.into())];
        self.create(RouteNetlinkMessage::NewRule(message))
    }
}
