//! Lines as homes have them: less upwards than downwards, and traffic both ways.

use super::{CONTROLS, Setting, bulk_keys, each};
use crate::case::{Case, Finding, Judge, Run, beside_each_line};
use crate::draw::Draw;
use crate::measure::Record;
use crate::scene::{Line, Scene};

pub(super) fn cases(setting: &Setting<'_>, cases: &mut Vec<Case>) {
    each(setting, cases, "two-ways", setting.scale.count(2, 40), |draw, _| two_ways(draw, setting));
    each(setting, cases, "upload-beside", setting.scale.count(1, 40), |draw, _| upload_beside(draw, setting));
    each(setting, cases, "slow-uplinks", setting.scale.count(1, 40), |draw, _| slow_uplinks(draw, setting));
}

/// DSL, cable or a phone's line: one to twenty times as much downwards as upwards.
fn line(draw: &mut Draw) -> Line {
    let mut line =
        Line::new(draw.log_between(4.0, 200.0), draw.log_between(6.0, 80.0), draw.log_count(20, 1000));
    let upwards = (line.mbps / draw.log_between(1.0, 20.0)).max(0.5);
    line.back_mbps = Some(libm::round(upwards * 100.0) / 100.0);
    line
}

/// Flows downwards, upwards, or both.
fn two_ways(draw: &mut Draw, setting: &Setting<'_>) -> (String, Vec<Run>, Judge) {
    let lines = vec![line(draw), line(draw)];
    let mut scene = Scene::new(setting.scale.seconds(30.0, 90.0), draw.seed(), lines);
    let (ways, flows, control) =
        (draw.pick(&["down", "up", "both", "both"]), draw.pick(&[1, 4]), draw.pick(&CONTROLS));
    for flow in 0..flows {
        if ways != "up" {
            scene.inside.push((format!("flow{flow}"), bulk_keys(control, 0.0)));
        }
        if ways != "down" {
            scene.upwards.push((format!("up{flow}"), bulk_keys(control, 0.0)));
        }
    }
    let what = format!("{}; {flows} {control} {ways}", describe(&scene.lines));
    let judge = move |records: &[Record]| ways_findings(records, ways);
    (what, beside_each_line(&scene, setting.scheduler), Box::new(judge))
}

fn ways_findings(records: &[Record], ways: &str) -> Vec<Finding> {
    let down = (ways != "up").then_some(("downwards, of the best line", "flow"));
    let up = (ways != "down").then_some(("upwards, of the best line", "up"));
    let finding = |(bar, flows)| Finding::least(bar, of_the_best(records, flows), 0.95);
    down.into_iter().chain(up).map(finding).collect()
}

/// What flows have through the bond of what they have by the line that is best for them.
fn of_the_best(records: &[Record], flows: &str) -> f64 {
    let mbps = |record: &Record| -> f64 {
        record.flows.iter().filter(|flow| flow.name.starts_with(flows)).map(|flow| flow.mbps).sum()
    };
    mbps(&records[0]) / records[1..].iter().map(mbps).fold(0.0, f64::max)
}

/// A flow downwards inside; others of the house fill one line or both upwards, outside the bond.
fn upload_beside(draw: &mut Draw, setting: &Setting<'_>) -> (String, Vec<Run>, Judge) {
    let mut lines = vec![line(draw), line(draw)];
    let (outside, place) = (draw.log_count(1, 4), draw.pick(&[None, Some(0), Some(1)]));
    for (index, line) in lines.iter_mut().enumerate() {
        if place.is_none_or(|only| only == index) {
            line.cross_back = (0..outside).map(|_| bulk_keys("cubic", 0.0)).collect();
        }
    }
    let mut scene = Scene::new(setting.scale.seconds(30.0, 90.0), draw.seed(), lines);
    let control = draw.pick(&CONTROLS);
    scene.inside.push(("flow0".into(), bulk_keys(control, 5.0)));
    let what =
        format!("{}; 1 {control} down, {outside} CUBIC up beside on {place:?}", describe(&scene.lines));
    let judge = |records: &[Record]| {
        vec![
            Finding::least("downwards, of the best line", of_the_best(records, "flow"), 0.95),
            Finding::shown("lines drop", records[0].drops()),
        ]
    };
    (what, beside_each_line(&scene, setting.scheduler), Box::new(judge))
}

/// Flows downwards over lines that carry so little upwards that acknowledgements fill them: five to forty times as much downwards.
fn slow_uplinks(draw: &mut Draw, setting: &Setting<'_>) -> (String, Vec<Run>, Judge) {
    let lines = vec![slow_line(draw), slow_line(draw)];
    let mut scene = Scene::new(setting.scale.seconds(30.0, 60.0), draw.seed(), lines);
    let (flows, control) = (draw.pick(&[1, 1, 4]), draw.pick(&CONTROLS));
    for flow in 0..flows {
        scene.inside.push((format!("flow{flow}"), bulk_keys(control, 0.0)));
    }
    let what = format!("{}; {flows} {control} down", describe(&scene.lines));
    let judge = |records: &[Record]| {
        vec![Finding::least("downwards, of the best line", of_the_best(records, "flow"), 0.95)]
    };
    (what, beside_each_line(&scene, setting.scheduler), Box::new(judge))
}

/// Long DSL, or a phone's line at the edge of its cell.
fn slow_line(draw: &mut Draw) -> Line {
    let upwards = draw.log_between(0.2, 2.0);
    let downwards = libm::round(upwards * draw.log_between(5.0, 40.0) * 100.0) / 100.0;
    let mut line = Line::new(downwards, draw.log_between(6.0, 120.0), draw.log_count(50, 400));
    line.back_mbps = Some(upwards);
    line
}

fn describe(lines: &[Line]) -> String {
    let one = |line: &Line| {
        format!(
            "{}/{} Mbit/s {} ms {}",
            line.mbps,
            line.back_mbps.unwrap_or(line.mbps),
            line.rtt_ms,
            line.queue.replace('"', "")
        )
    };
    lines.iter().map(one).collect::<Vec<_>>().join(" + ")
}
