//! Others on the lines: TCP flows, and datagrams that do not slow down.

use super::{Setting, bulk_keys, datagram_keys, describe, each};
use crate::case::{Case, Finding, Judge, Run, beside_each_line, best, ratio};
use crate::draw::Draw;
use crate::measure::Record;
use crate::scene::{Line, Scene, Tunnel};

pub(super) fn cases(setting: &Setting<'_>, cases: &mut Vec<Case>) {
    let scale = setting.scale;
    each(setting, cases, "cross-tcp", scale.count(4, 220), |draw, number| tcp(draw, number, setting));
    each(setting, cases, "cross-tcp-four", scale.count(0, 20), |draw, number| {
        let (what, mut runs, _) = tcp(draw, number, setting);
        for run in &mut runs {
            // Three more like the one inside.
            let one =
                run.text.find("[connections.flow0]").map(|at| run.text[at..].to_owned()).unwrap_or_default();
            (1..4).for_each(|flow| run.text.push_str(&one.replace("flow0", &format!("flow{flow}"))));
        }
        (what, runs, Box::new(|records: &[Record]| vec![Finding::shown("of the best line", ratio(records))]))
    });
    each(setting, cases, "cross-udp", scale.count(2, 40), |draw, _| udp(draw, setting));
}

/// 64 + 60, 64 + 10 and 20 random pairs, ten times each: the case's number says which.
fn pair(draw: &mut Draw, setting: &Setting<'_>, number: usize) -> [Line; 2] {
    let line = |mbps, rtt| Line::new(mbps, rtt, 100);
    match number % 22 {
        0 => [line(64.0, 13.0), line(60.0, 35.0)],
        1 => [line(64.0, 13.0), line(10.0, 80.0)],
        pair => {
            // The same lines in all ten cases; what else is drawn is the case's own.
            let lines = &mut Draw::new(setting.drawing, "cross-pair", pair);
            let _ = draw.chance(0.5);
            [(); 2].map(|()| Line::new(lines.log_between(3.0, 100.0), lines.log_between(6.0, 100.0), 100))
        }
    }
}

fn queue(draw: &mut Draw) -> (u32, String) {
    let packets = draw.log_count(20, 1000);
    match draw.pick(&["drop-tail", "drop-tail", "codel", "fq-codel"]) {
        "drop-tail" => (packets, format!("\"{packets} packets\"")),
        discipline => {
            (packets, format!("{{ discipline = \"{discipline}\", limit = \"{packets} packets\" }}"))
        }
    }
}

fn tcp(draw: &mut Draw, number: usize, setting: &Setting<'_>) -> (String, Vec<Run>, Judge) {
    let mut lines = pair(draw, setting, number);
    let (packets, queue) = queue(draw);
    let outside = draw.log_count(1, 4);
    let place = draw.pick(&[None, None, Some(0), Some(1)]);
    for (index, line) in lines.iter_mut().enumerate() {
        line.queue.clone_from(&queue);
        if place.is_none_or(|only| only == index) {
            line.cross = (0..outside).map(|_| bulk_keys("cubic", 0.0)).collect();
        }
    }
    let duration = setting.scale.seconds(40.0, 120.0);
    let mut scene = Scene::new(duration, draw.seed(), lines.to_vec());
    // Those outside are there before.
    scene.inside.push(("flow0".into(), bulk_keys("cubic", 5.0)));
    let with: Vec<usize> = (0..2).filter(|&line| !scene.lines[line].cross.is_empty()).collect();
    let what = format!("{}; {outside} CUBIC outside on lines {with:?}", describe(&scene.lines));
    let judge = move |records: &[Record]| tcp_findings(records, packets, &with);
    (what, beside_each_line(&scene, setting.scheduler), Box::new(judge))
}

fn tcp_findings(records: &[Record], packets: u32, with: &[usize]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_deep = packets > 400;
    findings.push(match is_deep {
        true => Finding::shown("of the best line, over 400 packets", ratio(records)),
        false => Finding::least("of the best line", ratio(records), 0.85),
    });
    for &line in with {
        let share = share(&records[0], line);
        if is_deep {
            findings.push(Finding::least("share over 400 packets", share, 0.3));
        } else {
            findings.push(Finding::least("share", share, 0.5));
            findings.push(Finding::most("share, most", share, 2.0));
        }
    }
    findings
}

/// What the bond carries on a line over what one of the flows beside it gets.
fn share(record: &Record, line: usize) -> f64 {
    let beside: Vec<f64> = {
        let name = format!("cross{line}-");
        record.flows.iter().filter(|flow| flow.name.starts_with(&name)).map(|flow| flow.mbps).collect()
    };
    let path = record.path(&format!("in{line}"));
    let seconds = record.flow("flow0").seconds.len().max(1) as f64;
    // Packets of 1500 octets have 1448 of data, as those of the others.
    let own = path.bytes as f64 * 8e-6 / seconds * (1448.0 / 1500.0);
    own / (beside.iter().sum::<f64>() / beside.len() as f64)
}

fn udp(draw: &mut Draw, setting: &Setting<'_>) -> (String, Vec<Run>, Judge) {
    let duration = setting.scale.seconds(30.0, 90.0);
    let draw_line =
        |draw: &mut Draw| Line::new(draw.log_between(5.0, 100.0), draw.log_between(6.0, 100.0), 100);
    let mut lines = [draw_line(draw), draw_line(draw)];
    let queue = format!("\"{} packets\"", draw.log_count(50, 400));
    let place = draw.pick(&[None, Some(0), Some(1)]);
    let is_on_off = draw.chance(0.5);
    let part = draw.between(0.1, 0.7);
    for (index, line) in lines.iter_mut().enumerate() {
        line.queue.clone_from(&queue);
        if place.is_none_or(|only| only == index) {
            line.cross = vec![beside(part * line.mbps, is_on_off, duration)];
        }
    }
    let mut scene = Scene::new(duration, draw.seed(), lines.to_vec());
    let control = draw.pick(&["cubic", "newreno", "bbr"]);
    scene.inside.push(("flow0".into(), bulk_keys(control, 0.0)));
    let kind = if is_on_off { "on/off" } else { "constant" };
    let what =
        format!("{}; {control} inside, {kind} UDP {part:.2} of lines {place:?}", describe(&scene.lines));
    let mut runs = beside_each_line(&scene, setting.scheduler);
    runs.push(Run::new(&scene, Tunnel::None));
    let with: Vec<usize> = (0..2).filter(|&line| !scene.lines[line].cross.is_empty()).collect();
    let judge = move |records: &[Record]| {
        let (alone, beside) = records.split_last().expect("a run without a bond");
        let mut findings = vec![Finding::least("of the best line", ratio(beside), 0.95)];
        findings.push(Finding::shown("the best line, Mbit/s", best(beside).inside_mbps()));
        for line in &with {
            let name = format!("cross{line}-0");
            let more = |other: &Record| records[0].loss(&name) - other.loss(&name);
            findings.push(Finding::most("more loss of the others", more(alone), 0.01));
            findings.push(Finding::shown("the same, the line's own TCP aside", more(&records[1 + line])));
        }
        findings
    };
    (what, runs, Box::new(judge))
}

fn beside(mbps: f64, is_on_off: bool, duration: f64) -> String {
    if !is_on_off {
        return datagram_keys(mbps, duration - 1.0);
    }
    format!(
        "protocol = \"udp\"\napplication = {{ kind = \"on-off\", rate = \"{mbps:.4} Mbit/s\", packet_size = \"1400 B\", \
         on = \"2 s\", off = {{ distribution = \"exponential\", mean = \"2 s\" }}, duration = \"{} s\" }}",
        duration - 1.0
    )
}
