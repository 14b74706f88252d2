//! The judge of path controllers: one bottleneck, a tunnel's path with an inner CUBIC flow behind CoDel, CUBIC flows and
//! datagrams beside it. `cargo bench -p ropewalk-tcp --bench controllers -- copa draw`.

mod bottleneck;
mod world;

use ropewalk_congestion::{PathBbr, PathController, PathCopa, Transparent};
use ropewalk_units::{Duration, Instant};
use world::{Case, Demand, FULL, Outcome, Udp, World};

fn controller(name: &str) -> Box<dyn PathController> {
    match name {
        "bbr" => Box::new(PathBbr::new(7, FULL, Instant::ZERO)),
        "transparent" => Box::new(Transparent),
        "copa" => Box::new(PathCopa::new(7, FULL, Duration::from_millis(5), Instant::ZERO)),
        other => panic!("no controller {other}"),
    }
}

fn run(name: &str, case: &Case) -> Outcome {
    World::new(case.clone(), controller(name)).run()
}

/// Numbers between 0 and 1 that follow from a seed (SplitMix64).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Evenly over the logarithm.
    fn log(&mut self, least: f64, most: f64) -> f64 {
        least * (most / least).powf(self.next())
    }
}

fn drawn(draw: &mut Draw, seed: u64, cubics: usize) -> Case {
    let demand = if draw.next() < 0.75 { Demand::Inner } else { Demand::Backlog };
    Case {
        mbps: draw.log(4.0, 100.0),
        rtt_ms: draw.log(8.0, 160.0),
        buffer: draw.log(20.0, 1000.0) as usize,
        codel: draw.next() < 0.2,
        cubics,
        cubics_from: 10.0 * draw.next(),
        demand,
        seconds: 90.0,
        from: 30.0,
        seed,
        ..Case::default()
    }
}

/// Cases at random, from seeds fixed beforehand: the first drawing was tuned on, the second was not.
fn drawing(name: &str, first: u64, verbose: bool) {
    let (mut alone, mut short, mut deep) = (Vec::new(), Vec::new(), Vec::new());
    for seed in first..first + CASES {
        let mut draw = Draw(seed);
        let case = drawn(&mut draw, seed, 0);
        alone.push((run(name, &case), case));
        let cubics = 1 + (draw.next() * 4.0) as usize;
        let case = drawn(&mut draw, seed, cubics);
        let class = if case.buffer <= 400 { &mut short } else { &mut deep };
        class.push((run(name, &case), case));
    }
    let share = |cases: &[(Outcome, Case)], good: &dyn Fn(&Outcome, &Case) -> bool| {
        let kept = cases.iter().filter(|(outcome, case)| good(outcome, case)).count();
        format!("{kept} of {}", cases.len())
    };
    // Two full packets more on lines below 5 Mbit/s.
    let voice = |case: &Case| 15.0 + if case.mbps < 5.0 { 24.0 / case.mbps } else { 0.0 };
    println!("  alone: full {}", share(&alone, &|outcome, _| outcome.path >= 0.95));
    println!("  alone: voice {}", share(&alone, &|outcome, case| outcome.queue_p99 <= voice(case)));
    println!("  alone: drops {}", share(&alone, &|outcome, _| outcome.drops <= 0.001));
    let ratio = |outcome: &Outcome| outcome.path / outcome.cubic;
    println!("  to 400 packets: 0.5 to 2 {}", share(&short, &|o, _| (0.5..=2.0).contains(&ratio(o))));
    println!("  above: 0.3 {}", share(&deep, &|outcome, _| ratio(outcome) >= 0.3));
    let mut ratios: Vec<f64> = short.iter().map(|(outcome, _)| ratio(outcome)).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    println!(
        "  ratios to 400: {:.2} {:.2} {:.2}",
        ratios[0],
        ratios[ratios.len() / 2],
        ratios[ratios.len() - 1]
    );
    for (outcome, case) in alone.iter().chain(&short).chain(&deep).filter(|_| verbose) {
        let Case { mbps, rtt_ms, buffer, codel, cubics, demand, .. } = case;
        let label = format!("{mbps:.0} {rtt_ms:.0} ms {buffer} codel {codel} beside {cubics} {demand:?}");
        show(&label, outcome, false);
    }
}

/// Cases of a drawing, of each kind.
const CASES: u64 = 24;

const PARTS: [&str; 5] = ["alone", "beside", "others", "table", "draw"];

/// Arguments: names of controllers, parts, `--verbose`; without a name or a part, all of them.
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let chosen = |all: &[&'static str]| {
        let some: Vec<_> =
            all.iter().copied().filter(|&name| arguments.iter().any(|argument| argument == name)).collect();
        if some.is_empty() { all.to_vec() } else { some }
    };
    let verbose = arguments.iter().any(|argument| argument == "--verbose");
    for name in chosen(&["transparent", "bbr", "copa"]) {
        for part in chosen(&PARTS) {
            println!("== {name}, {part}");
            match part {
                "alone" => alone(name, verbose),
                "beside" => beside(name, verbose),
                "others" => others(name, verbose),
                "table" => table(name),
                _ => drawings(name, verbose),
            }
        }
    }
}

fn drawings(name: &str, verbose: bool) {
    for (label, first) in [("first", 100), ("second", 900)] {
        println!("{label} drawing");
        drawing(name, first, verbose);
    }
}

/// Beside one or four CUBIC flows, ratios of several seeds.
fn table(name: &str) {
    for cubics in [1, 4] {
        for buffer in [20, 50, 100, 200, 400, 1000] {
            let mut ratios = Vec::new();
            for seed in 0..4 {
                let from = 8.0 + f64::from(seed as u32);
                let case = Case {
                    buffer,
                    cubics,
                    seconds: 120.0,
                    from: 30.0,
                    cubics_from: from,
                    seed,
                    ..Case::default()
                };
                let outcome = run(name, &case);
                ratios.push(((outcome.path / outcome.cubic) * 100.0).round() / 100.0);
            }
            println!("beside {cubics} cubic, buffer {buffer}: {ratios:?}");
        }
    }
}

fn show(label: &str, outcome: &Outcome, verbose: bool) {
    let ratio = if outcome.cubic > 0.0 { outcome.path / outcome.cubic } else { 0.0 };
    println!(
        "{label:44} path {:.3} all {:.3} ratio {ratio:5.2} queue {:6.1} p99 {:6.1} ms drops {:.4} compete {:.2} switches {}",
        outcome.path,
        outcome.all,
        outcome.queue_mean,
        outcome.queue_p99,
        outcome.drops,
        outcome.competing,
        outcome.switches.len(),
    );
    if verbose {
        println!(
            "    {:?}",
            outcome.switches.iter().map(|at| (at * 10.0).round() / 10.0).collect::<Vec<_>>()
        );
        println!("    {:?}", outcome.trace.iter().map(|at| (at * 100.0).round() / 100.0).collect::<Vec<_>>());
    }
}

fn alone(name: &str, verbose: bool) {
    for (mbps, rtt_ms) in [(64.0, 26.0), (60.0, 160.0), (10.0, 26.0), (5.0, 80.0), (2.0, 40.0)] {
        for demand in [Demand::Inner, Demand::Backlog] {
            let case = Case { mbps, rtt_ms, buffer: 1000, demand, ..Case::default() };
            show(&format!("alone {mbps} Mbit/s {rtt_ms} ms {demand:?}"), &run(name, &case), verbose);
        }
    }
    for buffer in [20, 50] {
        let case = Case { buffer, ..Case::default() };
        show(&format!("alone 64 buffer {buffer}"), &run(name, &case), verbose);
    }
    let case = Case { loss: 0.01, demand: Demand::Backlog, ..Case::default() };
    show("alone 64, 1 % random loss", &run(name, &case), verbose);
}

fn beside(name: &str, verbose: bool) {
    for (cubics, demand) in [(1, Demand::Inner), (4, Demand::Inner), (1, Demand::Backlog)] {
        for buffer in [20, 50, 100, 200, 400, 1000] {
            let case = Case {
                buffer,
                cubics,
                demand,
                seconds: 60.0,
                from: 20.0,
                cubics_from: 10.0,
                ..Case::default()
            };
            show(
                &format!("64 beside {cubics} cubic, buffer {buffer}, {demand:?}"),
                &run(name, &case),
                verbose,
            );
        }
    }
    for rtt_ms in [10.0, 80.0] {
        for buffer in [100, 400] {
            let case =
                Case { mbps: 20.0, rtt_ms, buffer, cubics: 1, seconds: 60.0, from: 20.0, ..Case::default() };
            show(
                &format!("20 Mbit/s {rtt_ms} ms beside 1, from the start, buffer {buffer}"),
                &run(name, &case),
                verbose,
            );
        }
    }
    let case = Case { codel: true, cubics: 1, buffer: 1000, seconds: 60.0, from: 20.0, ..Case::default() };
    show("64 beside 1 cubic, CoDel", &run(name, &case), verbose);
    let case =
        Case { cubics: 1, cubics_until: 25.0, from: 35.0, seconds: 50.0, buffer: 400, ..Case::default() };
    show("64 after a cubic that left at 25 s", &run(name, &case), verbose);
}

fn others(name: &str, verbose: bool) {
    for (label, udp) in
        [("30 %", Udp::Constant(0.3)), ("80 %", Udp::Constant(0.8)), ("on/off 50 %", Udp::OnOff(0.5, 3.0))]
    {
        let case = Case { udp, buffer: 400, ..Case::default() };
        show(&format!("64 beside datagrams {label}"), &run(name, &case), verbose);
    }
    for factor in [0.25, 4.0] {
        let case =
            Case { rate_step: Some((20.0, factor)), mbps: 30.0, buffer: 400, from: 25.0, ..Case::default() };
        show(&format!("30 x {factor} at 20 s"), &run(name, &case), verbose);
    }
    let case = Case { delay_step: Some((20.0, 60.0)), buffer: 400, from: 25.0, ..Case::default() };
    show("64, 60 ms more each way at 20 s", &run(name, &case), verbose);
    let case = Case { demand: Demand::Constant(0.3), buffer: 400, ..Case::default() };
    show("64, 30 % wanted", &run(name, &case), verbose);
    let case = Case { demand: Demand::Constant(0.3), cubics: 1, buffer: 400, ..Case::default() };
    show("64, 30 % wanted, beside 1 cubic", &run(name, &case), verbose);
}
