//! Read-only views of a running connection: what sampling and collecting ask of its two ends.

use super::datagrams::UdpSender;
use super::endpoint::StreamEndpoint;
use super::host::Endpoint;
use super::packet::Packet;
use super::simulation::{Ends, Simulation};
use super::transport::Transport;
use crate::application::{Datagrams, Source};
use crate::plan::{AddressIndex, ConnectionPlan};
use ropewalk_mptcp as mptcp;
use ropewalk_sim::{Medium, Tap};
use ropewalk_tcp as tcp;
use ropewalk_units::Duration;

/// The two ends of a connection's data: who sends the octets that count, and who receives them.
#[derive(Clone, Copy)]
pub(crate) enum DataEnds<'a> {
    /// TCP or Multipath TCP.
    Stream { sender: &'a StreamEndpoint, receiver: &'a StreamEndpoint },
    /// UDP.
    Udp { sender: &'a UdpSender, receiver: &'a Datagrams },
}

impl<T: Tap<Packet>, M: Medium<Packet>> Simulation<T, M> {
    /// The ends of a connection's data.
    pub(crate) fn data_ends(&self, plan: &ConnectionPlan, ends: Ends) -> DataEnds<'_> {
        let client = self.world.node(ends.client.0).host().endpoint(ends.client.1);
        let server = self.world.node(ends.server.0).host().endpoint(ends.server.1);
        let (sender, receiver) = if plan.server_sends() { (server, client) } else { (client, server) };
        match (sender, receiver) {
            (Endpoint::Stream(sender), Endpoint::Stream(receiver)) => DataEnds::Stream { sender, receiver },
            (Endpoint::UdpSender(sender), Endpoint::UdpReceiver(_, receiver)) => {
                DataEnds::Udp { sender, receiver }
            }
            _ => unreachable!("both ends of a connection have its protocol"),
        }
    }
}

/// A subflow as the sender of the data sees it.
#[derive(Clone, Copy)]
pub(crate) struct SubflowView<'a> {
    pub(crate) subflow: u32,
    /// Index of its path in the scenario's list.
    pub(crate) path: u32,
    /// Its addresses, that of the sender first; none of plain TCP, which has one path.
    pub(crate) ends: Option<[AddressIndex; 2]>,
    pub(crate) backup: bool,
    pub(crate) tcp: &'a tcp::Connection,
}

/// The subflows of an end, in the order of their creation.
pub(crate) fn subflows(endpoint: &StreamEndpoint) -> Vec<SubflowView<'_>> {
    match &endpoint.transport {
        Transport::Waiting | Transport::Listening => Vec::new(),
        Transport::Tcp(stream) => {
            vec![SubflowView { subflow: 0, path: 0, ends: None, backup: false, tcp: &stream.connection }]
        }
        Transport::Mptcp(stream) => stream
            .subflows()
            .into_iter()
            .map(|(subflow, tuple)| {
                let path = endpoint.paths.iter().position(|path| {
                    path.local.address() == tuple.local.address()
                        && path.remote.address() == tuple.remote.address()
                });
                SubflowView {
                    subflow: subflow.id().0,
                    path: path.map_or(u32::MAX, |path| path as u32),
                    ends: Some([tuple.local.address(), tuple.remote.address()]),
                    backup: subflow.backup(),
                    tcp: subflow.tcp(),
                }
            })
            .collect(),
    }
}

/// Counters that only a Multipath TCP connection has.
pub(crate) fn mptcp_stats(endpoint: &StreamEndpoint) -> Option<mptcp::Stats> {
    match &endpoint.transport {
        Transport::Mptcp(stream) => Some(stream.connection.stats()),
        _ => None,
    }
}

/// An end's connection of Multipath TCP, once it has a subflow and until it is over.
pub(crate) fn open_mptcp(endpoint: &StreamEndpoint) -> Option<&mptcp::Connection> {
    let Transport::Mptcp(stream) = &endpoint.transport else { return None };
    let connection = &stream.connection;
    let is_open = !connection.is_closed() && connection.subflows().any(mptcp::Subflow::was_established);
    is_open.then_some(connection)
}

/// What became of requests.
#[derive(Clone, Copy, Default)]
pub(crate) struct Transactions {
    /// Those that were answered.
    pub(crate) completed: u64,
    /// The sum of their times.
    pub(crate) time: Duration,
}

impl Transactions {
    /// Those of one end.
    pub(crate) fn of(endpoint: &StreamEndpoint) -> Self {
        match &endpoint.source {
            Source::Requester(requester) => {
                Self { completed: requester.completed, time: requester.response_time }
            }
            _ => Self::default(),
        }
    }

    /// The mean of their times in seconds.
    pub(crate) fn mean_response_s(self) -> Option<f64> {
        (self.completed > 0).then(|| self.time.as_secs_f64() / self.completed as f64)
    }
}
