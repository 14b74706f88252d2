//! The scenarios of the tests.

use ropewalk_scenario::plan::Stack;
use ropewalk_scenario::{Outcome, RunOptions, Scenario, Watch, load, load_as};
use std::path::Path;

/// A scenario of a client and a server, whose text leaves open what they run.
pub(crate) struct Emulated(String);

/// One TCP connection on one link, for as long as the scenario lasts. It uses Reno: with CUBIC the
/// kernel's goodput differs between runs, however punctual the links are, and the reason is not
/// known.
pub(crate) fn one_link() -> Emulated {
    let bulk = connection("bulk", r#"tcp.congestion_control = "newreno""#);
    Emulated::new("one-link", "3 s", &[dsl(100), bulk])
}

/// A transfer each way, one after the other.
pub(crate) fn transfer() -> Emulated {
    let bulk = r#"application = { kind = "bulk", bytes = "500 kB" }"#;
    let back = format!("start = \"1.5 s\"\ndata = \"backward\"\n{bulk}");
    Emulated::new(
        "transfer",
        "3 s",
        &[dsl(100), connection("way-back", &back), connection("way-there", bulk)],
    )
}

/// A transfer of which chosen data packets are lost: one of the first window, and one near the end.
/// A program tells what the client's kernel has counted at its interface.
pub(crate) fn chosen_losses(offloads: bool) -> Emulated {
    let losses = "[links.dsl.forward]\nloss = { model = \"exact\", packets = [5, 300] }\n".to_owned();
    let counts =
        "[hosts.client.commands.count]\ncommand = \"cat /proc/net/dev\"\nstart = \"2900 ms\"\n".to_owned();
    let file = connection("file", r#"application = { kind = "bulk", bytes = "500 kB" }"#);
    Emulated::new("chosen-losses", "3 s", &[dsl(100), losses, counts, file]).with_offloads(offloads)
}

/// TCP over 500 Mbit/s.
pub(crate) fn fast(offloads: bool) -> Emulated {
    let link = link("dsl", ["client", "server"], "rate = \"500 Mbit/s\"\ndelay = \"2 ms\"", 1000);
    Emulated::new("fast", "3 s", &[link, connection("bulk", "")]).with_offloads(offloads)
}

/// A call, a stream of messages, and requests with answers.
pub(crate) fn talk() -> Emulated {
    let losses = "[links.dsl.forward]\nloss = { model = \"exact\", packets = [2, 40] }\n".to_owned();
    let call = r#"protocol = "udp"
application = { kind = "constant-rate", rate = "800 kbit/s", packet_size = "500 B", duration = "2 s" }"#;
    let feed = r#"application = { kind = "constant-rate", rate = "1 Mbit/s" }"#;
    let web = r#"start = "500 ms"
application = { kind = "request-response", request = "400 B", response = "20 kB", think = "50 ms", count = 10 }"#;
    let connections =
        [("call", call), ("feed", feed), ("web", web)].map(|(name, more)| connection(name, more));
    Emulated::new("talk", "3 s", &[vec![dsl(100), losses], connections.to_vec()].concat())
}

/// Requests with answers, alone.
pub(crate) fn web() -> Emulated {
    let web = r#"start = "500 ms"
application = { kind = "request-response", request = "400 B", response = "20 kB", think = "50 ms", count = 10 }"#;
    Emulated::new("web", "3 s", &[dsl(100), connection("web", web)])
}

/// Two links from end to end: the server has two addresses.
pub(crate) fn two_links() -> Emulated {
    let lte = link("lte", ["client", "server"], "rate = \"4 Mbit/s\"\ndelay = \"20 ms\"", 50);
    Emulated::new("two-links", "4 s", &[dsl(50), lte, connection("bulk", r#"protocol = "mptcp""#)])
}

/// The same, with a second link that goes dark in the middle.
pub(crate) fn dark_path() -> Emulated {
    let Emulated(text) = two_links();
    let dark = "rate = \"4 Mbit/s\"\nchanges = [{ at = \"2 s\", state = \"down\" }]";
    Emulated(text.replace("rate = \"4 Mbit/s\"", dark))
}

/// Datagrams over a long link that goes down for good. Is what is on its way lost, too?
pub(crate) fn cut(loses_in_flight: bool) -> Emulated {
    let line = format!(
        "rate = \"8 Mbit/s\"\ndelay = \"300 ms\"\ndown_loses_in_flight = {loses_in_flight}\n\
         changes = [{{ at = \"1050 ms\", state = \"down\" }}]"
    );
    let call = r#"protocol = "udp"
application = { kind = "constant-rate", rate = "800 kbit/s", packet_size = "500 B", duration = "1 s" }"#;
    Emulated::new("cut", "2 s", &[link("dsl", ["client", "server"], &line, 100), connection("call", call)])
}

/// Two access links to a router, and one link from there: the server has one address.
pub(crate) fn shared_server() -> Emulated {
    of_shared_server("shared-server", "")
}

/// The same, with an endpoint that comes after a second and goes after two and a half.
pub(crate) fn passing_endpoint() -> Emulated {
    let changes = r#"[connections.bulk.mptcp]
path_manager = "kernel"
limits = { client = { subflows = 2 }, server = { subflows = 2 } }
changes = [
  { at = "1 s", host = "client", action = "add", link = "lte", id = 5, flags = ["subflow"] },
  { at = "2500 ms", host = "client", action = "delete", link = "lte" },
]"#;
    of_shared_server("passing-endpoint", changes)
}

fn of_shared_server(name: &str, more: &str) -> Emulated {
    let bulk = connection("bulk", &format!("protocol = \"mptcp\"\n{more}"));
    Emulated::new(name, "4 s", &["[routers.r]\n".to_owned(), access_links(), bulk])
}

/// Two from the client to a router, and one from there to the server.
fn access_links() -> String {
    let links = [
        link("dsl", ["client", "r"], "rate = \"8 Mbit/s\"\ndelay = \"10 ms\"", 50),
        link("lte", ["client", "r"], "rate = \"4 Mbit/s\"\ndelay = \"20 ms\"", 50),
        link("wan", ["r", "server"], "rate = \"100 Mbit/s\"\ndelay = \"1 ms\"", 1000),
    ];
    links.concat()
}

/// A bond of two lines, of which the dearer one takes what does not fit on the other: datagrams and
/// a transfer.
pub(crate) fn bonded() -> Emulated {
    let links = [
        link("lan", ["client", "site"], "rate = \"1 Gbit/s\"\ndelay = \"0.1 ms\"", 1000),
        link("core", ["hub", "server"], "rate = \"1 Gbit/s\"\ndelay = \"0.1 ms\"", 1000),
        link("dsl", ["site", "hub"], "rate = \"16 Mbit/s\"\ndelay = \"10 ms\"", 100),
        link("lte", ["site", "hub"], "rate = \"12 Mbit/s\"\ndelay = \"20 ms\"", 100),
    ];
    let bond = r#"[bonds.tunnel]
between = ["site", "hub"]
paths = [{ link = "dsl", cost = 1 }, { link = "lte", cost = 2 }]
scheduler = "cost-first"
run_up = "2 s"
"#;
    let call = r#"protocol = "udp"
application = { kind = "constant-rate", rate = "20 Mbit/s", packet_size = "1300 B" }"#;
    let file = r#"start = "1 s"
application = { kind = "bulk", bytes = "300 kB" }"#;
    let connections = [("call", call), ("file", file)].map(|(name, more)| connection(name, more));
    let routers = "[routers.site]\n[routers.hub]\n".to_owned();
    Emulated::new("bonded", "4 s", &[routers, links.concat(), bond.to_owned(), connections.concat()])
}

/// The same bond by weights, with every other key that a bond has beside.
pub(crate) fn weighted() -> Emulated {
    let Emulated(text) = bonded();
    let keys = r#"scheduler = { kind = "weighted-round-robin", gain = 0.6, turns = "consecutive" }
order = "global"
report_interval = "40 ms"
loss_timeout = "60 ms"
resequencer = { max_timeout = "300 ms", max_packets = 1000, flow_buckets = 64 }
keepalive = { answers_to_return = 2 }
classes = [{ dscp = 46, treatment = "low-delay" }]"#;
    let paths = r#"{ link = "dsl", cost = 1, weight = 20 }, { link = "lte", cost = 2, weight = 10, max_weight = 10, quota = "1 GB" }"#;
    Emulated(
        text.replace("scheduler = \"cost-first\"", keys)
            .replace(r#"{ link = "dsl", cost = 1 }, { link = "lte", cost = 2 }"#, paths)
            .replace("name = \"bonded\"", "name = \"weighted\""),
    )
}

/// A copy on each path, of which one may carry little: the other goes on when that is spent.
pub(crate) fn limited() -> Emulated {
    let Emulated(text) = bonded();
    let text = text.replace("scheduler = \"cost-first\"", "scheduler = \"redundant\"");
    let paths = r#"{ link = "dsl" }, { link = "lte", quota = "3 MB" }"#;
    let text = text.replace(r#"{ link = "dsl", cost = 1 }, { link = "lte", cost = 2 }"#, paths);
    Emulated(
        text.replace("rate = \"20 Mbit/s\"", "rate = \"10 Mbit/s\"")
            .replace("name = \"bonded\"", "name = \"limited\""),
    )
}

/// Two sites of one hub, each with two lines and a client.
pub(crate) fn two_sites() -> Emulated {
    let Emulated(text) = bonded();
    let more = [
        "[hosts.other]\n[routers.branch]\n".to_owned(),
        link("office", ["other", "branch"], "rate = \"1 Gbit/s\"\ndelay = \"0.1 ms\"", 1000),
        link("cable", ["branch", "hub"], "rate = \"10 Mbit/s\"\ndelay = \"8 ms\"", 100),
        link("radio", ["branch", "hub"], "rate = \"6 Mbit/s\"\ndelay = \"25 ms\"", 100),
    ];
    let bond = r#"[bonds.branches]
between = ["branch", "hub"]
paths = [{ link = "cable", cost = 1 }, { link = "radio", cost = 2 }]
scheduler = "cost-first"
run_up = "2 s"
[connections.talk]
from = "other"
to = "server"
protocol = "udp"
application = { kind = "constant-rate", rate = "4 Mbit/s", packet_size = "1200 B" }
[connections.across]
from = "client"
to = "other"
start = "1 s"
application = { kind = "bulk", bytes = "100 kB" }
"#;
    Emulated(format!("{text}{}{bond}", more.concat()).replace("name = \"bonded\"", "name = \"two-sites\""))
}

/// Programs alone: one sends 100 kB to another, which goes on until it is ended, and a third does
/// not want to end.
pub(crate) fn programs() -> Emulated {
    let sink = r#"[hosts.server.commands.sink]
command = """exec python3 -u -c '
import os, socket
print(os.getpid())
listener = socket.create_server(("", 80))
while True:
    peer, _ = listener.accept()
    print(sum(iter(lambda: len(peer.recv(65536)), 0)), "octets")
    peer.close()
'"""
"#;
    let source = r#"[hosts.client.commands.source]
start = "500 ms"
command = """python3 -c '
import os, socket, time
while True:
    try:
        peer = socket.create_connection((os.environ["ip_server_dsl"], 80))
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
peer.sendall(bytes(100000))
time.sleep(0.5)
peer.shutdown(socket.SHUT_WR)
peer.recv(1)
'; echo "$ip_server" >&2; exit 3"""
"#;
    let stubborn = "[hosts.client.commands.stubborn]\ncommand = \"echo $$; trap '' TERM; while :; do sleep 0.1; done\"\n";
    Emulated::new("programs", "4 s", &[dsl(100), sink.to_owned(), source.to_owned(), stubborn.to_owned()])
}

/// iperf3 sends 4 MB to another one.
pub(crate) fn iperf3_on_a_link() -> Emulated {
    Emulated::new("iperf3", "9 s", &[dsl(100), iperf3("exec iperf3 --server", "iperf3")])
}

/// The same by Multipath TCP, with an endpoint at the second link.
pub(crate) fn iperf3_on_two_links() -> Emulated {
    let client = "mptcpize run iperf3";
    let programs = iperf3("exec mptcpize run iperf3 --server", client);
    let endpoint = "[hosts.client.commands.endpoint]\ncommand = \"ip mptcp endpoint add $ip_client_lte dev lte subflow\"\n";
    Emulated::new(
        "mptcpize",
        "9 s",
        &["[routers.r]\n".to_owned(), access_links(), programs, endpoint.to_owned()],
    )
}

/// A client that begins when its server listens, however long that takes.
fn iperf3(server: &str, client: &str) -> String {
    format!(
        r#"[hosts.server.commands.speed-server]
command = "{server}"
[hosts.client.commands.speed]
start = "500 ms"
command = """until report=$({client} --client $ip_server --bytes 4M --json); do sleep 0.1; done; echo "$report" """
"#
    )
}

/// curl fetches a file of this folder.
pub(crate) fn download(folder: &Path) -> Emulated {
    let web = format!("exec python3 -m http.server 8000 --directory {}", folder.display());
    let fetch = "curl --silent --show-error --retry 10 --retry-delay 1 --retry-connrefused http://$ip_server:8000/file | sha256sum";
    let programs = format!(
        "[hosts.server.commands.web]\ncommand = \"{web}\"\n[hosts.client.commands.fetch]\ncommand = \"{fetch}\"\n"
    );
    Emulated::new("download", "5 s", &[dsl(100), programs])
}

/// 8 Mbit/s and 10 ms between both hosts.
fn dsl(queue: u32) -> String {
    link("dsl", ["client", "server"], "rate = \"8 Mbit/s\"\ndelay = \"10 ms\"", queue)
}

fn link(name: &str, [a, b]: [&str; 2], speed: &str, queue: u32) -> String {
    format!("[links.{name}]\nbetween = [\"{a}\", \"{b}\"]\n{speed}\nqueue = \"{queue} packets\"\n")
}

fn connection(name: &str, more: &str) -> String {
    format!("[connections.{name}]\nfrom = \"client\"\nto = \"server\"\n{more}\n")
}

impl Emulated {
    /// The same over IPv6.
    pub(crate) fn over_ipv6(self) -> Self {
        let Self(text) = self;
        Self(text.replacen("duration", "address_family = \"ipv6\"\nduration", 1))
    }

    /// The same with or without offloads at both hosts.
    fn with_offloads(self, on: bool) -> Self {
        let host = |text: String, name: &str| {
            let head = format!("[hosts.{name}]\n");
            text.replacen(&head, &format!("{head}offloads = {on}\n"), 1)
        };
        let Self(text) = self;
        Self(["client", "server"].into_iter().fold(text, host))
    }

    /// The same for twice the time: what one pause of a process costs weighs half.
    pub(crate) fn longer(self) -> Self {
        let Self(text) = self;
        Self(text.replacen("duration = \"4 s\"", "duration = \"8 s\"", 1))
    }

    fn new(name: &str, duration: &str, tables: &[String]) -> Self {
        let head = format!("[scenario]\nname = \"{name}\"\nduration = \"{duration}\"\n");
        Self(format!("{head}[hosts.client]\n[hosts.server]\n{}", tables.concat()))
    }

    fn load_as(&self, stack: Stack, overrides: &[(&str, &str)]) -> Scenario {
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        let overrides = overrides.iter().map(owned).collect::<Vec<_>>();
        let scenario = load_as(&self.0, None, &overrides, Some(stack), Watch::default());
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
        assert!(scenario.departures().is_empty(), "{:?}", scenario.departures());
        scenario
    }

    /// With Linux hosts.
    pub(crate) fn load(&self, overrides: &[(&str, &str)]) -> Scenario {
        self.load_as(Stack::Linux, overrides)
    }

    /// On kernels, in real time.
    pub(crate) fn run(&self) -> Outcome {
        let result = ropewalk_live::run(&self.load(&[]), &RunOptions::default());
        result.unwrap_or_else(|error| panic!("{error}"))
    }

    /// With a kernel at the host of this name alone, in real time.
    pub(crate) fn run_with(&self, linux: &str) -> Outcome {
        let head = format!("[hosts.{linux}]\n");
        let text = self.0.replacen(&head, &format!("{head}stack = \"linux\"\n"), 1);
        let scenario = load(&text, None, &[]).unwrap_or_else(|error| panic!("{error}"));
        let result = ropewalk_live::run(&scenario, &RunOptions { series: true, ..RunOptions::default() });
        result.unwrap_or_else(|error| panic!("{error}"))
    }

    /// The same, simulated.
    pub(crate) fn simulate(&self) -> Outcome {
        let result = ropewalk_scenario::run(&self.load_as(Stack::Ropewalk, &[]), &RunOptions::default());
        result.unwrap_or_else(|error| panic!("{error}"))
    }
}
