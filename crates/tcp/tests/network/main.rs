//! Whole connections over the test network.

mod formulas;
mod hostile;
mod physics;
mod properties;
mod reordering;
mod spurious;
mod transfer;

use ropewalk_tcp::Config;
use ropewalk_testnet::{Finish, Line, Network, Stack, TcpHost, tcp_network};
use ropewalk_units::{Duration, Instant, Rate};

/// So many seconds after the beginning.
fn seconds(seconds: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(seconds)
}

/// The same rate and delay both ways, losses from the client, queues without limit.
fn lossy(rate: Rate, delay: Duration, loss: f64) -> [Line; 2] {
    let line = Line::of_rate(rate, delay);
    [Line { loss, ..line.clone() }, line]
}

/// A client with so many octets, and a server that reads at once; neither closes.
fn transfer(configs: [Config; 2], octets: u64, lines: [Line; 2], seed: u64) -> Network<TcpHost> {
    let mut network = tcp_network(configs, [octets, 0], lines, seed);
    (0..2).for_each(|side| network.host_mut(side).application_mut().finish = Finish::Never);
    network
}

/// Octets that the server has read.
fn delivered(network: &Network<TcpHost>) -> u64 {
    network.host(1).application().received
}

/// Runs until all these octets are read, or until `limit`.
fn deliver(network: &mut Network<TcpHost>, octets: u64, limit: Instant) {
    network.run_while(limit, |network| delivered(network) < octets);
}
