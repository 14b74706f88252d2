//! The gateway's bars, measured on this machine: hub and site in namespaces, shaped lines between them. Needs root and `ip`.
//!
//! `make gateway-bars` builds all that it needs and runs all of them. Each value is the median of three runs. Of minutes (`--seconds 600`) choose
//! single bars: wireguard-go, if it is installed, runs as long.

#![expect(clippy::disallowed_methods, reason = "it measures other processes in real time")]

mod alone;
mod beside;
mod cost;
mod death;
mod lines;
mod memory;
mod tunnel;
mod wireguard;

use clap::Parser;
use std::io;
use std::time::Duration;

/// Measures the gateway.
#[derive(Parser)]
struct Arguments {
    /// Only the bar of this name, or those whose names contain this.
    #[arg(default_value = "")]
    only: String,
    /// Seconds of each measurement.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Runs of each, of which the median is told.
    #[arg(long, default_value_t = 3)]
    runs: usize,
}

/// One value of a measurement.
pub(crate) struct Value {
    pub(crate) what: &'static str,
    /// `None`: what would be measured is not installed.
    pub(crate) got: Option<f64>,
    pub(crate) bar: Bar,
}

/// What is asked of a value.
#[derive(Clone, Copy)]
pub(crate) enum Bar {
    Most(f64),
    Least(f64),
    /// From the first to the second.
    Within(f64, f64),
    /// It is told, not judged.
    None,
}

impl Value {
    pub(crate) const fn new(what: &'static str, got: f64, bar: Bar) -> Self {
        Self { what, got: Some(got), bar }
    }

    /// A value of wireguard-go.
    pub(crate) const fn of(what: &'static str, got: Option<f64>) -> Self {
        Self { what, got, bar: Bar::None }
    }

    pub(crate) const fn absent(what: &'static str) -> Self {
        Self::of(what, None)
    }
}

type Measure = fn(Duration) -> io::Result<Vec<Value>>;

const BARS: [(&str, Measure); 21] = [
    // First: it tells what this process grows by, and later it would use what others have freed.
    ("a hub with 200 sites", memory::two_hundred),
    ("start to the first packet", lines::first_packet),
    ("cost-first, 50 Mbit/s", lines::cost_first_50),
    ("cost-first, 80 Mbit/s", lines::cost_first_80),
    ("one TCP flow", lines::one_flow),
    ("one TCP flow with this machine's usual control", lines::one_flow_usual),
    ("one line bad, one TCP flow", lines::one_bad),
    ("one line bad, one TCP flow with this machine's usual control", lines::one_bad_usual),
    ("one TCP flow beside a CUBIC flow on each line", beside::one_flow),
    ("one line bad, one TCP flow beside a CUBIC flow on each line", beside::one_bad),
    ("cost-first, 50 Mbit/s, beside a CUBIC flow on each line", beside::cost_first_50),
    ("cost-first, 80 Mbit/s, beside a CUBIC flow on each line", beside::cost_first_80),
    ("acknowledgements by slow lines", lines::slow_back),
    ("110 Mbit/s of UDP", lines::udp_110),
    ("a line dies in the middle", death::dies_in_the_middle),
    ("a line dies at the far end", death::dies_far),
    ("a line dies at the near end", death::dies_near),
    ("voice beside bulk", lines::voice),
    ("cost of UDP packets", cost::packets),
    ("cost of a TCP flow", cost::stream),
    ("queues of the TUN interface", cost::queues),
];

fn main() -> io::Result<()> {
    let Arguments { only, seconds, runs } = Arguments::parse();
    println!("| test | value | median of {runs} | bar | |\n|---|---|---|---|---|");
    for (name, measure) in chosen(&only) {
        match median(measure, Duration::from_secs(seconds), runs) {
            Ok(values) => values.iter().for_each(|value| row(name, value)),
            Err(error) => println!("| {name} | {error} | | | |"),
        }
    }
    Ok(())
}

fn chosen(only: &str) -> impl Iterator<Item = (&'static str, Measure)> {
    let is_a_name = BARS.iter().any(|&(name, _)| name == only);
    BARS.into_iter().filter(move |&(name, _)| if is_a_name { name == only } else { name.contains(only) })
}

fn median(measure: Measure, duration: Duration, runs: usize) -> io::Result<Vec<Value>> {
    let mut runs = (0..runs).map(|_| measure(duration)).collect::<io::Result<Vec<_>>>()?;
    let mut values = runs.pop().unwrap_or_default();
    for (place, value) in values.iter_mut().enumerate() {
        let others = runs.iter().filter_map(|run| run.get(place)?.got);
        let mut all = others.chain(value.got).collect::<Vec<_>>();
        all.sort_by(f64::total_cmp);
        value.got = all.get(all.len() / 2).copied();
    }
    Ok(values)
}

fn row(name: &str, value: &Value) {
    let Some(got) = value.got else {
        println!("| {name} | {} | | | not installed: `{}` |", value.what, wireguard::INSTALL);
        return;
    };
    let (bar, is_kept) = match value.bar {
        Bar::Most(most) => (format!("≤ {most}"), got <= most),
        Bar::Least(least) => (format!("≥ {least}"), got >= least),
        Bar::Within(least, most) => (format!("{least} to {most}"), (least..=most).contains(&got)),
        Bar::None => (String::new(), true),
    };
    let mark = if is_kept { "" } else { "missed" };
    println!("| {name} | {} | {got:.2} | {bar} | {mark} |", value.what);
}

#[cfg(test)]
mod tests {
    use super::chosen;

    #[test]
    fn a_name_chooses_one_bar_and_a_part_of_names_chooses_several() {
        assert_eq!(chosen("one TCP flow").map(|(name, _)| name).collect::<Vec<_>>(), ["one TCP flow"]);
        assert_eq!(chosen("a line dies").count(), 3);
        assert_eq!(chosen("nothing like this").count(), 0);
    }
}
