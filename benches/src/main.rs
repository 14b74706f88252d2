//! Packet-hops per second of CPU time, on one core, without a trace listener.
//!
//! Each simulation is built and run once to warm up and then some times more, and the best run counts: on a shared machine the least
//! disturbed run is the one that measures the program. A packet-hop is a data packet or an ACK that was delivered over one link. Beside
//! them stands the time that a 4-ary heap with 1 000 pending events takes per hold on this machine, so that figures of different machines
//! can be compared. Less time (`--duration`) is for tools that count instructions and slow everything down.

mod heap;

use clap::{Parser, ValueEnum};
use ropewalk_scenario::{RunOptions, load, run};
use rustix::time::{ClockId, clock_gettime};
use std::fmt::Write;

/// CPU time of this process so far, in seconds, to the nanosecond. Time that the machine gives to others does not count.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Greatest resident memory of this process so far, in MB.
fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has /proc");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("VmHWM");
    let kilobytes: f64 = line.split_whitespace().nth(1).and_then(|t| t.parse().ok()).expect("a number");
    kilobytes / 1e3
}

/// Eight client/server pairs behind two routers.
fn dumbbell() -> String {
    let mut text = String::from(
        "[scenario]\nname = \"bench-dumbbell\"\nduration = \"10 s\"\nseed = 1\n[tcp]\npreset = \"linux\"\n\
         [routers.r1]\n[routers.r2]\n[links.bottleneck]\nbetween = [\"r1\", \"r2\"]\nrate = \"1 Gbit/s\"\n\
         delay = \"20 ms\"\nqueue = { discipline = \"drop-tail\", limit = \"1000 packets\" }\n",
    );
    for k in 1..=8 {
        for (host, router) in [("c", "r1"), ("s", "r2")] {
            write!(
                text,
                "[hosts.{host}{k}]\n[links.{host}{k}]\nbetween = [\"{host}{k}\", \"{router}\"]\n\
                 rate = \"10 Gbit/s\"\ndelay = \"10 us\"\n\
                 queue = {{ discipline = \"drop-tail\", limit = \"1000 packets\" }}\n"
            )
            .expect("a String takes everything");
        }
        write!(
            text,
            "[connections.f{k}]\nprotocol = \"tcp\"\nfrom = \"c{k}\"\nto = \"s{k}\"\n\
             application = {{ kind = \"bulk\" }}\n"
        )
        .expect("a String takes everything");
    }
    text
}

/// What was given does not fit.
fn refuse(message: &str) -> ! {
    eprintln!("{message}");
    std::process::exit(2)
}

/// Runs one scenario and prints its line.
fn measure(name: &str, source: &str, duration: Option<&str>, repeat: u32) {
    let duration = duration.map(|time| ("scenario.duration".to_owned(), format!("\"{time}\"")));
    let overrides: Vec<(String, String)> = duration.into_iter().collect();
    let scenario = load(source, None, &overrides).unwrap_or_else(|error| refuse(&error.to_string()));
    let mut best = f64::INFINITY;
    let mut hops = 0;
    let mut events = 0;
    for _ in 0..=repeat {
        let before = cpu_seconds();
        let outcome = run(&scenario, &RunOptions::default()).expect("benchmarks run to their end");
        best = best.min(cpu_seconds() - before);
        hops = outcome.links.iter().map(|link| link.delivered).sum::<u64>();
        events = outcome.events;
    }
    println!(
        "{name:<10} {:>9.3} M packet-hops {best:>7.4} s CPU {:>7.2} M packet-hops/s {:>6.2} events/hop {:>6.1} MB peak",
        hops as f64 / 1e6,
        hops as f64 / 1e6 / best,
        events as f64 / hops as f64,
        peak_megabytes(),
    );
}

/// Runs a short scenario again and again, and prints its line: the mean time of a run, not counting the first.
fn measure_short(name: &str, source: &str, overrides: &[(&str, &str)], repeat: u32) {
    let own = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
    let overrides: Vec<(String, String)> = overrides.iter().map(own).collect();
    let scenario = load(source, None, &overrides).unwrap_or_else(|error| refuse(&error.to_string()));
    let outcome = run(&scenario, &RunOptions::default()).expect("benchmarks run to their end");
    let runs = 10 * repeat.max(1);
    let before = cpu_seconds();
    for _ in 0..runs {
        run(&scenario, &RunOptions::default()).expect("benchmarks run to their end");
    }
    let seconds = (cpu_seconds() - before) / f64::from(runs);
    let frames: u64 = outcome.radios.iter().map(|radio| radio.stats.data_sent + radio.stats.acks_sent).sum();
    println!(
        "{name:<12} {:>8.3} k frames {seconds:>9.4} s CPU {:>8.2} M events {:>7.3} Mbit/s {:>6.1} MB peak",
        frames as f64 / 1e3,
        outcome.events as f64 / 1e6,
        outcome.connections[0].goodput_mbps,
        peak_megabytes(),
    );
}

const THOUSAND: &str = include_str!("../scenarios/thousand.toml");
const FAT_TREE: &str = include_str!("../scenarios/fat-tree.toml");
const WIFI_CHAIN: &str = include_str!("../scenarios/wifi-chain.toml");
const WIFI_MESH: &str = include_str!("../scenarios/wifi-mesh.toml");
const SINGLE: &str = include_str!("../scenarios/single.toml");
const MULTIPATH: &str = include_str!("../scenarios/multipath.toml");
/// The two-radio diamond: 20 MB of Multipath TCP.
const DIAMOND: &str = include_str!("../../scenarios/diamond.toml");

/// Packet-hops per second of CPU time, the best of some runs.
#[derive(Parser)]
struct Arguments {
    /// What to run; all, if none is named.
    benchmarks: Vec<Benchmark>,
    /// Runs after the first. `thousand` has one at most.
    #[arg(long, default_value_t = 3)]
    repeat: u32,
    /// Simulated time of each run, as "0.5 s"; the scenarios' own, if not given. It is not for `diamond` and the meshes.
    #[arg(long, value_name = "TIME")]
    duration: Option<String>,
}

/// The largest comes first: a peak of memory never falls again.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Benchmark {
    /// A textbook 4-ary heap, which makes machines comparable.
    Heap,
    /// A thousand TCP flows.
    Thousand,
    /// Multipath TCP in a fat tree.
    FatTree,
    /// 20 MB of Multipath TCP over a diamond of two radios.
    Diamond,
    /// A chain of radios.
    WifiChain,
    /// A mesh of radios.
    WifiMesh,
    /// One TCP flow.
    Single,
    /// One Multipath TCP connection over two paths.
    Multipath,
    /// TCP flows that share a link.
    Dumbbell,
}

impl Benchmark {
    fn run(self, duration: Option<&str>, repeat: u32) {
        match self {
            Self::Heap => {
                println!("4-ary heap, 1 000 pending events: {:.1} ns per hold", heap::nanoseconds_per_hold());
            }
            Self::Thousand => measure("thousand", THOUSAND, duration, repeat.min(1)),
            Self::FatTree => measure("fat-tree", FAT_TREE, duration, repeat),
            Self::Diamond => measure_short("diamond", DIAMOND, &[("wifi.routes.b.channel", "6")], repeat),
            Self::WifiChain => measure_short("wifi-chain", WIFI_CHAIN, &[], repeat),
            Self::WifiMesh => measure_short("wifi-mesh", WIFI_MESH, &[], repeat),
            Self::Single => measure("single", SINGLE, duration, repeat),
            Self::Multipath => measure("multipath", MULTIPATH, duration, repeat),
            Self::Dumbbell => measure("dumbbell", &dumbbell(), duration, repeat),
        }
    }
}

fn main() {
    let Arguments { benchmarks, repeat, duration } = Arguments::parse();
    for &benchmark in Benchmark::value_variants() {
        if benchmarks.is_empty() || benchmarks.contains(&benchmark) {
            benchmark.run(duration.as_deref(), repeat);
        }
    }
}
