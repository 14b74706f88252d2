//! The judge of path controllers: one bottleneck, a tunnel's path with an inner CUBIC flow behind CoDel, CUBIC flows and
//! datagrams beside it. The network is the simulator's, the flows are the TCP that we ship.
//!
//! `controllers copa draw`: names of controllers and of parts, `--verbose`; without a name or a part, all of them.

mod case;
mod far;
mod flow;
mod near;
mod parcel;
mod path;
mod world;

use case::{Case, Demand, Draw, Outcome, Udp};
use parcel::FULL;
use ropewalk_congestion::{CopaTuning, PathBbr, PathController, PathCopa, Transparent};
use ropewalk_units::Instant;

/// Cases of a drawing, of each kind.
const CASES: u64 = 24;

const CONTROLLERS: [&str; 3] = ["transparent", "bbr", "copa"];
const PARTS: [&str; 5] = ["alone", "beside", "others", "table", "draw"];

/// What is printed of each run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    Figures,
    /// Switches and traces as well; each run of a drawing.
    Traces,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let chosen = |all: &[&'static str]| {
        let some: Vec<_> =
            all.iter().copied().filter(|&name| arguments.iter().any(|argument| argument == name)).collect();
        if some.is_empty() { all.to_vec() } else { some }
    };
    let is_verbose = arguments.iter().any(|argument| argument == "--verbose");
    let detail = if is_verbose { Detail::Traces } else { Detail::Figures };
    for name in chosen(&CONTROLLERS) {
        for part in chosen(&PARTS) {
            println!("== {name}, {part}");
            match part {
                "alone" => alone(name, detail),
                "beside" => beside(name, detail),
                "others" => others(name, detail),
                "table" => table(name),
                _ => drawings(name, detail),
            }
        }
    }
}

fn controller(name: &str) -> Box<dyn PathController> {
    match name {
        "bbr" => Box::new(PathBbr::new(7, FULL, Instant::ZERO)),
        "transparent" => Box::new(Transparent),
        "copa" => Box::new(PathCopa::new(7, FULL, &CopaTuning::default(), Instant::ZERO)),
        other => panic!("no controller {other}"),
    }
}

/// Nothing bounds a controller that always may send, if there always is something to send.
fn is_bounded(name: &str, case: &Case) -> bool {
    name != "transparent" || case.demand != Demand::Backlog
}

fn run(name: &str, case: &Case) -> Outcome {
    world::run(case, controller(name))
}

fn run_and_show(label: &str, name: &str, case: &Case, detail: Detail) {
    if is_bounded(name, case) {
        show(label, &run(name, case), detail);
    }
}

fn show(label: &str, outcome: &Outcome, detail: Detail) {
    println!(
        "{label:44} path {:.3} all {:.3} ratio {:5.2} queue {:6.1} p99 {:6.1} ms drops {:.4} compete {:.2} switches {}",
        outcome.path,
        outcome.all,
        outcome.ratio(),
        outcome.queue_mean,
        outcome.queue_p99,
        outcome.drops,
        outcome.competing,
        outcome.switches.len(),
    );
    if detail == Detail::Traces {
        println!("    {:.1?}", outcome.switches);
        println!("    {:.2?}", outcome.trace);
    }
}

/// Cases at random, from seeds fixed beforehand: the first drawing was tuned on, the second was not.
fn drawings(name: &str, detail: Detail) {
    for (label, first) in [("first", 100), ("second", 900)] {
        println!("{label} drawing");
        drawing(name, first, detail);
    }
}

/// Runs of the cases of a drawing.
type Judged = Vec<(Outcome, Case)>;

fn drawing(name: &str, first: u64, detail: Detail) {
    let (mut alone, mut short, mut deep) = (Judged::new(), Judged::new(), Judged::new());
    for seed in first..first + CASES {
        let mut draw = Draw::new(seed);
        let case = draw.case(seed, 0);
        let cubics = draw.count(4);
        let beside = draw.case(seed, cubics);
        for (case, class) in [
            (case, &mut alone),
            if beside.buffer <= 400 { (beside, &mut short) } else { (beside, &mut deep) },
        ] {
            if is_bounded(name, &case) {
                class.push((run(name, &case), case));
            }
        }
    }
    summarize(&alone, &short, &deep);
    for (outcome, case) in alone.iter().chain(&short).chain(&deep).filter(|_| detail == Detail::Traces) {
        let Case { mbps, rtt_ms, buffer, codel, cubics, demand, .. } = case;
        let label = format!("{mbps:.0} {rtt_ms:.0} ms {buffer} codel {codel} beside {cubics} {demand:?}");
        show(&label, outcome, Detail::Figures);
    }
}

/// How many of the cases keep the bars.
fn summarize(alone: &Judged, short: &Judged, deep: &Judged) {
    let share = |cases: &Judged, good: &dyn Fn(&Outcome, &Case) -> bool| {
        let kept = cases.iter().filter(|(outcome, case)| good(outcome, case)).count();
        format!("{kept} of {}", cases.len())
    };
    // Two full packets more on lines below 5 Mbit/s.
    let voice = |case: &Case| 15.0 + if case.mbps < 5.0 { 24.0 / case.mbps } else { 0.0 };
    println!("  alone: full {}", share(alone, &|outcome, _| outcome.path >= 0.95));
    println!("  alone: voice {}", share(alone, &|outcome, case| outcome.queue_p99 <= voice(case)));
    println!("  alone: drops {}", share(alone, &|outcome, _| outcome.drops <= 0.001));
    println!("  to 400 packets: 0.5 to 2 {}", share(short, &|o, _| (0.5..=2.0).contains(&o.ratio())));
    println!("  above: 0.3 {}", share(deep, &|outcome, _| outcome.ratio() >= 0.3));
    let mut ratios: Vec<f64> = short.iter().map(|(outcome, _)| outcome.ratio()).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    if let (Some(least), Some(most)) = (ratios.first(), ratios.last()) {
        println!("  ratios to 400: {least:.2} {:.2} {most:.2}", ratios[ratios.len() / 2]);
    }
}

/// Packets.
const BUFFERS: [u32; 6] = [20, 50, 100, 200, 400, 1000];

/// Alone, what the flow within has of the line, and what a packet waits in the line's queue; beside one or four CUBIC flows, ratios of
/// several seeds.
fn table(name: &str) {
    for rtt_ms in [10.0, 20.0, 40.0, 80.0, 160.0] {
        let alone = run(name, &Case { rtt_ms, buffer: 400, seconds: 120, from: 30, ..Case::default() });
        println!("alone, {rtt_ms} ms: path {:.3} queue p99 {:.1} ms", alone.path, alone.queue_p99);
    }
    for cubics in [1, 4] {
        for buffer in BUFFERS {
            let ratio = |seed: u32| {
                let case = Case {
                    buffer,
                    cubics,
                    seconds: 120,
                    from: 30,
                    cubics_from: 8.0 + f64::from(seed),
                    seed: u64::from(seed),
                    ..Case::default()
                };
                run(name, &case).ratio()
            };
            let ratios: Vec<f64> = (0..4).map(ratio).collect();
            let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
            println!("beside {cubics} cubic, buffer {buffer}: {mean:.2} of {ratios:.2?}");
        }
    }
}

fn alone(name: &str, detail: Detail) {
    for (mbps, rtt_ms) in [(64.0, 26.0), (60.0, 160.0), (10.0, 26.0), (5.0, 80.0), (2.0, 40.0)] {
        for demand in [Demand::Inner, Demand::Backlog] {
            let case = Case { mbps, rtt_ms, buffer: 1000, demand, ..Case::default() };
            run_and_show(&format!("alone {mbps} Mbit/s {rtt_ms} ms {demand:?}"), name, &case, detail);
        }
    }
    for buffer in [20, 50] {
        let case = Case { buffer, ..Case::default() };
        run_and_show(&format!("alone 64 buffer {buffer}"), name, &case, detail);
    }
    let case = Case { loss: 0.01, demand: Demand::Backlog, ..Case::default() };
    run_and_show("alone 64, 1 % random loss", name, &case, detail);
}

fn beside(name: &str, detail: Detail) {
    for (cubics, demand) in [(1, Demand::Inner), (4, Demand::Inner), (1, Demand::Backlog)] {
        for buffer in BUFFERS {
            let case = Case { buffer, cubics, demand, cubics_from: 10.0, ..Case::default() };
            let label = format!("64 beside {cubics} cubic, buffer {buffer}, {demand:?}");
            run_and_show(&label, name, &case, detail);
        }
    }
    for rtt_ms in [10.0, 80.0] {
        for buffer in [100, 400] {
            let case = Case { mbps: 20.0, rtt_ms, buffer, cubics: 1, ..Case::default() };
            let label = format!("20 Mbit/s {rtt_ms} ms beside 1, from the start, buffer {buffer}");
            run_and_show(&label, name, &case, detail);
        }
    }
    let case = Case { codel: true, cubics: 1, buffer: 1000, ..Case::default() };
    run_and_show("64 beside 1 cubic, CoDel", name, &case, detail);
    let case = Case { cubics: 1, cubics_until: 25.0, from: 35, seconds: 50, buffer: 400, ..Case::default() };
    run_and_show("64 after a cubic that left at 25 s", name, &case, detail);
}

fn others(name: &str, detail: Detail) {
    for (label, udp) in
        [("30 %", Udp::Constant(0.3)), ("80 %", Udp::Constant(0.8)), ("on/off 50 %", Udp::OnOff(0.5, 3.0))]
    {
        let case = Case { udp, buffer: 400, ..Case::default() };
        run_and_show(&format!("64 beside datagrams {label}"), name, &case, detail);
    }
    for factor in [0.25, 4.0] {
        let case =
            Case { rate_step: Some((20.0, factor)), mbps: 30.0, buffer: 400, from: 25, ..Case::default() };
        run_and_show(&format!("30 x {factor} at 20 s"), name, &case, detail);
    }
    let case = Case { delay_step: Some((20.0, 60.0)), buffer: 400, from: 25, ..Case::default() };
    run_and_show("64, 60 ms more each way at 20 s", name, &case, detail);
    let case = Case { demand: Demand::Constant(0.3), buffer: 400, ..Case::default() };
    run_and_show("64, 30 % wanted", name, &case, detail);
    let case = Case { demand: Demand::Constant(0.3), cubics: 1, buffer: 400, ..Case::default() };
    run_and_show("64, 30 % wanted, beside 1 cubic", name, &case, detail);
}
