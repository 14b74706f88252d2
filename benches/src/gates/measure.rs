//! One run, and the numbers that are kept of it.

use ropewalk_bonding::Tuning;
use ropewalk_scenario::{BondSeriesRow, ConnectionRow, Outcome, RunOptions, load, run};
use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What is kept of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Why there is nothing else.
    pub(crate) error: Option<String>,
    /// Events of the engine.
    pub(crate) events: u64,
    /// Flows, inside and beside.
    pub(crate) flows: Vec<Flow>,
    /// Lines, by name and direction.
    pub(crate) lines: Vec<LineUse>,
    /// Paths of the bond, in each direction.
    pub(crate) paths: Vec<PathUse>,
}

/// A flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Flow {
    /// Its name.
    pub(crate) name: String,
    /// Goodput, Mbit/s.
    pub(crate) mbps: f64,
    /// Datagrams sent and received.
    pub(crate) datagrams: Option<(u64, u64)>,
    /// 99th percentile of their delay, ms.
    pub(crate) p99_ms: Option<f64>,
    /// Mean smoothed round trip of its sender, ms.
    pub(crate) srtt_ms: Option<f64>,
    /// Longest time between two samples without an octet, after the first octet, s.
    pub(crate) stall_s: f64,
    /// Goodput in each second, from its start, Mbit/s.
    pub(crate) seconds: Vec<f32>,
}

/// One direction of a line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct LineUse {
    /// Its name.
    pub(crate) name: String,
    /// Is it the direction to the client?
    pub(crate) is_forward: bool,
    /// Packets that came to it.
    pub(crate) offered: u64,
    /// Of them dropped by its queue.
    pub(crate) drops: u64,
    /// Octets that it transmitted.
    pub(crate) bytes: u64,
}

/// One direction of a path of the bond.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PathUse {
    /// The line that it begins with.
    pub(crate) path: String,
    /// Is it the direction to the client?
    pub(crate) is_forward: bool,
    /// Octets that came by it, without the tunnel's headers.
    pub(crate) bytes: u64,
    /// The same in each second, Mbit/s.
    pub(crate) seconds: Vec<f32>,
}

impl Record {
    /// Goodput of all flows inside towards the client.
    pub(crate) fn inside_mbps(&self) -> f64 {
        self.flows.iter().filter(|flow| flow.name.starts_with("flow")).map(|flow| flow.mbps).sum()
    }

    /// A flow by name; one of no octets if the run failed.
    pub(crate) fn flow(&self, name: &str) -> Flow {
        self.flows.iter().find(|flow| flow.name == name).cloned().unwrap_or_default()
    }

    /// Longest stall of a flow inside, s. Without a run it never ends.
    pub(crate) fn stall_s(&self) -> f64 {
        let inside = self.flows.iter().filter(|flow| flow.name.starts_with("flow"));
        inside
            .map(|flow| flow.stall_s)
            .fold(if self.flows.is_empty() { f64::INFINITY } else { 0.0 }, f64::max)
    }

    /// Part of its datagrams that a flow lost.
    pub(crate) fn loss(&self, name: &str) -> f64 {
        let (sent, received) = self.flow(name).datagrams.unwrap_or((1, 0));
        sent.saturating_sub(received) as f64 / sent.max(1) as f64
    }

    /// Part of what came to the lines that their queues dropped, to the client.
    pub(crate) fn drops(&self) -> f64 {
        let lines = || self.lines.iter().filter(|line| line.is_forward);
        lines().map(|line| line.drops).sum::<u64>() as f64
            / lines().map(|line| line.offered).sum::<u64>().max(1) as f64
    }

    /// A path towards the client.
    pub(crate) fn path(&self, name: &str) -> PathUse {
        let mut paths = self.paths.iter();
        paths.find(|path| path.path == name && path.is_forward).cloned().unwrap_or_default()
    }

    /// Goodput of all flows inside from one second of theirs to another, Mbit/s.
    pub(crate) fn mean_between(&self, from: usize, to: usize) -> f64 {
        let inside = self.flows.iter().filter(|flow| flow.name.starts_with("flow"));
        inside
            .map(|flow| flow.seconds.iter().take(to).skip(from).map(|&v| f64::from(v)).sum::<f64>())
            .sum::<f64>()
            / (to - from) as f64
    }
}

/// Runs a scenario; what goes wrong is told in the record.
pub(crate) fn measure(text: &str) -> Record {
    measure_tuned(text, &Tuning::default())
}

/// The same with bonds that have other values than their own.
pub(crate) fn measure_tuned(text: &str, tuning: &Tuning) -> Record {
    let failed = |error: String| Record { error: Some(error), ..Record::default() };
    let mut scenario = match load(text, None, &[]) {
        Ok(scenario) => scenario,
        Err(error) => return failed(error.to_string()),
    };
    scenario.tune_bonds(tuning);
    let options = RunOptions { series: true, ..RunOptions::default() };
    match catch_unwind(AssertUnwindSafe(|| run(&scenario, &options))) {
        Ok(Ok(outcome)) => record(&outcome),
        Ok(Err(error)) => failed(error.to_string()),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            failed(format!(
                "panicked: {}",
                text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("?")
            ))
        }
    }
}

/// What each direction of a bond counted, and its paths each second.
pub(crate) fn detail(text: &str) -> String {
    let options = RunOptions { series: true, ..RunOptions::default() };
    let Some(outcome) = load(text, None, &[]).ok().and_then(|scenario| run(&scenario, &options).ok()) else {
        return "failed".into();
    };
    let rows = outcome.bonds.iter().map(|row| format!("{row:?}"));
    let each_second = |sample: &&BondSeriesRow| sample.time.as_nanos().is_multiple_of(1_000_000_000);
    let samples = outcome.bond_series.iter().filter(each_second).map(|sample| format!("{sample:?}"));
    rows.chain(samples).collect::<Vec<_>>().join("\n")
}

fn record(outcome: &Outcome) -> Record {
    let flows = outcome.connections.iter().enumerate();
    let lines = outcome.links.iter().filter(|row| row.name.starts_with("line"));
    let line = |row: &ropewalk_scenario::LinkRow| LineUse {
        name: row.name.clone(),
        is_forward: row.direction.ends_with("cpe") || row.direction.contains("->b"),
        offered: row.offered,
        drops: row.drops_queue,
        bytes: row.bytes,
    };
    let paths = outcome.bonds.iter().enumerate().filter(|(_, row)| row.path.is_some());
    let path = |(index, row): (usize, &ropewalk_scenario::BondRow)| PathUse {
        path: row.path.clone().unwrap_or_default(),
        is_forward: row.direction.ends_with("cpe"),
        bytes: row.traffic.received_bytes,
        seconds: path_seconds(&outcome.bond_series, index as u32),
    };
    Record {
        error: None,
        events: outcome.events,
        flows: flows.map(|(index, row)| flow(outcome, index as u32, row)).collect(),
        lines: lines.map(line).collect(),
        paths: paths.map(path).collect(),
    }
}

fn flow(outcome: &Outcome, index: u32, row: &ConnectionRow) -> Flow {
    let start = row.start.as_secs_f64();
    let of_it = || outcome.series.iter().filter(move |sample| sample.connection == index);
    let whole = of_it().filter(|sample| sample.subflow.is_none());
    let samples: Vec<(f64, f64)> =
        whole.map(|sample| (sample.time.as_secs_f64() - start, sample.throughput_mbps)).collect();
    let (sum, count) = of_it()
        .filter_map(|sample| sample.subflow.as_ref()?.srtt_ms)
        .fold((0.0, 0_u32), |(sum, count), srtt| (sum + srtt, count + 1));
    Flow {
        name: row.name.clone(),
        mbps: row.goodput_mbps,
        datagrams: row.datagrams.map(|counts| (counts.sent, counts.received)),
        p99_ms: row.datagrams.and_then(|counts| counts.delay_p99_ms),
        srtt_ms: (count > 0).then(|| sum / f64::from(count)),
        stall_s: longest_stall(&samples, row),
        seconds: seconds(samples.into_iter()),
    }
}

/// The longest time without an octet, after the first one and until the application is done.
fn longest_stall(samples: &[(f64, f64)], row: &ConnectionRow) -> f64 {
    let Some(first) = samples.iter().position(|&(_, mbps)| mbps > 0.0) else { return f64::MAX };
    let end = row.end.map_or(f64::INFINITY, |end| end.as_secs_f64() - row.start.as_secs_f64());
    let (mut last, mut longest) = (samples[first].0, 0.0_f64);
    for &(time, mbps) in samples[first..].iter().filter(|&&(time, _)| time <= end) {
        // Octets came somewhere in the interval that ends here.
        let silent = if mbps > 0.0 { 0.0 } else { time - last };
        longest = longest.max(silent);
        if mbps > 0.0 {
            last = time;
        }
    }
    longest
}

/// Means of each second.
fn seconds(samples: impl Iterator<Item = (f64, f64)>) -> Vec<f32> {
    let mut sums: Vec<(f64, u32)> = Vec::new();
    for (time, mbps) in samples {
        let second = (time - 1e-6).max(0.0) as usize;
        if sums.len() <= second {
            sums.resize(second + 1, (0.0, 0));
        }
        sums[second].0 += mbps;
        sums[second].1 += 1;
    }
    let mean = |&(sum, count): &(f64, u32)| (libm::round(sum / f64::from(count.max(1)) * 1e3) / 1e3) as f32;
    sums.iter().map(mean).collect()
}

fn path_seconds(series: &[BondSeriesRow], row: u32) -> Vec<f32> {
    let of_it = series.iter().filter(|sample| sample.row == row);
    seconds(of_it.map(|sample| (sample.time.as_secs_f64(), sample.received_mbps)))
}
