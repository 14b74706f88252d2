//! The gates, and their cases.

mod bulk;
mod changes;
mod clocks;
mod cost;
mod cross;
mod home;
mod marks;
mod voice;

use crate::case::{Case, Finding, Judge, Run, Scale};
use crate::draw::{Draw, Drawing};
use crate::scene::Line;
use std::path::Path;

/// What families are drawn with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting<'a> {
    /// Which cases.
    pub(crate) drawing: Drawing,
    /// How many.
    pub(crate) scale: Scale,
    /// The scheduler of the bonds, where a gate does not have its own.
    pub(crate) scheduler: &'a str,
    /// So many of each gate instead: of the whole cases no more than there are, of short ones as many as are asked for.
    pub(crate) count: Option<usize>,
    /// Recorded lines.
    pub(crate) traces: Option<&'a Path>,
}

impl Setting<'_> {
    fn count(&self, own: usize) -> usize {
        match (self.count, self.scale) {
            (None, _) => own,
            (Some(asked), Scale::Quick) => asked,
            (Some(asked), Scale::Whole) => own.min(asked),
        }
    }
}

/// All cases, by gate.
pub(crate) fn all(setting: &Setting<'_>) -> Vec<Case> {
    let mut cases = Vec::new();
    bulk::cases(setting, &mut cases);
    cross::cases(setting, &mut cases);
    clocks::cases(setting, &mut cases);
    changes::cases(setting, &mut cases);
    voice::cases(setting, &mut cases);
    marks::cases(setting, &mut cases);
    cost::cases(setting, &mut cases);
    home::cases(setting, &mut cases);
    cases
}

/// Draws the cases of a gate.
fn each(
    setting: &Setting<'_>,
    cases: &mut Vec<Case>,
    gate: &'static str,
    count: usize,
    mut draw: impl FnMut(&mut Draw, usize) -> (String, Vec<Run>, Judge),
) {
    for number in 0..setting.count(count) {
        let (what, runs, judge) = draw(&mut Draw::new(setting.drawing, gate, number), number);
        cases.push(Case { gate, number, what, runs, judge });
    }
}

/// The control of a TCP flow, as scenarios spell it.
const CONTROLS: [&str; 3] = ["cubic", "newreno", "bbr"];

/// A TCP flow without an end. Its slow start ends by HyStart++: Linux's takes the ACKs of two lines for a full one, whoever bonds them.
fn bulk_keys(control: &str, start: f64) -> String {
    let hystart = if control == "bbr" { "" } else { ", hystart = \"plus-plus\"" };
    format!("start = \"{start} s\"\ntcp = {{ congestion_control = \"{control}\"{hystart} }}")
}

/// Datagrams at a constant rate of their own packets, headers included, until just before the end: the last of them arrive.
fn datagram_keys(packets_mbps: f64, duration: f64) -> String {
    let payload = packets_mbps * 1400.0 / 1428.0;
    format!(
        "protocol = \"udp\"\napplication = {{ kind = \"constant-rate\", rate = \"{payload:.4} Mbit/s\", \
         packet_size = \"1400 B\", duration = \"{duration} s\" }}"
    )
}

/// So much of the lines' rate, in Mbit/s of datagrams inside: each has the tunnel's headers on the line.
fn within(mbps: f64, part: f64) -> f64 {
    mbps * part * 1428.0 / 1476.0
}

/// Mbit/s, ms and buffer of each line.
fn describe(lines: &[Line]) -> String {
    let one = |line: &Line| {
        let changes = if line.changes.is_empty() { "" } else { " changing" };
        let kind = match (&line.traces, line.is_wireless) {
            (Some([down, _]), _) => down.rsplit('/').next().unwrap_or(down).to_owned(),
            (None, true) => "802.11b".to_owned(),
            (None, false) => format!("{}", line.mbps),
        };
        let queue = line.queue.replace("\" packets\"", "").replace(['"', '{', '}'], "");
        let keys = line.keys.join(" ");
        format!("{kind} Mbit/s {} ms {} {keys}{changes}", line.rtt_ms, queue.trim()).trim().to_owned()
    };
    lines.iter().map(one).collect::<Vec<_>>().join(" + ")
}

/// What a bond may lose of datagrams within capacity, in so many outages of 0.3 s.
fn outages(count: f64, duration: f64) -> f64 {
    0.001 + 0.3 * count / duration
}

/// Bars that every flow over a bond has.
fn as_the_best(records: &[crate::measure::Record]) -> Vec<Finding> {
    vec![Finding::least("of the best line", crate::case::ratio(records), 0.95)]
}
