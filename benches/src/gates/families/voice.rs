//! A call beside bulk.

use super::{CONTROLS, Setting, bulk_keys, describe, each};
use crate::case::{Case, Finding, Judge, Run, beside_each_line};
use crate::draw::Draw;
use crate::measure::Record;
use crate::scene::{Line, Scene};

/// 50 packets a second of 160 octets.
const VOICE: &str = "protocol = \"udp\"\napplication = { kind = \"constant-rate\", rate = \"64 kbit/s\", packet_size = \"160 B\" }";

pub(super) fn cases(setting: &Setting<'_>, cases: &mut Vec<Case>) {
    each(setting, cases, "voice", setting.scale.count(3, 40), |draw, _| voice(draw, setting));
}

fn voice(draw: &mut Draw, setting: &Setting<'_>) -> (String, Vec<Run>, Judge) {
    let line = |draw: &mut Draw| {
        let mut line =
            Line::new(draw.log_between(2.0, 100.0), draw.log_between(6.0, 80.0), draw.log_count(50, 1000));
        if draw.chance(0.2) {
            line.queue = "\"fq-codel\"".to_owned();
        }
        line
    };
    let lines = vec![line(draw), line(draw)];
    let duration = setting.scale.seconds(30.0, 90.0);
    let mut scene = Scene::new(duration, draw.seed(), lines);
    let (flows, control) = (draw.pick(&[1, 4]), draw.pick(&CONTROLS));
    scene.inside.push(("voice".into(), VOICE.to_owned()));
    for flow in 0..flows {
        scene.inside.push((format!("flow{flow}"), bulk_keys(control, 0.0)));
    }
    let base = scene.lines.iter().map(|line| line.rtt_ms / 2.0).fold(f64::MAX, f64::min) + 0.2;
    // Lines below 5 Mbit/s may take two full packets' time more: 1548 octets each.
    let slowest = scene.lines.iter().map(|line| line.mbps).fold(f64::MAX, f64::min);
    let more = if slowest < 5.0 { 2.0 * 1548.0 * 8e-3 / slowest } else { 0.0 };
    let what = format!("{}; {flows} {control}", describe(&scene.lines));
    let judge = move |records: &[Record]| {
        let p99 = |record: &Record| record.flow("voice").p99_ms.unwrap_or(f64::INFINITY) - base;
        let alone = records[1..].iter().map(p99).fold(f64::INFINITY, f64::min);
        vec![
            Finding::most("delay above the base, less two slow packets, ms", p99(&records[0]) - more, 15.0),
            Finding::shown("delay above the base, one line alone, ms", alone),
            Finding::most("voice lost", records[0].loss("voice"), 0.01),
        ]
    };
    (what, beside_each_line(&scene, setting.scheduler), Box::new(judge))
}
