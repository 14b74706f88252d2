//! Clocks that differ, drift and jump; nodes that are late.

use super::{Setting, bulk_keys, datagram_keys, describe, each, within};
use crate::case::{Case, Finding, Judge, Run, Scale, beside_each_line, best, ratio};
use crate::draw::Draw;
use crate::measure::Record;
use crate::scene::{Line, Scene, Tunnel};

pub(super) fn cases(setting: &Setting<'_>, cases: &mut Vec<Case>) {
    let scale = setting.scale;
    each(setting, cases, "clocks", scale.count(3, 24), |draw, number| clock(draw, number, setting));
    each(setting, cases, "hours", scale.count(0, 8), |draw, number| hour(draw, number, setting));
    each(setting, cases, "late", scale.count(2, 20), |draw, number| late(draw, number, setting));
}

fn lines(draw: &mut Draw) -> Vec<Line> {
    let line = |draw: &mut Draw| {
        Line::new(draw.log_between(5.0, 64.0), draw.log_between(8.0, 100.0), draw.log_count(50, 400))
    };
    vec![line(draw), line(draw)]
}

/// A clock, and how long it is watched.
fn clock_of(draw: &mut Draw, number: usize, scale: Scale) -> (String, f64) {
    let sign = draw.pick(&["", "-"]);
    let minute = scale.seconds(30.0, 120.0);
    match number % 6 {
        0 => (format!("drift = {sign}50"), scale.seconds(60.0, 1800.0)),
        1 => (format!("drift = {sign}500"), scale.seconds(30.0, 300.0)),
        2 => (format!("offset = \"{} s\"", draw.log_between(0.001, 1e7)), minute),
        kind => {
            let far = ["10", "100", "1000"][kind - 3];
            let step = format!("steps = [{{ at = \"{} s\", by = \"{sign}{far} ms\" }}]", minute / 2.0);
            (step, minute)
        }
    }
}

fn clock(draw: &mut Draw, number: usize, setting: &Setting<'_>) -> (String, Vec<Run>, Judge) {
    // The quick set has a drift, an offset and a step of 100 ms.
    let number = if setting.scale == Scale::Quick { [1, 2, 4][number % 3] } else { number };
    let (keys, duration) = clock_of(draw, number, setting.scale);
    let mut truth = Scene::new(duration, draw.seed(), lines(draw));
    truth.sample_ms = if duration > 600.0 { 100 } else { 20 };
    let part = draw.between(0.5, 0.85);
    let side = draw.pick(&[0, 1]);
    let skew = |scene: &Scene| {
        let mut scene = scene.clone();
        scene.nodes[side] = format!("clock = {{ {keys} }}");
        scene
    };
    let mut datagrams = truth.clone();
    let sum: f64 = truth.lines.iter().map(|line| line.mbps).sum();
    datagrams.inside.push(("flow0".into(), datagram_keys(within(sum, part), duration - 1.0)));
    truth.inside.push(("flow0".into(), bulk_keys("cubic", 0.0)));
    let bond = |scene: &Scene| Run::new(scene, Tunnel::Bond(setting.scheduler));
    let runs = vec![bond(&truth), bond(&skew(&truth)), bond(&datagrams), bond(&skew(&datagrams))];
    let end = ["hub", "cpe"][side];
    let what = format!("{}; {end}: {keys}; datagrams {part:.2}", describe(&truth.lines));
    (what, runs, Box::new(clock_findings))
}

fn clock_findings(records: &[Record]) -> Vec<Finding> {
    let [truth, skewed, datagrams, skewed_datagrams] = records else { return Vec::new() };
    vec![
        Finding::least("TCP of true clocks", skewed.inside_mbps() / truth.inside_mbps(), 0.97),
        Finding::most("TCP stall, s", skewed.stall_s(), truth.stall_s().max(0.3)),
        Finding::most("datagrams lost", skewed_datagrams.loss("flow0"), 0.001),
        Finding::most("datagrams stall, s", skewed_datagrams.stall_s(), 0.3),
        Finding::shown("datagrams lost, true clocks", datagrams.loss("flow0")),
    ]
}

/// An hour with clocks that drift apart; in every second case others of the house fill one uplink or both meanwhile.
fn hour(draw: &mut Draw, number: usize, setting: &Setting<'_>) -> (String, Vec<Run>, Judge) {
    let mut lines = lines(draw);
    let (drift, side) = (draw.log_between(5.0, 100.0), draw.pick(&[0, 1]));
    let (sign, place) = (["", "-"][number / 2 % 2], draw.pick(&[None, Some(0), Some(1)]));
    let with_uploads = number % 2 == 1;
    for (index, line) in lines.iter_mut().enumerate() {
        line.back_mbps = Some(libm::round(line.mbps / draw.log_between(1.0, 10.0) * 100.0) / 100.0);
        if with_uploads && place.is_none_or(|only| only == index) {
            line.cross_back = vec![bulk_keys("cubic", 0.0)];
        }
    }
    let mut scene = Scene::new(setting.scale.seconds(60.0, 3600.0), draw.seed(), lines);
    scene.sample_ms = 100;
    scene.nodes[side] = format!("clock = {{ drift = {sign}{drift:.0} }}");
    scene.inside.push(("flow0".into(), bulk_keys("cubic", 5.0)));
    let uploads = if with_uploads { format!("; CUBIC up beside on {place:?}") } else { String::new() };
    let what =
        format!("{}; {}: {}{uploads}", describe(&scene.lines), ["hub", "cpe"][side], scene.nodes[side]);
    (what, beside_each_line(&scene, setting.scheduler), Box::new(hour_findings))
}

fn hour_findings(records: &[Record]) -> Vec<Finding> {
    let seconds = records[0].flow("flow0").seconds.len().max(120);
    let five = (seconds / 2).min(300);
    let (first, last) = (records[0].mean_between(0, five), records[0].mean_between(seconds - five, seconds));
    let minutes = (0..seconds / 60).map(|minute| records[0].mean_between(minute * 60, minute * 60 + 60));
    vec![
        Finding::least("of the best line", ratio(records), 0.95),
        Finding::least("last five minutes of the first five", last / first, 0.98),
        Finding::least(
            "the worst minute of the mean",
            minutes.fold(f64::INFINITY, f64::min) / records[0].inside_mbps(),
            0.9,
        ),
    ]
}

fn late(draw: &mut Draw, number: usize, setting: &Setting<'_>) -> (String, Vec<Run>, Judge) {
    let keys = [
        "jitter = { timers = \"5 ms\" }",
        "jitter = { arrivals = \"5 ms\" }",
        "jitter = { coalesce = \"1 ms\" }",
        "jitter = { timers = \"5 ms\", arrivals = \"5 ms\", coalesce = \"1 ms\" }",
        "jitter = { coalesce = \"5 ms\", coalesce_bytes = \"64 kB\" }",
    ][number % 5];
    let mut scene = Scene::new(setting.scale.seconds(30.0, 120.0), draw.seed(), lines(draw));
    scene.inside.push(("flow0".into(), bulk_keys(draw.pick(&super::CONTROLS), 0.0)));
    let mut delayed = scene.clone();
    delayed.nodes[0] = keys.to_owned();
    // A burst comes to the hub alone; all else is wrong with both gateways.
    if !keys.contains("coalesce_bytes") {
        delayed.nodes[1] = keys.to_owned();
    }
    let what = format!("{}; {}; {keys}", describe(&scene.lines), scene.inside[0].1.replace('\n', " "));
    let runs = [&scene, &delayed].map(|scene| beside_each_line(scene, setting.scheduler)).concat();
    (what, runs, Box::new(late_findings))
}

/// The bond and each line alone, with punctual gateways and then with late ones. A flow loses by late gateways whatever tunnel it
/// goes through.
fn late_findings(records: &[Record]) -> Vec<Finding> {
    let (punctual, late) = records.split_at(records.len() / 2);
    let (best_punctual, best_late) = (best(punctual).inside_mbps(), best(late).inside_mbps());
    vec![
        Finding::least("of a punctual gateway", late[0].inside_mbps() / punctual[0].inside_mbps(), 0.97),
        Finding::least("of the best line, as late", ratio(late), 0.95),
        Finding::shown("the best line's, of a punctual gateway", best_late / best_punctual),
    ]
}
