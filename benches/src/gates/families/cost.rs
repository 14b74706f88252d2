//! Cost-first: how little goes by the dearer line.

use super::{Setting, bulk_keys, datagram_keys, describe, each, within};
use crate::case::{Case, Finding, Judge, Run};
use crate::draw::Draw;
use crate::measure::Record;
use crate::scene::{Line, Scene, Tunnel};

/// Octets that an idle dearer line may carry in a day.
const IDLE_DAY: f64 = 20e6;

pub(super) fn cases(setting: &Setting<'_>, cases: &mut Vec<Case>) {
    let scale = setting.scale;
    each(setting, cases, "cost-below", scale.count(2, 20), |draw, _| below(draw, setting));
    each(setting, cases, "cost-beyond", scale.count(1, 20), |draw, _| beyond(draw, setting));
    each(setting, cases, "cost-tcp", scale.count(1, 20), |draw, _| tcp(draw, setting));
    each(setting, cases, "cost-idle", scale.count(1, 4), |draw, number| idle(draw, number, setting));
}

fn lines(draw: &mut Draw) -> Vec<Line> {
    let line = |draw: &mut Draw, low, high| {
        Line::new(draw.log_between(low, high), draw.log_between(8.0, 80.0), draw.log_count(50, 400))
    };
    vec![line(draw, 5.0, 100.0), line(draw, 5.0, 60.0)]
}

/// Part of the octets that went by the dearer line.
fn dear(record: &Record) -> f64 {
    let [cheap, dear] = ["line0", "line1"].map(|name| record.path(name).bytes as f64);
    dear / (cheap + dear)
}

fn scene(draw: &mut Draw, duration: f64) -> Scene {
    let mut scene = Scene::new(duration, draw.seed(), lines(draw));
    scene.has_costs = true;
    scene
}

fn cost_first(scene: &Scene) -> Run {
    Run::new(scene, Tunnel::Bond("cost-first"))
}

fn below(draw: &mut Draw, setting: &Setting<'_>) -> (String, Vec<Run>, Judge) {
    let duration = setting.scale.seconds(30.0, 90.0);
    let mut scene = scene(draw, duration);
    let part = draw.between(0.2, 0.9);
    let keys = datagram_keys(within(scene.lines[0].mbps, part), duration - 1.0);
    scene.inside.push(("flow0".into(), keys));
    let judge = |records: &[Record]| {
        vec![
            Finding::most("part by the dearer line", dear(&records[0]), 0.01),
            Finding::most("datagrams lost", records[0].loss("flow0"), 0.001),
        ]
    };
    (
        format!("{}; datagrams {part:.2} of the cheap line", describe(&scene.lines)),
        vec![cost_first(&scene)],
        Box::new(judge),
    )
}

fn beyond(draw: &mut Draw, setting: &Setting<'_>) -> (String, Vec<Run>, Judge) {
    let duration = setting.scale.seconds(30.0, 90.0);
    let mut scene = scene(draw, duration);
    let [cheap, dearer] = [0, 1].map(|line| scene.lines[line].mbps);
    let offered = cheap + draw.between(0.1, 0.8) * dearer;
    scene.inside.push(("flow0".into(), datagram_keys(within(offered, 1.0), duration - 1.0)));
    let least = 1.0 - cheap / offered;
    let judge = move |records: &[Record]| {
        vec![
            Finding::most("beyond the least possible part", (dear(&records[0]) - least).abs(), 0.03),
            Finding::most("datagrams lost", records[0].loss("flow0"), 0.005),
        ]
    };
    (format!("{}; {offered:.1} Mbit/s", describe(&scene.lines)), vec![cost_first(&scene)], Box::new(judge))
}

fn tcp(draw: &mut Draw, setting: &Setting<'_>) -> (String, Vec<Run>, Judge) {
    let mut scene = scene(draw, setting.scale.seconds(30.0, 120.0));
    let control = draw.pick(&super::CONTROLS);
    scene.inside.push(("flow0".into(), bulk_keys(control, 0.0)));
    let runs = vec![cost_first(&scene), Run::new(&scene, Tunnel::Bond("rate-aware"))];
    let judge = |records: &[Record]| {
        vec![Finding::least("TCP of rate-aware", records[0].inside_mbps() / records[1].inside_mbps(), 0.95)]
    };
    (format!("{}; {control}", describe(&scene.lines)), runs, Box::new(judge))
}

/// Nothing inside but a datagram a second, or a third of what the cheap line carries.
fn idle(draw: &mut Draw, number: usize, setting: &Setting<'_>) -> (String, Vec<Run>, Judge) {
    let duration = setting.scale.seconds(120.0, 1200.0);
    let mut scene = scene(draw, duration);
    let mbps = if number.is_multiple_of(2) { 0.0115 } else { scene.lines[0].mbps / 3.0 };
    scene.sample_ms = 1000;
    scene.inside.push(("flow0".into(), datagram_keys(mbps, duration - 1.0)));
    let judge = move |records: &[Record]| {
        let of_it = records[0].lines.iter().filter(|line| line.name == "line1");
        let bytes: u64 = of_it.map(|line| line.bytes).sum();
        let a_day = bytes as f64 * 86_400.0 / duration;
        let a_day = if records[0].lines.is_empty() { f64::INFINITY } else { a_day };
        vec![Finding::most("a day by the idle dearer line, of 20 MB", a_day / IDLE_DAY, 1.0)]
    };
    (format!("{}; {mbps:.3} Mbit/s", describe(&scene.lines)), vec![cost_first(&scene)], Box::new(judge))
}
