//! Golden table of throughput: what a few plain settings give, digit for digit, beside what physics or a published formula
//! says they should. `tests/golden/throughput.md` holds it. A change that moves a result shows as a difference of that file;
//! `ROPEWALK_BLESS=1 cargo test -p ropewalk-tests --test golden` writes it again, and then the difference is looked at.

use ropewalk_testnet::golden;
use ropewalk_testnet::text::two_hosts;
use ropewalk_tests::{goodput, mean, simulate};
use std::fmt::Write as _;

/// Octets of a full segment's packet, and of the data in it: headers of 40 octets, timestamps of 12.
const PACKET: f64 = 1500.0;
const DATA: f64 = 1448.0;

const LINES: [(&str, &str); 2] = [
    ("a", "rate = \"10 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"1000 packets\""),
    ("b", "rate = \"4 Mbit/s\"\ndelay = \"30 ms\"\nqueue = \"1000 packets\""),
];

/// A row of the table.
struct Case {
    name: &'static str,
    /// Why it should be so.
    physics: &'static str,
    /// What should come, in Mbit/s.
    expected: f64,
    /// How far off it may be: what the formula neglects.
    tolerance: f64,
    second_line: bool,
    settings: Vec<(&'static str, &'static str)>,
    seeds: u64,
}

impl Case {
    fn new(name: &'static str, physics: &'static str, expected: f64, tolerance: f64) -> Self {
        Self { name, physics, expected, tolerance, second_line: false, settings: Vec::new(), seeds: 1 }
    }

    fn with(mut self, settings: &[(&'static str, &'static str)]) -> Self {
        self.settings.extend(settings);
        self
    }

    /// Random losses: the mean over some seeds.
    fn random(mut self) -> Self {
        self.seeds = 10;
        self
    }

    fn measured(&self) -> f64 {
        let lines = &LINES[..if self.second_line { 2 } else { 1 }];
        let tcp = "preset = \"linux\"\ncongestion_control = \"newreno\"";
        let bulk = "protocol = \"tcp\"\npaths = [\"a\"]\napplication = \"bulk\"";
        let source = two_hosts(100, tcp, lines, bulk);
        let run = |seed| goodput(&simulate(&source, &self.settings, seed), "bulk");
        mean(&(1..=self.seeds).map(run).collect::<Vec<_>>())
    }
}

/// Goodput of a full line of `mbps`.
fn full(mbps: f64) -> f64 {
    mbps * DATA / PACKET
}

/// Goodput of a window of `octets` a round trip of `seconds`.
fn windowed(octets: f64, seconds: f64) -> f64 {
    octets * 8.0 / seconds / 1e6
}

/// Reno's sawtooth between half and all of what line and queue hold, `queue` packets beside `line`: below `line` packets the
/// round trip is the line's and the line is not full, above it is full and the queue waits.
fn sawtooth(mbps: f64, line: f64, queue: f64) -> f64 {
    let (most, least) = (line + queue, (line + queue) / 2.0);
    let below = (line.powi(2) - least.powi(2)) / 2.0;
    let above = (most.powi(2) - line.powi(2)) / 2.0;
    full(mbps) * (below + above) / ((line - least) * line + above)
}

/// Mathis, Semke, Mahdavi, Ott (CCR 1997), table 1, for random losses and a window that grows by one segment a round trip: 1.31 /
/// √p segments. Acknowledgements are delayed, but the window grows by what they cover (RFC 5681 §3.1), not by their number.
fn mathis(loss: f64, seconds: f64) -> f64 {
    windowed(DATA * 1.31 / loss.sqrt(), seconds)
}

/// RFC 9438 §5.1, Figure 5, without its rounding: the mean window of CUBIC, in segments, under a loss every 1/p packets.
fn cubic(loss: f64, seconds: f64) -> f64 {
    let (c, beta) = (0.4_f64, 0.7);
    let window = (c * (3.0 + beta) / (4.0 * (1.0 - beta))).powf(0.25) * seconds.powf(0.75) / loss.powf(0.75);
    windowed(DATA * window, seconds)
}

fn cases() -> Vec<Case> {
    let rtt = 0.02 + PACKET * 8.0 / 10e6;
    let in_flight = 10e6 * rtt / 8.0 / PACKET;
    vec![
        Case::new("a full line", "rate × data / packet", full(10.0), 0.01),
        Case::new("a window of 64 kB over 100 ms", "window / round trip", windowed(65_536.0, 0.1), 0.03)
            .with(&[
                ("links.a.rate", "1 Gbit/s"),
                ("links.a.delay", "50 ms"),
                ("tcp.receive_buffer", "64 KiB"),
            ]),
        Case::new(
            "Reno, a queue of one bandwidth-delay product",
            "sawtooth",
            sawtooth(10.0, in_flight, 18.0),
            0.02,
        )
        .with(&[("links.a.queue", "18 packets")]),
        Case::new("Reno, a queue of a quarter of it, 100 ms", "sawtooth", sawtooth(10.0, 84.3, 21.0), 0.04)
            .with(&[("links.a.queue", "21 packets"), ("links.a.delay", "50 ms")]),
        Case::new("Reno, 0.1 % of packets lost, 100 ms", "Mathis", mathis(0.001, 0.1), 0.08).random().with(
            &[("links.a.rate", "1 Gbit/s"), ("links.a.delay", "50 ms"), ("links.a.forward.loss", "0.1 %")],
        ),
        Case::new("CUBIC, 0.01 % of packets lost, 200 ms", "RFC 9438 §5.1", cubic(1e-4, 0.2), 0.2)
            .random()
            .with(&[
                ("links.a.rate", "1 Gbit/s"),
                ("links.a.delay", "100 ms"),
                ("links.a.forward.loss", "0.01 %"),
                ("tcp.congestion_control", "cubic"),
                ("scenario.duration", "300 s"),
            ]),
        Case {
            second_line: true,
            ..Case::new(
                "Multipath TCP, two lines",
                "the sum, DSS of 20 octets",
                (10.0 + 4.0) * 1428.0 / PACKET,
                0.02,
            )
            .with(&[
                ("connections.bulk.protocol", "mptcp"),
                ("connections.bulk.paths", "[\"a\", \"b\"]"),
                ("mptcp.congestion_control", "uncoupled"),
                ("links.b.queue", "100 packets"),
                ("links.a.queue", "100 packets"),
            ])
        },
        Case::new("datagrams at 5 Mbit/s", "what is sent", 5.0, 0.001).with(&[
            ("connections.bulk.protocol", "udp"),
            (
                "connections.bulk.application",
                "{ kind = \"constant-rate\", rate = \"5 Mbit/s\", packet_size = \"1000 B\" }",
            ),
        ]),
    ]
}

#[test]
fn throughput_is_what_physics_says_and_what_it_was() {
    let mut table = String::from(
        "# Throughput of plain settings\n\n`tests/golden.rs` makes this table and says what each row is. Goodput in Mbit/s.\n\n\
         | setting | physics | expected | measured | ratio |\n|---|---|---|---|---|\n",
    );
    let mut off = Vec::new();
    for case in cases() {
        let measured = case.measured();
        let ratio = measured / case.expected;
        let (name, physics, expected) = (case.name, case.physics, case.expected);
        writeln!(table, "| {name} | {physics} | {expected:.3} | {measured:.6} | {ratio:.3} |").expect("text");
        if (ratio - 1.0).abs() > case.tolerance {
            off.push(format!("{name}: {measured:.3} for {expected:.3} Mbit/s by {physics}: {ratio:.3}"));
        }
    }
    println!("{table}");
    assert!(off.is_empty(), "{off:#?}");
    golden::check("throughput.md", &table);
}
