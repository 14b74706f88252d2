//! Interfaces, addresses, routes and rules: rtnetlink.

use super::Netlink;
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{LinkFlags, LinkMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteMessage, RouteMetric, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use std::io;
use std::net::Ipv4Addr;

/// A whole address.
const HOST_PREFIX: u8 = 32;
/// The table that is asked when no rule says otherwise.
const MAIN: u8 = 254;

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
    pub(crate) to: Option<Ipv4Addr>,
    /// The source address of what leaves by it.
    pub(crate) from: Ipv4Addr,
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

    /// `ip address add …/32`.
    pub(crate) fn add_address(&mut self, interface: u32, address: Ipv4Addr) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.prefix_len = HOST_PREFIX;
        message.header.index = interface;
        message.attributes =
            vec![AddressAttribute::Local(address.into()), AddressAttribute::Address(address.into())];
        self.create(RouteNetlinkMessage::NewAddress(message))
    }

    /// `ip route add`.
    pub(crate) fn add_route(&mut self, route: &Route) -> io::Result<()> {
        let mut message = RouteMessage::default();
        message.header.address_family = AddressFamily::Inet;
        message.header.table = route.table.unwrap_or(MAIN);
        message.header.protocol = RouteProtocol::Static;
        message.header.scope = RouteScope::Link;
        message.header.kind = RouteType::Unicast;
        let metrics = &route.metrics;
        message.attributes = vec![
            RouteAttribute::Oif(route.interface),
            RouteAttribute::PrefSource(RouteAddress::Inet(route.from)),
            RouteAttribute::Metrics(vec![
                RouteMetric::Advmss(metrics.mss),
                RouteMetric::InitCwnd(metrics.initial_window),
            ]),
        ];
        if let Some(to) = route.to {
            message.header.destination_prefix_length = HOST_PREFIX;
            message.attributes.push(RouteAttribute::Destination(RouteAddress::Inet(to)));
        }
        self.create(RouteNetlinkMessage::NewRoute(message))
    }

    /// `ip rule add from … lookup …`.
    pub(crate) fn add_rule(&mut self, from: Ipv4Addr, table: u8) -> io::Result<()> {
        let mut message = RuleMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.src_len = HOST_PREFIX;
        message.header.table = table;
        message.header.action = RuleAction::ToTable;
        message.attributes = vec![RuleAttribute::Source(from.into()), RuleAttribute::Table(table.into())];
        self.create(RouteNetlinkMessage::NewRule(message))
    }
}
