//! The scenarios of the tests.

use ropewalk_scenario::{Outcome, RunOptions, Scenario, load};

/// One TCP connection on one link, for as long as the scenario lasts. Reno, since a machine that is busy makes delays rise, at
/// which CUBIC's HyStart leaves slow start.
pub(crate) const ONE_LINK: &str = r#"
[scenario]
name = "one-link"
duration = "3 s"
[hosts.client]
stack = "linux"
[hosts.server]
stack = "linux"
[links.dsl]
between = ["client", "server"]
rate = "8 Mbit/s"
delay = "10 ms"
queue = "100 packets"
[connections.bulk]
from = "client"
to = "server"
tcp.congestion_control = "newreno"
"#;

/// A transfer each way, one after the other.
pub(crate) const TRANSFER: &str = r#"
[scenario]
name = "transfer"
duration = "3 s"
[hosts.client]
stack = "linux"
[hosts.server]
stack = "linux"
[links.dsl]
between = ["client", "server"]
rate = "8 Mbit/s"
delay = "10 ms"
queue = "100 packets"
[connections.way-back]
from = "client"
to = "server"
start = "1.5 s"
data = "backward"
application = { kind = "bulk", bytes = "500 kB" }
[connections.way-there]
from = "client"
to = "server"
application = { kind = "bulk", bytes = "500 kB" }
"#;

/// A call, a stream of messages, and requests with answers.
pub(crate) const TALK: &str = r#"
[scenario]
name = "talk"
duration = "3 s"
[hosts.client]
stack = "linux"
[hosts.server]
stack = "linux"
[links.dsl]
between = ["client", "server"]
rate = "8 Mbit/s"
delay = "10 ms"
queue = "100 packets"
[links.dsl.forward]
loss = { model = "exact", packets = [2, 40] }
[connections.call]
protocol = "udp"
from = "client"
to = "server"
application = { kind = "constant-rate", rate = "800 kbit/s", packet_size = "500 B", duration = "2 s" }
[connections.feed]
from = "client"
to = "server"
application = { kind = "constant-rate", rate = "1 Mbit/s" }
[connections.web]
from = "client"
to = "server"
start = "500 ms"
application = { kind = "request-response", request = "400 B", response = "20 kB", think = "50 ms", count = 10 }
"#;

/// Two links from end to end: the server has two addresses.
pub(crate) const TWO_LINKS: &str = r#"
[scenario]
name = "two-links"
duration = "4 s"
[hosts.client]
stack = "linux"
[hosts.server]
stack = "linux"
[links.dsl]
between = ["client", "server"]
rate = "8 Mbit/s"
delay = "10 ms"
queue = "50 packets"
[links.lte]
between = ["client", "server"]
rate = "4 Mbit/s"
delay = "20 ms"
queue = "50 packets"
[connections.bulk]
protocol = "mptcp"
from = "client"
to = "server"
"#;

/// Two access links to a router, and one link from there: the server has one address.
pub(crate) const SHARED_SERVER: &str = r#"
[scenario]
name = "shared-server"
duration = "4 s"
[hosts.client]
stack = "linux"
[hosts.server]
stack = "linux"
[routers.r]
[links.dsl]
between = ["client", "r"]
rate = "8 Mbit/s"
delay = "10 ms"
queue = "50 packets"
[links.lte]
between = ["client", "r"]
rate = "4 Mbit/s"
delay = "20 ms"
queue = "50 packets"
[links.wan]
between = ["r", "server"]
rate = "100 Mbit/s"
delay = "1 ms"
[connections.bulk]
protocol = "mptcp"
from = "client"
to = "server"
"#;

/// A scenario with Linux hosts.
pub(crate) struct Emulated(pub(crate) &'static str);

impl Emulated {
    pub(crate) fn load(&self, overrides: &[(&str, &str)]) -> Scenario {
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        let overrides = overrides.iter().map(owned).collect::<Vec<_>>();
        load(self.0, None, &overrides).unwrap_or_else(|error| panic!("{error}"))
    }

    /// On kernels, in real time.
    pub(crate) fn run(&self) -> Outcome {
        let result = ropewalk_live::run(&self.load(&[]), &RunOptions::default());
        result.unwrap_or_else(|error| panic!("{error}"))
    }

    /// The same, simulated.
    pub(crate) fn simulate(&self) -> Outcome {
        let simulated = [("hosts.client.stack", "ropewalk"), ("hosts.server.stack", "ropewalk")];
        let result = ropewalk_scenario::run(&self.load(&simulated), &RunOptions::default());
        result.unwrap_or_else(|error| panic!("{error}"))
    }
}
