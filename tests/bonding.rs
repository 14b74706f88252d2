//! What a bond must show: the bars of layer-3 bonding, ten seeds each, over the lines of `scenarios/bonding.toml`.
//!
//! `--nocapture` prints every figure.

use ropewalk_scenario::{BondRow, ConnectionRow, DatagramCounts, Outcome};
use ropewalk_tests::{goodput, mean, simulate};
use std::collections::BTreeMap;
use std::sync::Mutex;

const LINES: &str = include_str!("../scenarios/bonding.toml");

const SEEDS: std::ops::RangeInclusive<u64> = 1..=10;

/// Octets that a packet of the video costs on a line: payload, UDP, IP, and the tunnel's.
const ON_THE_LINE: f64 = 1400.0 + 28.0 + 48.0;

/// The part of a line's rate that is a TCP flow's data: 1448 of 1500 octets and the tunnel's.
const SEGMENT: f64 = 1448.0 / 1548.0;

/// Both lines with fixed delays.
const STEADY: [(&str, &str); 2] = [("links.lte.delay", "17.5 ms"), ("links.lte.jitter", "none")];

/// A little delay that varies, so that seeds differ.
const WANDER: &str = "{ distribution = \"wander\", max = \"0.5 ms\" }";
const WANDERING: [(&str, &str); 2] = [("links.dsl.jitter", WANDER), ("links.lte.jitter", WANDER)];

/// One TCP flow of 30 s instead of the video. Its slow start ends by HyStart++ (RFC 9406), so that it shows what the bond carries. Linux's
/// ends earlier over two lines of unlike delay (`linux_fills_lines_of_unlike_delay`).
const TCP: [(&str, &str); 5] = [
    ("connections.video.protocol", "tcp"),
    ("connections.video.tcp", "{ hystart = \"plus-plus\" }"),
    ("connections.video.application", "{ kind = \"bulk\" }"),
    ("scenario.duration", "30 s"),
    ("bonds.home.scheduler", "rate-aware"),
];

/// Controls of that flow: as in RFCs, and CUBIC as Linux counts.
const CUBIC: (&str, &str) = (
    "connections.video.tcp",
    "{ hystart = \"plus-plus\", congestion_control = \"cubic\", whole_segments = false, growth_by_delivery = false, \
     rack_rtt_as_linux = false, defer_packets = false }",
);
const LINUX_CUBIC: (&str, &str) =
    ("connections.video.tcp", "{ hystart = \"plus-plus\", congestion_control = \"cubic\" }");
const NEWRENO: (&str, &str) =
    ("connections.video.tcp", "{ hystart = \"plus-plus\", congestion_control = \"newreno\" }");

/// UDP for 19 of 20 s, so that all that is sent can arrive.
fn udp(scheduler: &'static str, application: &'static str) -> Vec<(&'static str, &'static str)> {
    vec![("bonds.home.scheduler", scheduler), ("connections.video.application", application)]
}

fn rate(mbps: u32) -> &'static str {
    match mbps {
        50 => "{ kind = \"constant-rate\", rate = \"50 Mbit/s\", duration = \"19 s\" }",
        80 => "{ kind = \"constant-rate\", rate = \"80 Mbit/s\", duration = \"19 s\" }",
        110 => "{ kind = \"constant-rate\", rate = \"110 Mbit/s\", duration = \"19 s\" }",
        _ => unreachable!("no such rate"),
    }
}

fn video(outcome: &Outcome) -> &ConnectionRow {
    let row = &outcome.connections[0];
    assert_eq!(row.error, None);
    row
}

fn datagrams(outcome: &Outcome) -> DatagramCounts {
    video(outcome).datagrams.expect("UDP")
}

/// The part of the datagrams that did not arrive.
fn loss(outcome: &Outcome) -> f64 {
    let counts = datagrams(outcome);
    1.0 - counts.received as f64 / counts.sent as f64
}

/// The row of a path, from the hub to the cpe.
fn path<'a>(outcome: &'a Outcome, name: &str) -> &'a BondRow {
    let mut rows = outcome.bonds.iter();
    rows.find(|row| row.direction == "hub->cpe" && row.path.as_deref() == Some(name)).expect("a path")
}

/// The part of the octets that went by LTE.
fn lte_share(outcome: &Outcome) -> f64 {
    let [dsl, lte] = ["dsl", "lte"].map(|name| path(outcome, name).traffic.sent_bytes as f64);
    lte / (dsl + lte)
}

/// Runs all seeds; prints and returns what was measured in each.
fn each(what: &str, overrides: &[(&str, &str)], measure: impl Fn(&Outcome) -> f64) -> Vec<f64> {
    let values: Vec<f64> = SEEDS.map(|seed| measure(&simulate(LINES, overrides, seed))).collect();
    let (least, most) = values.iter().fold((f64::MAX, f64::MIN), |(a, b), &v| (a.min(v), b.max(v)));
    println!("{what}: {:.4} (from {least:.4} to {most:.4})", mean(&values));
    values
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::MIN, f64::max)
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::MAX, f64::min)
}

#[test]
fn cost_first_leaves_lte_alone_while_dsl_is_enough() {
    let overrides = udp("cost-first", rate(50));
    let share = each("LTE share at 50 Mbit/s", &overrides, lte_share);
    assert!(most(&share) <= 0.01, "{share:?}");
    let lost = each("loss at 50 Mbit/s", &overrides, loss);
    assert!(most(&lost) <= 0.001, "{lost:?}");
}

#[test]
fn cost_first_sends_over_lte_little_more_than_it_must() {
    let overrides = udp("cost-first", rate(80));
    let needed = 1.0 - 64.0 / (80.0 * ON_THE_LINE / 1400.0);
    println!("least possible LTE share at 80 Mbit/s: {needed:.4}");
    let share = each("LTE share at 80 Mbit/s", &overrides, lte_share);
    assert!(share.iter().all(|share| (share - needed).abs() <= 0.03), "{share:?}");
    let whole = each("loss at 80 Mbit/s", &overrides, loss);
    let late = "{ kind = \"constant-rate\", rate = \"80 Mbit/s\", duration = \"1 s\" }";
    let first = each("loss at 80 Mbit/s in the first second", &udp("cost-first", late), loss);
    // Of 19 seconds the first is not judged.
    let rest: Vec<f64> =
        whole.iter().zip(&first).map(|(whole, first)| (19.0 * whole - first) / 18.0).collect();
    println!("loss after the first second: {rest:?}");
    assert!(most(&rest) <= 0.005, "{rest:?}");
}

#[test]
fn one_tcp_flow_fills_both_lines() {
    let overrides = [&TCP[..], &STEADY, &WANDERING].concat();
    let goodputs = each("TCP over both lines, Mbit/s", &overrides, |outcome| goodput(outcome, "video"));
    assert!(least(&goodputs) >= 113.0, "{goodputs:?}");
}

/// Half of NewReno's window (RFC 5681) is less than both lines hold. Losses are so rare that it costs next to nothing.
#[test]
fn newreno_fills_both_lines_too() {
    let overrides = [&TCP[..], &STEADY, &WANDERING, &[NEWRENO]].concat();
    let goodputs = each("NewReno over both lines, Mbit/s", &overrides, |outcome| goodput(outcome, "video"));
    assert!(least(&goodputs) >= 113.0, "{goodputs:?}");
}

/// LTE's delay wanders by 10 ms, as in the scenario itself.
#[test]
fn lines_whose_delay_varies_are_filled() {
    for (control, bar) in [(CUBIC, 111.0), (NEWRENO, 105.0)] {
        let overrides = [&TCP[..], &[control]].concat();
        let goodputs =
            each("TCP over varying delays, Mbit/s", &overrides, |outcome| goodput(outcome, "video"));
        assert!(least(&goodputs) >= bar, "{goodputs:?}");
    }
    let overrides = [&TCP[..], &[LINUX_CUBIC]].concat();
    let goodputs = each("Linux's CUBIC, Mbit/s", &overrides, |outcome| goodput(outcome, "video"));
    assert!(mean(&goodputs) >= 112.0 && least(&goodputs) >= 110.5, "{goodputs:?}");
}

/// HyStart as in Linux takes ACKs that come close together for a full path, and those of two lines come closer than those of one. So slow
/// start ends below what both carry. Linux's CUBIC then grows by a twentieth per round trip, as there was no loss.
#[test]
fn linux_fills_lines_of_unlike_delay() {
    let linux = ("connections.video.tcp", "{ hystart = \"linux\" }");
    let overrides = [&TCP[..], &STEADY, &WANDERING, &[linux]].concat();
    let goodputs = each("TCP with Linux's HyStart, Mbit/s", &overrides, |outcome| goodput(outcome, "video"));
    assert!(least(&goodputs) >= 113.0, "{goodputs:?}");
}

#[test]
fn a_bad_line_never_makes_the_bond_worse_than_the_good_one() {
    let bad = [
        ("links.lte.rate", "2 Mbit/s"),
        ("links.lte.delay", "40 ms"),
        ("links.lte.jitter", "none"),
        ("links.lte.loss", "1 %"),
    ];
    for control in [CUBIC, NEWRENO] {
        let overrides = [&TCP[..], &bad, &[control]].concat();
        let goodputs = each("TCP with a bad line, Mbit/s", &overrides, |outcome| goodput(outcome, "video"));
        assert!(least(&goodputs) >= 58.0, "{goodputs:?}");
    }
}

#[test]
fn nearly_full_lines_keep_the_order_and_add_no_delay() {
    let overrides = [&udp("rate-aware", rate(110))[..], &STEADY, &WANDERING].concat();
    let reordered = each("out of order at 110 Mbit/s", &overrides, |outcome| {
        let counts = datagrams(outcome);
        counts.reordered as f64 / counts.received as f64
    });
    assert!(most(&reordered) < 0.005, "{reordered:?}");
    let duplicates =
        each("duplicates", &overrides, |outcome| video(outcome).duplicate_bytes.expect("simulated") as f64);
    assert_eq!(most(&duplicates), 0.0);
    each("loss at 110 Mbit/s", &overrides, loss);
    let median = each("median one-way delay at 110 Mbit/s, ms", &overrides, |outcome| {
        datagrams(outcome).delay_median_ms.expect("some arrived")
    });
    // 17.5 ms by LTE without what it varies by, 0.2 ms in the local networks.
    assert!(most(&median) <= 17.7 + 5.0, "{median:?}");
}

#[test]
fn who_does_not_slow_down_gets_the_longer_line_too() {
    // A satellite's delay: no TCP flow would gain by it. UDP of 80 Mbit/s has to, or lose a fifth.
    let far = [("links.lte.delay", "150 ms"), ("links.lte.jitter", "none")];
    let overrides = [&udp("rate-aware", rate(80))[..], &far].concat();
    let lost = each("loss at 80 Mbit/s with a long second line", &overrides, loss);
    assert!(most(&lost) <= 0.02, "{lost:?}");
}

/// Times from which a path sends again, and packets lost, when `link` is dead from 5 to 25 s.
fn death(scheduler: &'static str, link: &str) -> (f64, f64) {
    let changes = format!("links.{link}.changes");
    let overrides = [
        ("scenario.duration", "30 s"),
        ("bonds.home.scheduler", scheduler),
        // 500 packets a second.
        (
            "connections.video.application",
            "{ kind = \"constant-rate\", rate = \"5.6 Mbit/s\", duration = \"29 s\" }",
        ),
        (&*changes, "[{ at = \"5 s\", state = \"down\" }, { at = \"25 s\", state = \"up\" }]"),
    ];
    let overrides: Vec<(String, String)> =
        overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let (mut lost, mut back) = (0.0_f64, 0.0_f64);
    for seed in SEEDS {
        let scenario = ropewalk_scenario::load(LINES, None, &overrides).expect("valid");
        let options = ropewalk_scenario::RunOptions { seed: Some(seed), series: true, ..Default::default() };
        let outcome = ropewalk_scenario::run(&scenario, &options).expect("it ends");
        let counts = datagrams(&outcome);
        lost = lost.max((counts.sent - counts.received) as f64);
        let row = outcome.bonds.iter().position(|row| row == path(&outcome, link)).expect("a row") as u32;
        let mut again = outcome.bond_series.iter().filter(|sample| sample.row == row);
        let first = again.find(|sample| sample.time.as_secs_f64() > 25.0 && sample.received_mbps > 0.0);
        back = back.max(first.map_or(f64::INFINITY, |sample| sample.time.as_secs_f64()) - 25.0);
    }
    println!("{scheduler}, {link} dies: at most {lost} packets lost, used again after {back:.1} s");
    (lost, back)
}

#[test]
fn a_path_that_dies_silently_costs_little_and_is_used_again_soon() {
    for scheduler in ["cost-first", "rate-aware", "flow-aware"] {
        let (lost, back) = death(scheduler, "dsl");
        assert!(lost <= 150.0, "{scheduler}: {lost} packets, 0.3 s worth is 150");
        assert!(back <= 1.0, "{scheduler}: {back} s");
    }
}

#[test]
fn an_idle_dearer_line_carries_less_than_20_mb_a_day() {
    // What the cheap line carries alone, and next to nothing.
    for rate in ["20 Mbit/s", "11 kbit/s"] {
        let application = format!("{{ kind = \"constant-rate\", rate = \"{rate}\" }}");
        let overrides =
            [("scenario.duration", "120 s"), ("connections.video.application", application.as_str())];
        let outcome = simulate(LINES, &overrides, 1);
        let octets: u64 = outcome.links.iter().filter(|row| row.name == "lte").map(|row| row.bytes).sum();
        let a_day = octets as f64 * 86_400.0 / 120.0 * 1e-6;
        println!("beside {rate}: {a_day:.1} MB a day");
        assert!(a_day > 0.1 && a_day <= 20.0, "{a_day} MB a day beside {rate}");
    }
}

#[test]
fn copies_on_both_lines_hide_the_death_of_one() {
    let (lost, back) = death("redundant", "dsl");
    assert_eq!(lost, 0.0);
    assert!(back <= 1.0, "{back} s");
}

/// Two lines: Mbit/s, round trip in ms and packets of buffer each; what the second one loses.
struct Pair {
    mbps: [u32; 2],
    rtt: [f64; 2],
    queues: [u32; 2],
    loss: &'static str,
}

/// What the scenario calls the lines of a pair.
const NAMES: [&str; 2] = ["dsl", "lte"];

impl Pair {
    /// What a scenario says for one of its lines.
    fn line(&self, line: usize) -> Vec<(String, String)> {
        let key = |name: &str| format!("links.{}.{name}", NAMES[line]);
        let mut keys = vec![
            (key("rate"), format!("{} Mbit/s", self.mbps[line])),
            (key("delay"), format!("{} ms", self.rtt[line] / 2.0)),
            (key("queue"), format!("{} packets", self.queues[line])),
        ];
        if line == 1 {
            keys.push((key("loss"), self.loss.into()));
        }
        keys
    }
}

/// Goodput of one TCP flow with both lines, and with the better of the two alone, each through the tunnel.
fn against_the_best(pair: &Pair, more: &[(&str, &str)], control: &str, seed: u64) -> (f64, f64) {
    let control = match control {
        "cubic" => "{ congestion_control = \"cubic\", hystart = \"plus-plus\" }".to_owned(),
        _ => format!("{{ congestion_control = \"{control}\" }}"),
    };
    let flow = [&TCP[..], &STEADY, &WANDERING, more, &[("connections.video.tcp", &*control)]].concat();
    let both = [pair.line(0), pair.line(1)].concat();
    let bond = goodput(&simulate(LINES, &[&flow[..], &borrowed(&both)].concat(), seed), "video");
    let alone = [0, 1].map(|line| alone(pair, line, &flow, seed));
    println!(
        "{:?} Mbit/s, {:?} ms, {:?} packets, {control}, seed {seed}: {bond:.1}, alone {alone:.1?} Mbit/s",
        pair.mbps, pair.rtt, pair.queues
    );
    (bond, alone[0].max(alone[1]))
}

/// Goodput of the flow over one line alone. What the other line is like plays no part, so that pairs share such runs.
fn alone(pair: &Pair, line: usize, flow: &[(&str, &str)], seed: u64) -> f64 {
    static KNOWN: Mutex<BTreeMap<String, f64>> = Mutex::new(BTreeMap::new());
    let own = pair.line(line);
    let path = format!("[{{ link = \"{}\", cost = 1 }}]", NAMES[line]);
    // With one path, redundant does no more than number the packets.
    let single = [("bonds.home.paths", &*path), ("bonds.home.scheduler", "redundant")];
    let overrides = [flow, &borrowed(&own), &single].concat();
    let key = format!("{seed} {overrides:?}");
    let known = KNOWN.lock().expect("no run fails").get(&key).copied();
    known.unwrap_or_else(|| {
        let goodput = goodput(&simulate(LINES, &overrides, seed), "video");
        KNOWN.lock().expect("no run fails").insert(key, goodput);
        goodput
    })
}

fn borrowed(keys: &[(String, String)]) -> Vec<(&str, &str)> {
    keys.iter().map(|(key, value)| (&**key, &**value)).collect()
}

fn ratios(pair: &Pair, more: &[(&str, &str)], control: &str) -> [f64; 2] {
    [1, 2].map(|seed| {
        let (bond, best) = against_the_best(pair, more, control, seed);
        bond / best
    })
}

/// Each control with a seed of its own. Seeds differ in how the delays wander by half a millisecond.
fn seeded<'a>(controls: &[&'a str]) -> impl Iterator<Item = (u64, &'a str)> {
    (1..).zip(controls.iter().copied())
}

/// A flow has 0.95 of the better line at the least.
fn keeps_the_best(pair: &Pair, more: &[(&str, &str)], controls: &[&str]) {
    for (seed, control) in seeded(controls) {
        let (bond, best) = against_the_best(pair, more, control, seed);
        assert!(bond >= 0.95 * best, "{:?} Mbit/s, {:?} ms, {control}: {bond}, {best}", pair.mbps, pair.rtt);
    }
}

#[test]
fn a_shallow_buffer_never_makes_the_bond_worse_than_the_best_line() {
    let unlike = [3, 5, 10, 20, 50, 400].map(|packets| [[packets, 100], [100, packets], [packets, packets]]);
    for queues in unlike.into_iter().flatten().chain([[100, 100]]) {
        let pair = Pair { mbps: [64, 60], rtt: [13.0, 35.0], queues, loss: "none" };
        for (seed, control) in seeded(&["cubic", "newreno"]) {
            let (bond, best) = against_the_best(&pair, &[], control, seed);
            assert!(bond >= best, "{queues:?} packets, {control}: {bond}, alone {best} Mbit/s");
        }
    }
}

/// Pairs over which small buffers, long ways for acknowledgements, slow lines or losses may make the bond worse; for a flow that begins with the
/// scenario, when the bond has been up for five seconds, and for one that begins later.
#[test]
fn a_bond_that_is_up_is_never_worse_than_the_best_line() {
    let pairs = [
        ([64, 60], [13.0, 80.0], [5, 100], "none"),
        ([64, 60], [13.0, 80.0], [5, 5], "none"),
        ([64, 60], [25.0, 25.0], [100, 5], "none"),
        ([64, 10], [13.0, 80.0], [5, 5], "none"),
        ([64, 10], [35.0, 13.0], [100, 5], "none"),
        ([64, 10], [25.0, 25.0], [400, 400], "none"),
        ([64, 2], [13.0, 80.0], [5, 100], "1 %"),
        ([64, 2], [13.0, 80.0], [100, 100], "1 %"),
        ([64, 2], [25.0, 25.0], [100, 5], "1 %"),
        ([20, 60], [13.0, 80.0], [5, 100], "none"),
        ([20, 60], [13.0, 80.0], [20, 20], "none"),
        ([20, 60], [13.0, 35.0], [5, 100], "none"),
    ];
    for (mbps, rtt, queues, loss) in pairs {
        for (control, start, end) in
            [("cubic", "0 s", "20 s"), ("newreno", "0 s", "20 s"), ("cubic", "7 s", "27 s")]
        {
            let times = [("connections.video.start", start), ("scenario.duration", end)];
            let pair = Pair { mbps, rtt, queues, loss };
            // A loss in slow start that is repaired too late, one in some hundred runs, costs NewReno a sixth of these 20 s.
            let is_by_chance = loss != "none" && control == "newreno";
            let seeds = if is_by_chance { 8 } else { 2 };
            let of_seed = |seed| against_the_best(&pair, &times, control, seed);
            let ratios: Vec<f64> = (1..=seeds).map(of_seed).map(|(bond, best)| bond / best).collect();
            let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
            assert!(
                if is_by_chance { mean } else { least(&ratios) } >= 0.985,
                "{mbps:?} Mbit/s, {rtt:?} ms, {queues:?} packets, {control} from {start}: {ratios:?}"
            );
        }
    }
}

/// Lines that lose at random, over which a flow alone gets a fifth of their rate or less: what they lose is repaired, so they add to the bond
/// what they carry. Before, most of these pairs were worse than their better line.
#[test]
fn a_line_that_loses_at_random_adds_its_rate() {
    let pairs = [
        ([15, 149], [26.6, 28.6], [400, 10], "1 %"),
        ([29, 106], [69.4, 12.0], [400, 50], "1 %"),
        ([134, 34], [16.8, 9.4], [400, 20], "1 %"),
        ([25, 14], [114.4, 6.8], [100, 400], "0.1 %"),
        ([20, 31], [71.4, 6.2], [400, 10], "1 %"),
        ([17, 84], [6.8, 8.0], [10, 50], "1 %"),
        ([32, 59], [45.4, 37.0], [100, 400], "1 %"),
        ([3, 27], [50.4, 74.4], [20, 400], "0.1 %"),
    ];
    for (mbps, rtt, queues, loss) in pairs {
        let pair = Pair { mbps, rtt, queues, loss };
        for (seed, control) in seeded(&["cubic", "newreno"]) {
            let (bond, best) = against_the_best(&pair, &[], control, seed);
            let whole = f64::from(mbps[0] + mbps[1]) * SEGMENT;
            println!(
                "{mbps:?}, {control}: {:.3} of the better line, {:.3} of both",
                bond / best,
                bond / whole
            );
            assert!(bond >= 1.1 * best, "{mbps:?} Mbit/s, {control}: {bond}, alone {best} Mbit/s");
        }
    }
}

/// Slow start of a path ends where the line drops, though so short a queue adds no delay that shows. Each run keeps the bar of the
/// gates, and on average no line alone has more.
#[test]
fn a_bond_over_queues_of_three_packets_is_no_worse_than_the_best_line() {
    for (mbps, rtt) in [([15, 46], [11.1, 40.2]), ([5, 36], [32.8, 59.3])] {
        let pair = Pair { mbps, rtt, queues: [3, 3], loss: "none" };
        for control in ["bbr", "cubic"] {
            let ratios = ratios(&pair, &[], control);
            assert!(least(&ratios) >= 0.95, "{mbps:?} Mbit/s, {rtt:?} ms, {control}: {ratios:?}");
            assert!(mean(&ratios) >= 1.0, "{mbps:?} Mbit/s, {rtt:?} ms, {control}: {ratios:?}");
        }
    }
}

/// Two lines of so many Mbit/s and ms, with buffers of so many packets, and so many flows of others on each. `used`: the lines of the bond.
fn beside_flows_of_others(lines: [(f64, f64); 2], packets: u32, others: u32, used: &[usize]) -> String {
    let link = |name: &str, ends: [&str; 2], more: &str| {
        format!("[links.{name}]\nbetween = [\"{}\", \"{}\"]\n{more}\n", ends[0], ends[1])
    };
    let fast = "rate = \"10 Gbit/s\"\ndelay = \"0.1 ms\"\nqueue = \"10000 packets\"";
    let tcp = "tcp = { congestion_control = \"cubic\", hystart = \"plus-plus\" }";
    let mut text =
        "[scenario]\nname = \"beside-others\"\nduration = \"90 s\"\n[routers.hub]\n[routers.cpe]\n\
                    [hosts.server]\n[hosts.client]\n"
            .to_owned();
    text += &link("core", ["server", "hub"], fast);
    text += &link("lan", ["client", "cpe"], fast);
    for (line, (mbps, rtt)) in lines.iter().enumerate() {
        let [near, far, from, to] = ["a", "b", "x", "y"].map(|name| format!("{name}{line}"));
        text += &format!("[routers.{near}]\n[routers.{far}]\n[hosts.{from}]\n[hosts.{to}]\n");
        let own =
            format!("rate = \"{mbps} Mbit/s\"\ndelay = \"{} ms\"\nqueue = \"{packets} packets\"", rtt / 2.0);
        text += &link(&format!("line{line}"), [&near, &far], &own);
        text += &link(&format!("in{line}"), ["hub", &near], fast);
        text += &link(&format!("out{line}"), [&far, "cpe"], fast);
        text += &link(&format!("from{line}"), [&from, &near], fast);
        text += &link(&format!("to{line}"), [&far, &to], fast);
        for other in 0..others {
            text += &format!("[connections.other{line}-{other}]\nfrom = \"{from}\"\nto = \"{to}\"\n{tcp}\n");
        }
    }
    let path = |line: &usize| format!("{{ link = \"in{line}\", via = [\"line{line}\", \"out{line}\"] }}");
    let paths = used.iter().map(path).collect::<Vec<_>>().join(", ");
    let scheduler = if used.len() == 1 { "redundant" } else { "rate-aware" };
    text += &format!(
        "[bonds.home]\nbetween = [\"hub\", \"cpe\"]\npaths = [{paths}]\nscheduler = \"{scheduler}\"\n"
    );
    text + &format!("[connections.flow]\nfrom = \"server\"\nto = \"client\"\nstart = \"5 s\"\n{tcp}\n")
}

/// Others hold a queue of half a second and more on both lines. A path that yields to it, and finds its rate anew by probes of a quarter
/// more, has next to nothing for minutes.
#[test]
fn beside_others_on_both_lines_a_bond_is_no_worse_than_the_best_line() {
    for (lines, packets, others) in [
        ([(9.0, 14.0), (12.7, 43.0)], 741, 2),
        ([(6.5, 18.0), (13.8, 10.0)], 986, 3),
        ([(4.8, 28.0), (13.3, 40.0)], 503, 2),
    ] {
        let by = |used: &[usize]| {
            goodput(&simulate(&beside_flows_of_others(lines, packets, others, used), &[], 1), "flow")
        };
        let (bond, best) = (by(&[0, 1]), by(&[0]).max(by(&[1])));
        println!("{lines:?}, {packets} packets, {others} others: {bond:.2}, the best line {best:.2} Mbit/s");
        assert!(bond >= 0.85 * best, "{lines:?}: {bond}, alone {best} Mbit/s");
    }
}

/// The slow line is the shorter one: each packet alone would arrive by it first, all that a sender has not.
#[test]
fn a_short_slow_line_does_not_keep_a_flow_from_a_long_fast_one() {
    for (mbps, rtt) in [([2, 25], [5.0, 80.0]), ([10, 120], [8.0, 50.0]), ([20, 50], [15.0, 65.0])] {
        let pair = Pair { mbps, rtt, queues: [100, 1000], loss: "none" };
        keeps_the_best(&pair, &[], &["bbr", "cubic", "newreno"]);
    }
}

/// BBR learns a path's round trip in ten seconds, and keeps twice what that holds on its way. Over a line of less than twice the
/// rate of a shorter one it may have less than over that one for a while.
#[test]
fn a_long_flow_takes_the_faster_line_however_long_that_is() {
    for (mbps, rtt, queues) in [
        ([7, 39], [18.6, 600.0], [56, 233]),
        ([24, 42], [15.0, 600.0], [87, 536]),
        ([104, 122], [6.0, 62.0], [100, 400]),
    ] {
        let pair = Pair { mbps, rtt, queues, loss: "none" };
        keeps_the_best(&pair, &[("scenario.duration", "150 s")], &["bbr"]);
    }
}

/// What an outage takes says nothing of congestion, so the flow does not slow down.
#[test]
fn a_line_that_flaps_costs_a_flow_nothing() {
    let flaps = (1..15).map(|flap| {
        let (down, up) = (4.0 * f64::from(flap), 4.0 * f64::from(flap) + 0.3 + 0.1 * f64::from(flap));
        format!("{{ at = \"{down} s\", state = \"down\" }}, {{ at = \"{up:.1} s\", state = \"up\" }}")
    });
    let flaps = format!("[{}]", flaps.collect::<Vec<_>>().join(", "));
    let more = [("links.dsl.changes", &*flaps), ("scenario.duration", "60 s")];
    let pair = Pair { mbps: [18, 76], rtt: [61.2, 63.2], queues: [81, 302], loss: "none" };
    keeps_the_best(&pair, &more, &["cubic", "newreno"]);
}

/// By the slow line ACKs would wait for each other until it is as long as the other. Repairs of what the other's buffer drops are
/// more than the slow line carries, too.
#[test]
fn a_short_slow_line_takes_no_more_acks_and_repairs_than_it_carries() {
    for (mbps, rtt, queues) in [
        ([1, 60], [20.0, 80.0], [100, 33]),
        ([2, 112], [9.5, 119.0], [147, 33]),
        ([2, 48], [20.0, 97.0], [387, 145]),
        ([1, 248], [9.5, 18.0], [557, 26]),
    ] {
        let pair = Pair { mbps, rtt, queues, loss: "none" };
        keeps_the_best(&pair, &[], &["cubic", "newreno"]);
    }
}

/// A bond and its flow begin together, so the first line's small buffer drops some of the train that is to tell its rate.
#[test]
fn a_line_left_out_for_its_small_buffer_comes_back() {
    let pair = Pair { mbps: [64, 10], rtt: [35.0, 13.0], queues: [5, 100], loss: "none" };
    for control in ["cubic", "newreno"] {
        let ratios = ratios(&pair, &[("bonds.home.run_up", "0 s")], control);
        assert!(least(&ratios) >= 1.2, "{control}: {ratios:?}");
    }
}

/// Lines too slow to be worth their losses, and some that are just fast enough, with half a second of buffer: what they take of the
/// overflow must not make the flow wait for them.
#[test]
fn a_second_line_of_any_rate_brings_what_it_can() {
    let delays = [("links.dsl.jitter", "none"), ("links.lte.delay", "12.5 ms")];
    let lte = "{ distribution = \"wander\", max = \"10 ms\" }";
    for (mbps, gain) in
        [("3 Mbit/s", 0.3), ("7.5 Mbit/s", 2.0), ("8 Mbit/s", 2.0), ("10 Mbit/s", 5.0), ("16 Mbit/s", 11.0)]
    {
        let lines = [("links.lte.rate", mbps), ("links.lte.queue", "300 packets"), ("links.lte.jitter", lte)];
        let got = each(mbps, &[&TCP[..], &delays, &lines].concat(), |outcome| goodput(outcome, "video"));
        assert!(least(&got) >= 59.5 + gain, "{mbps}: {got:?}");
    }
}

/// The lines with a radio of 802.11b in place of LTE, and so many TCP flows. What a packet costs there is hardly its octets, and ACKs on their
/// way back share the air with what comes.
fn beside_a_radio(flows: u32, tcp: &str) -> String {
    let (before, after) = LINES.split_once("[links.lte]").expect("a line");
    let bond = after.find("[bonds.home]").expect("a bond");
    let radio = "[wifi]\nstandard = \"802.11b\"\ndata_rate = \"11 Mbit/s\"\nqueue = \"60 packets\"\n\
        propagation = { model = \"disk\", reception = \"25 m\" }\n\
        [wifi.stations]\nhub = { position = [\"0 m\", \"0 m\"] }\ncpe = { position = [\"12 m\", \"0 m\"] }\n\
        [wifi.routes.lte]\nfrom = \"hub\"\nvia = []\nto = \"cpe\"\n";
    let flow = |number| {
        format!(
            "[connections.flow{number}]\nprotocol = \"tcp\"\nfrom = \"server\"\nto = \"client\"\n\
             tcp = {tcp}\napplication = {{ kind = \"bulk\" }}\n"
        )
    };
    let others: String = (1..flows).map(flow).collect();
    format!("{before}{radio}{}{others}", &after[bond..])
}

/// Each of so many runs over both lines, over what the DSL line alone carries.
fn beside_a_radio_ratios<const RUNS: usize>(mbps: &str, flows: u32, (key, tcp): (&str, &str)) -> [f64; RUNS] {
    let text = beside_a_radio(flows, tcp);
    let rate = [("links.dsl.rate", mbps), (key, tcp)];
    let single =
        [("bonds.home.paths", "[{ link = \"dsl\", cost = 1 }]"), ("bonds.home.scheduler", "redundant")];
    let all = |more: &[(&str, &str)], seed| {
        let outcome = simulate(&text, &[&TCP[..], &rate, more].concat(), seed);
        outcome.connections.iter().map(|row| row.goodput_mbps).sum::<f64>()
    };
    let ratios = std::array::from_fn(|seed| all(&[], seed as u64 + 1) / all(&single, seed as u64 + 1));
    println!("{mbps} and a radio, {flows} flows: {ratios:.3?} of the DSL line alone");
    ratios
}

#[test]
fn a_radio_line_does_no_harm() {
    for (mbps, flows) in [("20 Mbit/s", 1), ("60 Mbit/s", 1), ("20 Mbit/s", 4), ("60 Mbit/s", 4)] {
        let ratios = beside_a_radio_ratios::<2>(mbps, flows, CUBIC);
        assert!(least(&ratios) >= 0.95, "{mbps}, {flows} flows: {ratios:?}");
        // Of Linux's flows single runs differ by 0.03, whose losses fall otherwise.
        let ratios = beside_a_radio_ratios::<8>(mbps, flows, LINUX_CUBIC);
        assert!(mean(&ratios) >= 0.97 && least(&ratios) >= 0.92, "{mbps}, {flows} flows: {ratios:?}");
    }
}
