//! Long transfers: random pairs and triples, bonds of one path, extreme rates, many paths, a satellite.

use super::{CONTROLS, Setting, as_the_best, bulk_keys, describe, each};
use crate::case::{Ask, Case, Finding, Judge, Run, Scale, beside_each_line, best, ratio};
use crate::draw::Draw;
use crate::measure::Record;
use crate::scene::{Line, Scene};

pub(super) fn cases(setting: &Setting<'_>, cases: &mut Vec<Case>) {
    let scale = setting.scale;
    let long = scale.seconds(60.0, 600.0);
    for (gate, lines, quick, whole) in
        [("long-one", 1, 2, 20), ("long-pairs", 2, 5, 200), ("long-triples", 3, 1, 50)]
    {
        each(setting, cases, gate, scale.count(quick, whole), |draw, _| {
            let lines = (0..lines).map(|_| usual_line(draw)).collect();
            transfer(draw, setting, lines, long)
        });
    }
    each(setting, cases, "rates", scale.count(2, 16), |draw, _| {
        let most = if scale == Scale::Quick { 200.0 } else { 1000.0 };
        let lines = (0..2).map(|_| line_between(draw, 0.25, most)).collect();
        transfer(draw, setting, lines, scale.seconds(20.0, 120.0))
    });
    each(setting, cases, "many-paths", scale.count(1, 12), |draw, _| {
        let count = draw.log_count(2, 8);
        let lines = (0..count).map(|_| line_between(draw, 1.0, 100.0)).collect();
        transfer(draw, setting, lines, scale.seconds(30.0, 120.0))
    });
    each(setting, cases, "geo-dsl", scale.count(1, 8), |draw, _| {
        let geo = Line::new(draw.log_between(5.0, 50.0), 600.0, draw.log_count(100, 1000));
        let dsl =
            Line::new(draw.log_between(2.0, 50.0), draw.log_between(8.0, 40.0), draw.log_count(50, 400));
        transfer(draw, setting, vec![geo, dsl], scale.seconds(60.0, 300.0))
    });
}

/// A home's line: 1 to 300 Mbit/s, 4 to 150 ms, buffers of 20 to 1 000 packets, and one of five loses 0.01 to 1 % at random.
fn usual_line(draw: &mut Draw) -> Line {
    let mut line = line_between(draw, 1.0, 300.0);
    if draw.chance(0.2) {
        line.keys.push(format!("loss = \"{} %\"", draw.log_between(0.01, 1.0)));
    }
    line
}

fn line_between(draw: &mut Draw, low: f64, high: f64) -> Line {
    Line::new(draw.log_between(low, high), draw.log_between(4.0, 150.0), draw.log_count(20, 1000))
}

/// One or four flows for so long, or a tenth of it where the lines have over 200 Mbit/s; half of them after silence.
fn transfer(
    draw: &mut Draw,
    setting: &Setting<'_>,
    lines: Vec<Line>,
    long: f64,
) -> (String, Vec<Run>, Judge) {
    let is_fast = lines.iter().map(|line| line.mbps).sum::<f64>() > 200.0;
    let length = if is_fast { (long / 10.0).max(20.0).max(60.0_f64.min(long)) } else { long };
    let control = draw.pick(&CONTROLS);
    let flows = draw.pick(&[1, 4]);
    let silence = if draw.chance(0.5) { setting.scale.seconds(30.0, 600.0) } else { 0.0 };
    let mut scene = Scene::new(silence + length, draw.seed(), lines);
    for flow in 0..flows {
        scene.inside.push((format!("flow{flow}"), bulk_keys(control, silence)));
    }
    let what = format!("{}; {flows} {control}, {length} s after {silence} s", describe(&scene.lines));
    let is_lossless = scene.lines.iter().all(|line| line.keys.is_empty());
    let count = scene.lines.len();
    let judge = move |records: &[Record]| judge(records, count, is_lossless, length);
    (what, beside_each_line(&scene, setting.scheduler), Box::new(judge))
}

fn judge(records: &[Record], lines: usize, is_lossless: bool, length: f64) -> Vec<Finding> {
    let mut findings = as_the_best(records);
    if lines == 2 {
        let mean = Finding { bar: "mean of all, two lines", value: ratio(records), ask: Ask::MeanLeast(1.3) };
        findings.push(mean);
    }
    if length >= 600.0 {
        let (first, last) = (records[0].mean_between(0, 300), records[0].mean_between(300, 600));
        findings.push(Finding::least("last five minutes of the first five", last / first, 0.98));
    }
    if is_lossless {
        findings.push(Finding::most("part that lines drop", records[0].drops(), 0.001));
    }
    let srtt = |record: &Record| record.flow("flow0").srtt_ms.unwrap_or(f64::NAN);
    findings.push(Finding::shown("round trip, ms", srtt(&records[0])));
    findings.push(Finding::shown("round trip, best line, ms", srtt(best(records))));
    findings
}
