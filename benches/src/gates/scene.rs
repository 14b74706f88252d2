//! A scenario of a gate: lines between two gateways, what is bonded of them, flows inside and traffic beside.
//!
//! ```text
//! [server] -- core -- (hub) == lines == (cpe) -- lan -- [client]          inside: server → client
//!                        [x0] -- (a0) -- line0 -- (b0) -- [y0]            beside: on a line with routers of its own at its ends
//! ```

use std::fmt::Write as _;

/// A line between the gateways.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Towards the client, Mbit/s.
    pub(crate) mbps: f64,
    /// Towards the server, Mbit/s; as much if not given.
    pub(crate) back_mbps: Option<f64>,
    /// Round trip without queues, ms.
    pub(crate) rtt_ms: f64,
    /// As `[links.NAME]` has it.
    pub(crate) queue: String,
    /// Further keys of the line.
    pub(crate) keys: Vec<String>,
    /// Its timed changes, each a table.
    pub(crate) changes: Vec<String>,
    /// Recorded capacity to the client and to the server, instead of the rates.
    pub(crate) traces: Option<[String; 2]>,
    /// A link of 802.11b at 11 Mbit/s instead of all this.
    pub(crate) is_wireless: bool,
    /// Keys of the flows beside it, towards the client's side.
    pub(crate) cross: Vec<String>,
    /// The same the other way.
    pub(crate) cross_back: Vec<String>,
}

impl Line {
    /// A line with a drop-tail buffer.
    pub(crate) fn new(mbps: f64, rtt_ms: f64, packets: u32) -> Self {
        Self {
            mbps,
            back_mbps: None,
            rtt_ms,
            queue: format!("\"{packets} packets\""),
            keys: Vec::new(),
            changes: Vec::new(),
            traces: None,
            is_wireless: false,
            cross: Vec::new(),
            cross_back: Vec::new(),
        }
    }

    /// Does anybody else use it?
    pub(crate) const fn is_shared(&self) -> bool {
        !self.cross.is_empty() || !self.cross_back.is_empty()
    }

    fn write(&self, text: &mut String, index: usize) {
        if self.is_wireless {
            return self.write_wireless(text, index);
        }
        let [a, b] = if self.is_shared() {
            [format!("a{index}"), format!("b{index}")]
        } else {
            ["hub".to_owned(), "cpe".to_owned()]
        };
        let _ = writeln!(text, "[links.line{index}]\nbetween = [\"{a}\", \"{b}\"]");
        match &self.traces {
            Some([down, up]) => {
                let _ =
                    writeln!(text, "forward = {{ trace = \"{down}\" }}\nbackward = {{ trace = \"{up}\" }}");
            }
            None => {
                let back = self.back_mbps.unwrap_or(self.mbps);
                let _ = writeln!(
                    text,
                    "rate = \"{} Mbit/s\"\nbackward = {{ rate = \"{back} Mbit/s\" }}",
                    self.mbps
                );
            }
        }
        let _ = writeln!(text, "delay = \"{} ms\"\nqueue = {}", self.rtt_ms / 2.0, self.queue);
        self.keys.iter().for_each(|key| writeln!(text, "{key}").expect("a text takes all"));
        if !self.changes.is_empty() {
            let _ = writeln!(text, "changes = [\n  {}\n]", self.changes.join(",\n  "));
        }
        if self.is_shared() {
            self.write_beside(text, index);
        }
    }

    /// Routers at the ends of the line, and hosts behind them.
    fn write_beside(&self, text: &mut String, index: usize) {
        let fast = "rate = \"10 Gbit/s\"\nqueue = \"10000 packets\"";
        let _ = writeln!(text, "[routers.a{index}]\n[routers.b{index}]\n[hosts.x{index}]\n[hosts.y{index}]");
        for (name, ends, delay) in [
            ("in", ["hub", "a"], "0 ms"),
            ("out", ["b", "cpe"], "0 ms"),
            ("from", ["x", "a"], "0.1 ms"),
            ("to", ["b", "y"], "0.1 ms"),
        ] {
            let end = |end: &str| if end.len() == 1 { format!("{end}{index}") } else { end.to_owned() };
            let [a, b] = ends.map(end);
            let _ = writeln!(
                text,
                "[links.{name}{index}]\nbetween = [\"{a}\", \"{b}\"]\ndelay = \"{delay}\"\n{fast}"
            );
        }
        for (name, ends, flows) in
            [("cross", ["x", "y"], &self.cross), ("back", ["y", "x"], &self.cross_back)]
        {
            let [from, to] = ends;
            for (number, keys) in flows.iter().enumerate() {
                let _ = writeln!(
                    text,
                    "[connections.{name}{index}-{number}]\nfrom = \"{from}{index}\"\nto = \"{to}{index}\"\n{keys}"
                );
            }
        }
    }

    fn write_wireless(&self, text: &mut String, index: usize) {
        let _ = writeln!(
            text,
            "[wifi]\nstandard = \"802.11b\"\ndata_rate = \"11 Mbit/s\"\nqueue = {}\n\
             propagation = {{ model = \"disk\", reception = \"25 m\" }}\n\
             [wifi.stations]\nhub = {{ position = [\"0 m\", \"0 m\"] }}\ncpe = {{ position = [\"12 m\", \"0 m\"] }}\n\
             [wifi.routes.line{index}]\nfrom = \"hub\"\nvia = []\nto = \"cpe\"",
            self.queue
        );
    }

    /// The path of a bond over it.
    fn path(&self, index: usize, cost: Option<u32>) -> String {
        let cost = cost.map(|cost| format!(", cost = {cost}")).unwrap_or_default();
        if !self.is_shared() || self.is_wireless {
            return format!("{{ link = \"line{index}\"{cost} }}");
        }
        format!("{{ link = \"in{index}\", via = [\"line{index}\", \"out{index}\"]{cost} }}")
    }
}

/// How packets go over the lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tunnel<'a> {
    /// A bond of all lines, with this scheduler.
    Bond(&'a str),
    /// One line through the same tunnel, and nothing else: each packet leaves at once by the one line, and out of the tunnel as it
    /// comes. The other lines, and the traffic beside them, are not there.
    Bare(usize),
    /// Nothing goes through; the traffic beside the lines is alone.
    None,
}

/// A scenario.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    /// Seconds.
    pub(crate) duration: f64,
    /// Distance of the points of its series, ms.
    pub(crate) sample_ms: u32,
    /// Its seed.
    pub(crate) seed: u64,
    /// Its lines.
    pub(crate) lines: Vec<Line>,
    /// Keys of the flows inside to the client, by name.
    pub(crate) inside: Vec<(String, String)>,
    /// The same of those to the server.
    pub(crate) upwards: Vec<(String, String)>,
    /// Keys of the hub, the cpe, the server and the client.
    pub(crate) nodes: [String; 4],
    /// More keys of the bond.
    pub(crate) bond: String,
    /// Do its paths have costs, in their order?
    pub(crate) has_costs: bool,
}

impl Scene {
    /// Lines and flows, with 100 ms between samples.
    pub(crate) fn new(duration: f64, seed: u64, lines: Vec<Line>) -> Self {
        Self {
            duration,
            sample_ms: 100,
            seed,
            lines,
            inside: Vec::new(),
            upwards: Vec::new(),
            nodes: Default::default(),
            bond: String::new(),
            has_costs: false,
        }
    }

    /// As a scenario file.
    pub(crate) fn text(&self, tunnel: Tunnel<'_>) -> String {
        let mut text = format!(
            "[scenario]\nname = \"gate\"\nduration = \"{} s\"\nseed = {}\nsample_interval = \"{} ms\"\n",
            self.duration, self.seed, self.sample_ms
        );
        let names = ["routers.hub", "routers.cpe", "hosts.server", "hosts.client"];
        for (name, keys) in names.iter().zip(&self.nodes) {
            let _ = writeln!(text, "[{name}]\n{keys}");
        }
        let fast = "rate = \"10 Gbit/s\"\ndelay = \"0.1 ms\"\nqueue = \"10000 packets\"";
        let _ = writeln!(text, "[links.core]\nbetween = [\"server\", \"hub\"]\n{fast}");
        let _ = writeln!(text, "[links.lan]\nbetween = [\"client\", \"cpe\"]\n{fast}");
        let is_there = |index: usize| !matches!(tunnel, Tunnel::Bare(only) if only != index);
        for (index, line) in self.lines.iter().enumerate().filter(|(index, _)| is_there(*index)) {
            line.write(&mut text, index);
        }
        self.write_tunnel(&mut text, tunnel);
        text
    }

    fn write_tunnel(&self, text: &mut String, tunnel: Tunnel<'_>) {
        let lines = self.lines.iter().enumerate();
        let (paths, keys): (Vec<String>, String) = match tunnel {
            Tunnel::None => return,
            Tunnel::Bond(scheduler) => {
                let costs = self.has_costs || ["cost-first", "weighted-round-robin"].contains(&scheduler);
                let cost = |index: usize| costs.then_some(1 + index as u32);
                let paths = lines.map(|(index, line)| line.path(index, cost(index))).collect();
                (paths, format!("scheduler = \"{scheduler}\"\n{}", self.bond))
            }
            Tunnel::Bare(only) => {
                let paths = vec![self.lines[only].path(only, None)];
                // With one path, redundant does no more than number the packets.
                (paths, "scheduler = \"redundant\"\norder = \"off\"\nrepair = false".to_owned())
            }
        };
        let _ = writeln!(
            text,
            "[bonds.home]\nbetween = [\"hub\", \"cpe\"]\npaths = [{}]\n{keys}",
            paths.join(", ")
        );
        for (from, to, flows) in [("server", "client", &self.inside), ("client", "server", &self.upwards)] {
            for (name, keys) in flows {
                let _ = writeln!(text, "[connections.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\n{keys}");
            }
        }
    }
}
