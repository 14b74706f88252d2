//! For tests only: two hosts with real protocols, and the lines between them, on the simulator.
//!
//! A [`Network`] joins two [`Stack`]s: [`TcpHost`]s, or [`MptcpHost`]s with several lines. A
//! [`Line`] is a link of the simulator, and a [`Middlebox`] at its far end does what links do not.
//! On each host an [`Application`] writes, reads at its own pace, and checks every octet. A test
//! runs the network event by event, looks into the hosts, or puts segments of its own in. A
//! [`Pair`] joins two [`End`]s of something else that sends datagrams, as a bond does.

mod application;
pub mod attack;
pub mod bounds;
mod datagram;
pub mod golden;
mod host;
mod line;
mod middlebox;
mod mptcp;
mod network;
mod pair;
mod prediction;
mod stack;
mod tcp;
pub mod text;
pub mod words;

pub use application::{Application, Finish, Transport};
pub use datagram::{address, line_of, reversed};
pub use line::{Line, both_ways};
pub use middlebox::{Middlebox, Standstill};
pub use mptcp::{MptcpHost, Socket, mptcp_network, paths};
pub use network::{Network, Seen};
pub use pair::{End, Outgoing, Pair};
pub use prediction::Prediction;
pub use ropewalk_sim::QueueLimit;
pub use stack::{Phase, Stack};
pub use tcp::{TcpHost, tcp_network};
