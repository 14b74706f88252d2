//! Judges a bond where tests are too short: minutes, silence, others on the lines, clocks that drift, a call beside bulk. Prints tables for
//! `docs/models/bonding.md`.
//!
//! `bonds [TABLE]...`: `long`, `silence`, `cross`, `clocks`, `voice`; all of them by default. Rates in Mbit/s of one TCP flow's data.

use ropewalk_scenario::{Outcome, RunOptions, load, run};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{available_parallelism, scope};

/// A line between the gateways: Mbit/s, round trip in ms, packets of buffer, flows beside it.
#[derive(Clone, Copy)]
struct Line {
    mbps: f64,
    rtt_ms: f64,
    packets: u32,
    beside: u32,
}

const fn line(mbps: f64, rtt_ms: f64) -> Line {
    Line { mbps, rtt_ms, packets: 100, beside: 0 }
}

const DSL: Line = line(64.0, 13.0);

/// Lines, one of them or all, and what goes over them.
#[derive(Clone)]
struct Scene {
    lines: Vec<Line>,
    /// The line that is alone, or the bond of all.
    only: Option<usize>,
    seconds: u32,
    /// The flow begins then.
    start: u32,
    /// Keys of the client's gateway.
    gateway: &'static str,
    voice: bool,
}

impl Scene {
    fn new(lines: &[Line], seconds: u32) -> Self {
        Self { lines: lines.to_vec(), only: None, seconds, start: 0, gateway: "", voice: false }
    }

    fn alone(&self, line: usize) -> Self {
        Self { only: Some(line), ..self.clone() }
    }

    fn text(&self) -> String {
        let fast = "rate = \"10 Gbit/s\"\ndelay = \"0.1 ms\"\nqueue = \"10000 packets\"";
        let mut text = format!(
            "[scenario]\nname = \"bonds\"\nduration = \"{} s\"\nsample_interval = \"1 s\"\n[routers.hub]\n[routers.cpe]\n{}\n\
             [hosts.server]\n[hosts.client]\n[links.core]\nbetween = [\"server\", \"hub\"]\n{fast}\n\
             [links.lan]\nbetween = [\"client\", \"cpe\"]\n{fast}\n",
            self.seconds, self.gateway
        );
        let is_there = |place: usize| self.only.is_none_or(|only| only == place);
        let lines = || self.lines.iter().enumerate().filter(|(place, _)| is_there(*place));
        lines().for_each(|(place, line)| line.write(&mut text, place));
        let paths: Vec<String> = lines().map(|(place, line)| line.path(place)).collect();
        let scheduler = if self.only.is_some() { "redundant" } else { "rate-aware" };
        let _ = writeln!(
            text,
            "[bonds.home]\nbetween = [\"hub\", \"cpe\"]\npaths = [{}]\nscheduler = \"{scheduler}\"\n\
             [connections.flow]\nfrom = \"server\"\nto = \"client\"\nstart = \"{} s\"\ntcp = {{ congestion_control = \"cubic\", hystart = \"plus-plus\" }}",
            paths.join(", "),
            self.start
        );
        if self.voice {
            text += "[connections.voice]\nfrom = \"server\"\nto = \"client\"\nprotocol = \"udp\"\n\
                     application = { kind = \"constant-rate\", rate = \"64 kbit/s\", packet_size = \"160 B\" }\n";
        }
        text
    }

    fn run(&self, seed: u64) -> Outcome {
        let scenario = load(&self.text(), None, &[]).unwrap_or_else(|error| panic!("{error}"));
        let options = RunOptions { seed: Some(seed), series: true, ..Default::default() };
        run(&scenario, &options).unwrap_or_else(|error| panic!("{error}"))
    }
}

impl Line {
    /// The line, with routers of its own at its ends if others use it, and hosts behind them.
    fn write(self, text: &mut String, place: usize) {
        let ends = if self.beside == 0 {
            ["hub".to_owned(), "cpe".to_owned()]
        } else {
            ["a", "b"].map(|end| format!("{end}{place}"))
        };
        let _ = writeln!(
            text,
            "[links.line{place}]\nbetween = [\"{}\", \"{}\"]\nrate = \"{} Mbit/s\"\ndelay = \"{} ms\"\nqueue = \"{} packets\"",
            ends[0],
            ends[1],
            self.mbps,
            self.rtt_ms / 2.0,
            self.packets
        );
        if self.beside == 0 {
            return;
        }
        let _ = writeln!(text, "[routers.a{place}]\n[routers.b{place}]\n[hosts.x{place}]\n[hosts.y{place}]");
        let links = [("in", "hub", "a"), ("out", "cpe", "b"), ("from", "x", "a"), ("to", "y", "b")];
        for (name, far, near) in links {
            let far = if far.len() == 1 { format!("{far}{place}") } else { far.to_owned() };
            let _ = writeln!(
                text,
                "[links.{name}{place}]\nbetween = [\"{far}\", \"{near}{place}\"]\ndelay = \"0.05 ms\"\nrate = \"10 Gbit/s\"\nqueue = \"10000 packets\""
            );
        }
        for flow in 0..self.beside {
            let _ = writeln!(
                text,
                "[connections.beside{place}-{flow}]\nfrom = \"x{place}\"\nto = \"y{place}\"\ntcp = {{ congestion_control = \"cubic\", hystart = \"plus-plus\" }}"
            );
        }
    }

    fn path(self, place: usize) -> String {
        if self.beside == 0 {
            return format!("\"line{place}\"");
        }
        format!("{{ link = \"in{place}\", via = [\"line{place}\", \"out{place}\"] }}")
    }
}

/// Mbit/s of the flow between two times, from the bond's packets: 1448 octets of data in 1500.
fn rate(outcome: &Outcome, from: u32, to: u32) -> f64 {
    let whole = outcome
        .bonds
        .iter()
        .position(|row| row.direction == "hub->cpe" && row.path.is_none())
        .expect("a bond") as u32;
    let inside = |time: f64| time > f64::from(from) && time <= f64::from(to);
    let samples =
        outcome.bond_series.iter().filter(|sample| sample.row == whole && inside(sample.time.as_secs_f64()));
    samples.map(|sample| sample.received_mbps).sum::<f64>() / f64::from(to - from) * 1448.0 / 1500.0
}

fn goodput(outcome: &Outcome, name: &str) -> f64 {
    outcome.connections.iter().filter(|row| row.name.starts_with(name)).map(|row| row.goodput_mbps).sum()
}

/// Runs all, on all cores, and returns what is measured of each in their order.
fn each<T: Send>(scenes: &[(Scene, u64)], measure: impl Fn(&Outcome, &Scene) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    scope(|threads| {
        for _ in 0..available_parallelism().map_or(1, usize::from) {
            threads.spawn(|| {
                while let Some((scene, seed)) = scenes.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let place =
                        scenes.iter().position(|(other, _)| std::ptr::eq(other, scene)).expect("its own");
                    let measured = measure(&scene.run(*seed), scene);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((place, measured));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, measured)| measured).collect()
}

fn pairs() -> [(&'static str, Vec<Line>); 3] {
    [
        ("64, a bond of one path", vec![DSL]),
        ("64 + 10, 13/80 ms", vec![DSL, line(10.0, 80.0)]),
        ("64 + 60, 13/80 ms", vec![DSL, line(60.0, 80.0)]),
    ]
}

fn long() {
    println!(
        "600 s, one CUBIC flow\n\n| lines | first minute | last five | best line through the tunnel |\n|---|---|---|---|"
    );
    for (name, lines) in pairs() {
        let scene = Scene::new(&lines, 600);
        let rates = each(&[(scene.clone(), 1), (scene.alone(0), 1)], |outcome, _| {
            (rate(outcome, 0, 60), rate(outcome, 300, 600))
        });
        println!("| {name} | {:.1} | {:.1} | {:.1} |", rates[0].0, rates[0].1, rates[1].1);
    }
}

fn silence() {
    println!(
        "\n300 s of silence, then a minute of one CUBIC flow\n\n| lines | without | after silence |\n|---|---|---|"
    );
    for (name, lines) in pairs() {
        let scene = Scene::new(&lines, 60);
        let quiet = Scene { start: 300, seconds: 360, ..scene.clone() };
        let rates =
            each(&[(scene, 1), (quiet, 1)], |outcome, scene| rate(outcome, scene.start, scene.seconds));
        println!("| {name} | {:.1} | {:.1} |", rates[0], rates[1]);
    }
}

/// Mbit/s of the flow inside, and of those beside.
type Shares = (f64, f64);

/// Beside one CUBIC flow on each line: the bond's flow, over what the flow gets of the best line beside the same.
fn cross() {
    println!(
        "\nOne CUBIC flow beside on each of 64 + 60 (13/35 ms), 120 s, mean of three seeds\n\n| buffer (packets) | bond's flow | best line | ratio | beside |\n|---|---|---|---|---|"
    );
    for packets in [50, 100, 200, 250, 400, 1000] {
        let lines = [DSL, line(60.0, 35.0)].map(|line| Line { packets, beside: 1, ..line });
        let scene = Scene::new(&lines, 120);
        let scenes: Vec<_> = (1..=3)
            .flat_map(|seed| [scene.clone(), scene.alone(0), scene.alone(1)].map(|scene| (scene, seed)))
            .collect();
        let rates = each(&scenes, |outcome, _| (goodput(outcome, "flow"), goodput(outcome, "beside")));
        let mean = |of: &dyn Fn(&[Shares]) -> f64| rates.chunks(3).map(of).sum::<f64>() / 3.0;
        let (bond, best) = (mean(&|runs| runs[0].0), mean(&|runs| runs[1].0.max(runs[2].0)));
        println!(
            "| {packets} | {bond:.1} | {best:.1} | {:.2} | {:.1} |",
            bond / best,
            mean(&|runs| runs[0].1)
        );
    }
}

fn clocks() {
    println!("\nA gateway's clock, 64 + 60 (13/35 ms), 600 s\n\n| clock | flow |\n|---|---|");
    let kinds = [
        "",
        "clock = { drift = 50 }",
        "clock = { drift = -50 }",
        "clock = { offset = \"1000 s\" }",
        "clock = { steps = [{ at = \"300 s\", by = \"100 ms\" }] }",
    ];
    let scene = |keys| Scene { gateway: keys, ..Scene::new(&[DSL, line(60.0, 35.0)], 600) };
    let rates = each(&kinds.map(|keys| (scene(keys), 1)), |outcome, _| goodput(outcome, "flow"));
    kinds.iter().zip(rates).for_each(|(keys, rate)| println!("| `{keys}` | {rate:.1} |"));
}

fn voice() {
    println!(
        "\n50 packets a second beside one CUBIC flow, buffers of 1000 packets: 99th percentile of the delay above the shortest line's, ms\n\n| lines | bond | best line alone |\n|---|---|---|"
    );
    for (name, mut lines) in pairs() {
        lines.iter_mut().for_each(|line| line.packets = 1000);
        let scene = Scene { voice: true, ..Scene::new(&lines, 30) };
        let base = lines.iter().map(|line| line.rtt_ms / 2.0).fold(f64::MAX, f64::min) + 0.2;
        let late = each(&[(scene.clone(), 1), (scene.alone(0), 1)], |outcome, _| {
            let voice =
                outcome.connections.iter().find(|row| row.name == "voice").and_then(|row| row.datagrams);
            voice.and_then(|counts| counts.delay_p99_ms).unwrap_or(f64::INFINITY) - base
        });
        println!("| {name} | {:.1} | {:.1} |", late[0], late[1]);
    }
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let tables: [(&str, fn()); 5] =
        [("long", long), ("silence", silence), ("cross", cross), ("clocks", clocks), ("voice", voice)];
    let known = |name: &String| tables.iter().any(|(table, _)| table == name);
    if let Some(unknown) = wanted.iter().find(|name| !known(name)) {
        eprintln!("no table {unknown}");
        std::process::exit(2);
    }
    tables
        .iter()
        .filter(|(name, _)| wanted.is_empty() || wanted.iter().any(|one| one == name))
        .for_each(|(_, table)| table());
}
