//! What congestion controllers do to a bottleneck: BBR by its draft, DCTCP by its paper, pacing.

use ropewalk_scenario::{Outcome, SeriesRow};
use ropewalk_testnet::text::two_hosts;
use ropewalk_tests::{goodput, jain, mean, simulate_series};

/// A sender and its rival share a bottleneck of `rate` whose buffer takes `buffer`; `rtt_ms` is the round trip without
/// a queue.
///
/// ```text
///   client ── a ─┐                       ┌─ c ── server
///                r1 ── bottleneck ── r2 ─┤
///   rival  ── b ─┘                       └─ d ── sink
/// ```
struct Bottleneck {
    mbps: f64,
    rtt_ms: f64,
    buffer_bytes: f64,
    duration_s: f64,
    flows: Vec<(&'static str, String)>,
    bottleneck: String,
    seed: u64,
}

/// Octets of a packet on the link, and of the data in it.
const PACKET: f64 = 1500.0;
const SHARE_OF_DATA: f64 = 1448.0 / 1500.0;

impl Bottleneck {
    /// One BDP of buffer, and nobody yet.
    fn new(mbps: f64, rtt_ms: f64) -> Self {
        let bdp = mbps * 1e6 / 8.0 * rtt_ms / 1e3;
        Self {
            mbps,
            rtt_ms,
            buffer_bytes: bdp.max(16.0 * PACKET),
            duration_s: 60.0,
            flows: Vec::new(),
            bottleneck: String::new(),
            seed: 1,
        }
    }

    fn buffer(mut self, bdps: f64) -> Self {
        self.buffer_bytes = (self.bdp() * bdps).max(4.0 * PACKET);
        self
    }

    fn seconds(mut self, duration_s: f64) -> Self {
        self.duration_s = duration_s;
        self
    }

    fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Further keys of the bottleneck link.
    fn link(mut self, keys: &str) -> Self {
        self.bottleneck = keys.to_owned();
        self
    }

    /// A flow with these keys of TCP.
    fn flow(self, name: &'static str, tcp: &str) -> Self {
        self.flow_of(name, tcp, "kind = \"bulk\"")
    }

    /// … and with this application.
    fn flow_of(mut self, name: &'static str, tcp: &str, application: &str) -> Self {
        let host = ["client", "rival"][self.flows.len()];
        let sink = ["server", "sink"][self.flows.len()];
        let text = format!(
            "[connections.{name}]\nprotocol = \"tcp\"\nfrom = \"{host}\"\nto = \"{sink}\"\napplication = {{ {application} }}\n\
             tcp = {{ receive_buffer = \"64 MB\", send_buffer = \"64 MB\", {tcp} }}\n"
        );
        self.flows.push((name, text));
        self
    }

    /// The last flow begins so late.
    fn later(mut self, seconds: f64) -> Self {
        let (_, text) = self.flows.last_mut().expect("a flow");
        *text += &format!("start = \"{seconds} s\"\n");
        self
    }

    /// Octets.
    fn bdp(&self) -> f64 {
        self.mbps * 1e6 / 8.0 * self.rtt_ms / 1e3
    }

    fn source(&self) -> String {
        let mut text = format!(
            "[scenario]\nname = \"congestion\"\nduration = \"{} s\"\nsample_interval = \"20 ms\"\n\
             [hosts.client]\n[hosts.server]\n[hosts.rival]\n[hosts.sink]\n[routers.r1]\n[routers.r2]\n",
            self.duration_s
        );
        let access = (10.0 * self.mbps).max(100.0);
        let delay = self.rtt_ms / 8.0;
        for (name, ends) in
            [("a", ["client", "r1"]), ("b", ["rival", "r1"]), ("c", ["r2", "server"]), ("d", ["r2", "sink"])]
        {
            text += &format!(
                "[links.{name}]\nbetween = {ends:?}\nrate = \"{access} Mbit/s\"\ndelay = \"{delay} ms\"\nqueue = \"100000 packets\"\n"
            );
        }
        let packets = (self.buffer_bytes / PACKET).round();
        text += &format!(
            "[links.bottleneck]\nbetween = [\"r1\", \"r2\"]\nrate = \"{} Mbit/s\"\ndelay = \"{} ms\"\n",
            self.mbps,
            self.rtt_ms / 4.0
        );
        if !self.bottleneck.contains("queue") {
            text += &format!("queue = \"{packets} packets\"\n");
        }
        text += &self.bottleneck;
        text.push('\n');
        self.flows.iter().for_each(|(_, flow)| text += flow);
        text
    }

    fn run(&self) -> Outcome {
        simulate_series(&self.source(), self.seed)
    }
}

/// The samples of a flow's sender from `from` seconds on.
fn samples<'a>(outcome: &'a Outcome, flow: &str, from: f64) -> impl Iterator<Item = &'a SeriesRow> {
    let index = outcome.connections.iter().position(|row| row.name == flow).expect("a flow") as u32;
    outcome
        .series
        .iter()
        .filter(move |row| row.connection == index && row.subflow.is_some() && row.time.as_secs_f64() >= from)
}

/// Mean throughput of a flow from `from` seconds on, in Mbit/s.
fn throughput(outcome: &Outcome, flow: &str, from: f64) -> f64 {
    mean(&samples(outcome, flow, from).map(|row| row.throughput_mbps).collect::<Vec<_>>())
}

/// Mean smoothed round-trip time from `from` seconds on, in ms.
fn mean_rtt(outcome: &Outcome, flow: &str, from: f64) -> f64 {
    let rtts = samples(outcome, flow, from).filter_map(|row| row.subflow.as_ref()?.srtt_ms);
    mean(&rtts.collect::<Vec<_>>())
}

const BBR: &str = "congestion_control = \"bbr\"";
const CUBIC: &str = "congestion_control = \"cubic\"";

const PACED: &str = "congestion_control = \"cubic\", pacing = true";
/// As in its paper, whose senders send a packet at a time.
const DCTCP: &str = "congestion_control = \"dctcp\", defer_packets = false";

/// The most that data can take of the rate.
fn ceiling(mbps: f64) -> f64 {
    mbps * SHARE_OF_DATA
}

#[test]
fn bbr_finds_the_bandwidth_and_leaves_the_queue_short() {
    // From a modem to a data centre and a satellite. ProbeRTT holds half of the BDP for 200 ms and a round trip in every 5 s,
    // so 600 ms of round trip cost more than 5 %.
    let cases = [
        (0.25, 40.0, 0.95),
        (10.0, 40.0, 0.95),
        (100.0, 40.0, 0.95),
        (1000.0, 1.0, 0.95),
        (10.0, 600.0, 0.88),
    ];
    for (mbps, rtt_ms, least) in cases {
        let path = Bottleneck::new(mbps, rtt_ms).buffer(4.0).seconds(30.0).flow("one", BBR);
        let outcome = path.run();
        let share = throughput(&outcome, "one", 5.0) / ceiling(mbps);
        let queue_ms = mean_rtt(&outcome, "one", 5.0) - rtt_ms;
        println!("{mbps} Mbit/s, {rtt_ms} ms: share {share:.3}, queue {queue_ms:.2} ms");
        assert!((least..1.01).contains(&share), "{mbps} Mbit/s, {rtt_ms} ms: {share:.3} of the rate");
        // BBR.MinPipeCwnd, of four segments, and three quanta are its floor.
        let rtt_of_floor = 8.0 * 6.0 * PACKET / mbps / 1e3;
        assert!(
            queue_ms <= rtt_ms.max(rtt_of_floor),
            "{mbps} Mbit/s, {rtt_ms} ms: {queue_ms:.1} ms of queue"
        );
    }
}

#[test]
fn bbr_fills_a_long_fat_path() {
    let large = format!("{BBR}, window_scale = 12");
    let path = Bottleneck::new(1000.0, 100.0).seconds(12.0).flow("one", &large);
    let share = throughput(&path.run(), "one", 4.0) / ceiling(1000.0);
    assert!(share > 0.95, "{share:.3}");
}

/// The mean over seeds: which losses fall into a probe for bandwidth moves one run by some hundredths.
#[test]
fn bbr_bears_one_per_cent_of_loss_where_cubic_does_not() {
    for (rtt_ms, least) in [(100.0, 0.82), (50.0, 0.78), (20.0, 0.82)] {
        let share = |control: &str| {
            let of_seed = |seed| {
                let path = Bottleneck::new(20.0, rtt_ms).seconds(60.0).link("loss = \"1 %\"").seed(seed);
                throughput(&path.flow("one", control).run(), "one", 10.0) / ceiling(20.0)
            };
            let shares: Vec<f64> = (1..=8).map(of_seed).collect();
            println!("{shares:.3?}");
            mean(&shares)
        };
        let (bbr, cubic) = (share(BBR), share(CUBIC));
        println!("1 % loss, {rtt_ms} ms: BBR {bbr:.3}, CUBIC {cubic:.3}");
        assert!(bbr > least, "{rtt_ms} ms: {bbr:.3}");
        assert!(bbr > 1.3 * cubic, "{rtt_ms} ms: BBR {bbr:.3}, CUBIC {cubic:.3}");
    }
}

#[test]
fn two_bbr_flows_share_fairly() {
    let mut shares = Vec::new();
    for seed in 1..=5 {
        let path = Bottleneck::new(20.0, 40.0).buffer(2.0).seconds(60.0).seed(seed);
        let outcome = path.flow("first", BBR).flow("second", BBR).later(3.0).run();
        let both = [throughput(&outcome, "first", 20.0), throughput(&outcome, "second", 20.0)];
        println!("two BBR flows, seed {seed}: {both:.2?}, Jain {:.3}", jain(&both));
        shares.push(jain(&both));
    }
    assert!(mean(&shares) > 0.9, "{shares:.3?}");
}

/// BBR's share of the sum, beside one CUBIC flow.
fn share_beside_cubic(bdps: f64) -> f64 {
    let shares: Vec<f64> = (1..=3)
        .map(|seed| {
            let path = Bottleneck::new(20.0, 40.0).buffer(bdps).seconds(90.0).seed(seed);
            let outcome = path.flow("bbr", BBR).flow("cubic", CUBIC).run();
            let [bbr, cubic] = [throughput(&outcome, "bbr", 15.0), throughput(&outcome, "cubic", 15.0)];
            bbr / (bbr + cubic)
        })
        .collect();
    mean(&shares)
}

#[test]
fn beside_cubic_neither_starves() {
    for bdps in [0.5, 1.0, 2.0, 4.0, 8.0] {
        let share = share_beside_cubic(bdps);
        println!("BBR beside CUBIC, {bdps} BDP of buffer: {share:.2}");
        assert!((0.08..0.92).contains(&share), "{bdps} BDP: {share:.2}");
    }
}

#[test]
fn bbr_restarts_from_idle_at_its_rate() {
    // 2 MB at once, then every 3 s: the second and later ones are not delayed by a slow start.
    let rpc = "kind = \"request-response\", request = \"2 MB\", response = \"100 B\", think = \"3 s\"";
    let outcome = |control: &str| {
        Bottleneck::new(50.0, 80.0).buffer(2.0).seconds(60.0).flow_of("one", control, rpc).run()
    };
    let (bbr, cubic) = (outcome(BBR), outcome(CUBIC));
    let response = |outcome: &Outcome| outcome.connections[0].mean_response_s.expect("responses");
    println!("2 MB after 3 s of silence: BBR {:.3} s, CUBIC {:.3} s", response(&bbr), response(&cubic));
    assert!(response(&bbr) < response(&cubic));
    assert!(response(&bbr) < 0.65, "{:.3} s", response(&bbr));
}

#[test]
fn an_hour_of_bbr_does_not_drift() {
    let path = Bottleneck::new(2.0, 50.0).seconds(3600.0).flow("one", BBR);
    let outcome = path.run();
    let rate = |from: f64, to: f64| {
        let rows = samples(&outcome, "one", from).take_while(|row| row.time.as_secs_f64() < to);
        mean(&rows.map(|row| row.throughput_mbps).collect::<Vec<_>>())
    };
    let (first, last) = (rate(10.0, 300.0), rate(3300.0, 3600.0));
    assert!((last / first - 1.0).abs() < 0.01, "{first:.3} and {last:.3} Mbit/s");
    assert!(first / ceiling(2.0) > 0.95, "{first:.3} Mbit/s");
}

#[test]
fn bbr_subflows_use_both_paths() {
    let line = |mbps, ms| format!("rate = \"{mbps} Mbit/s\"\ndelay = \"{ms} ms\"\nqueue = \"60 packets\"");
    let bulk = "protocol = \"mptcp\"
        paths = [\"a\", \"b\"]
        application = { kind = \"bulk\" }
        mptcp = { congestion_control = \"bbr\" }";
    let text = two_hosts(30, "", &[("a", &line(10, 10)), ("b", &line(5, 30))], bulk);
    let outcome = simulate_series(&text, 1);
    let share = goodput(&outcome, "bulk") / ceiling(15.0);
    println!("two paths with BBR: {share:.3}");
    assert!(share > 0.9, "{share:.3}");
}

/// DCTCP's setting: 1 Gbit/s, 300 us, K = 20 packets (its paper's §3.5: at least a seventh of the BDP).
#[test]
fn dctcp_holds_the_queue_at_k() {
    let marks = "queue = { discipline = \"drop-tail\", limit = \"300 packets\", mark_above = 20 }";
    let run = |control: &str| {
        let path = Bottleneck::new(1000.0, 0.3).seconds(3.0).link(marks);
        path.flow("one", control).flow("two", control).run()
    };
    let outcome = run(DCTCP);
    let packet_ms = 8.0 * PACKET / 1e9 * 1e3;
    let queue = (mean_rtt(&outcome, "one", 0.5) - 0.3) / packet_ms;
    let both = [throughput(&outcome, "one", 0.5), throughput(&outcome, "two", 0.5)];
    println!("DCTCP: queue {queue:.1} packets, {both:.0?} Mbit/s, Jain {:.3}", jain(&both));
    // K plus the windows of two flows less one oscillation: the paper's §3.3 has K + N at the top.
    assert!((8.0..40.0).contains(&queue), "{queue:.1} packets");
    assert!(both.iter().sum::<f64>() > 0.97 * ceiling(1000.0), "{both:.0?}");
    assert!(jain(&both) > 0.9, "{both:.0?}");
    let drops: u64 = outcome.links.iter().map(|link| link.drops_queue).sum();
    assert_eq!(drops, 0);
    // CUBIC without ECN fills the buffer.
    let cubic = run(CUBIC);
    let filled = (mean_rtt(&cubic, "one", 0.5) - 0.3) / packet_ms;
    assert!(filled > 3.0 * queue, "DCTCP {queue:.1}, CUBIC {filled:.1} packets");
}

#[test]
fn pacing_lets_slow_start_fill_a_path_with_a_small_buffer() {
    // A tenth of the BDP: bursts at the rate of the access link overflow it long before the path is full.
    let delivered = |control: &str| {
        let path = Bottleneck::new(50.0, 80.0).buffer(0.1).seconds(3.0).flow("one", control);
        let outcome = path.run();
        (outcome.connections[0].bytes, outcome.links.iter().map(|link| link.drops_queue).sum::<u64>())
    };
    let (paced, bursts) = (delivered(PACED), delivered(CUBIC));
    println!("octets and drops in three seconds: paced {paced:?}, in bursts {bursts:?}");
    assert!(paced.0 > 2 * bursts.0, "paced {paced:?}, in bursts {bursts:?}");
}

#[test]
fn pacing_shortens_the_bursts_at_the_bottleneck() {
    // Steady, and limited by the window: without pacing all of it stands in the queue at some moment after a pause.
    let limited =
        |pacing: bool| format!("congestion_control = \"cubic\", pacing = {pacing}, initial_window = 40");
    let first_burst = |pacing: bool| -> u64 {
        let path = Bottleneck::new(10.0, 100.0).buffer(0.12).seconds(0.3).flow("one", &limited(pacing));
        path.run().links.iter().map(|link| link.drops_queue).sum()
    };
    let (paced, bursts) = (first_burst(true), first_burst(false));
    println!("drops of the first window of 40 segments: paced {paced}, in bursts {bursts}");
    assert!(bursts >= 15, "40 segments meet a queue of 10: {bursts} drops");
    assert!(paced < bursts / 2, "{paced} of {bursts}");
}
