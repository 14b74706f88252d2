//! Lines that change or lose: steps, walks, flaps, deaths, reordering, bursts, recorded lines, radio.

use super::{CONTROLS, Setting, as_the_best, bulk_keys, datagram_keys, describe, each, outages, within};
use crate::case::{Case, Finding, Judge, Run, beside_each_line, best, ratio};
use crate::draw::Draw;
use crate::measure::Record;
use crate::scene::{Line, Scene};
use std::path::Path;

/// What happens to a scene's lines, and how much of the time nothing can get through for want of a path.
struct Event {
    what: &'static str,
    /// Octets per second that the lines carry at all times, as Mbit/s.
    capacity: f64,
    /// Deaths that datagrams meet; each may cost 0.3 s.
    outages: f64,
    /// No line at all, s.
    dark: f64,
}

pub(super) fn cases(setting: &Setting<'_>, cases: &mut Vec<Case>) {
    let scale = setting.scale;
    each(setting, cases, "steps", scale.count(2, 24), |draw, _| changed(draw, setting, steps));
    each(setting, cases, "walks", scale.count(1, 16), |draw, _| changed(draw, setting, walks));
    each(setting, cases, "flaps", scale.count(1, 16), |draw, _| changed(draw, setting, flaps));
    each(setting, cases, "slow-death", scale.count(1, 12), |draw, _| changed(draw, setting, slow_death));
    each(setting, cases, "both-dead", scale.count(1, 8), |draw, _| changed(draw, setting, both_dead));
    each(setting, cases, "short-queues", scale.count(1, 12), |draw, _| changed(draw, setting, short_queues));
    each(setting, cases, "reordering", scale.count(1, 12), |draw, _| changed(draw, setting, reordering));
    each(setting, cases, "bursts", scale.count(1, 24), |draw, _| changed(draw, setting, bursts));
    each(setting, cases, "half-dead", scale.count(1, 12), |draw, _| half_dead(draw, setting));
    each(setting, cases, "radio", scale.count(1, 6), |draw, _| {
        let mut radio = Line::new(5.5, 1.0, draw.log_count(50, 400));
        radio.is_wireless = true;
        beside_dsl(draw, setting, radio)
    });
    let Some(traces) = setting.traces else { return };
    each(setting, cases, "recorded", scale.count(1, 16), |draw, _| {
        let line = recorded(draw, traces);
        beside_dsl(draw, setting, line)
    });
}

fn home_lines(draw: &mut Draw) -> Vec<Line> {
    let line = |draw: &mut Draw| {
        Line::new(draw.log_between(5.0, 80.0), draw.log_between(8.0, 80.0), draw.log_count(50, 400))
    };
    vec![line(draw), line(draw)]
}

/// One TCP flow, and in runs of their own datagrams within what the lines always carry.
fn changed(
    draw: &mut Draw,
    setting: &Setting<'_>,
    happen: fn(&mut Draw, &mut [Line], f64) -> Event,
) -> (String, Vec<Run>, Judge) {
    let duration = setting.scale.seconds(40.0, 120.0);
    let mut scene = Scene::new(duration, draw.seed(), home_lines(draw));
    let event = happen(draw, &mut scene.lines, duration);
    scene.sample_ms = 50;
    let control = draw.pick(&CONTROLS);
    let part = draw.between(0.3, 0.85);
    let mut datagrams = scene.clone();
    datagrams.inside.push(("flow0".into(), datagram_keys(within(event.capacity, part), duration - 1.0)));
    scene.inside.push(("flow0".into(), bulk_keys(control, 0.0)));
    let mut runs = beside_each_line(&scene, setting.scheduler);
    runs.extend(beside_each_line(&datagrams, setting.scheduler).into_iter().take(1));
    let what = format!("{}; {}; {control}; datagrams {part:.2}", describe(&scene.lines), event.what);
    let may_lose = outages(event.outages, duration) + event.dark / duration;
    let judge = move |records: &[Record]| {
        let (datagrams, flows) = records.split_last().expect("a run of datagrams");
        let mut findings = as_the_best(flows);
        findings.extend(stalls(flows));
        findings.push(Finding::most(
            "datagrams lost beyond what outages cost",
            datagrams.loss("flow0") - may_lose,
            0.0,
        ));
        findings
    };
    (what, runs, Box::new(judge))
}

/// A stall of the bond beyond that of the best line.
fn stalls(flows: &[Record]) -> Vec<Finding> {
    vec![Finding::most(
        "stall beyond that of the best line, s",
        flows[0].stall_s() - best(flows).stall_s(),
        0.5,
    )]
}

fn least_sum(lines: &[Line]) -> f64 {
    lines.iter().map(|line| line.mbps).sum()
}

/// Each line changes three times: its rate by up to four times, its delay, or a loss of up to 1 %.
fn steps(draw: &mut Draw, lines: &mut [Line], duration: f64) -> Event {
    let mut capacity = 0.0;
    for line in lines {
        let mut least = line.mbps;
        for number in 1..=3 {
            let at = duration * (f64::from(number) + draw.between(-0.3, 0.3)) / 4.0;
            let to = match draw.pick(&["rate", "delay", "loss"]) {
                "rate" => {
                    let mbps = line.mbps * draw.log_between(0.25, 1.0);
                    least = least.min(mbps);
                    format!("rate = \"{mbps:.3} Mbit/s\"")
                }
                "delay" => format!("delay = \"{:.2} ms\"", draw.log_between(4.0, 60.0)),
                _ => format!("loss = \"{} %\"", draw.log_between(0.01, 1.0)),
            };
            line.changes.push(format!("{{ at = \"{at:.3} s\", {to} }}"));
        }
        capacity += least;
    }
    // Each fall of a rate and each growth of a delay is met by what is under way.
    Event { what: "steps", capacity, outages: 0.0, dark: 0.0 }
}

/// The rate of each line goes up or down by a tenth every second, between a quarter of it and all.
fn walks(draw: &mut Draw, lines: &mut [Line], duration: f64) -> Event {
    let mut capacity = 0.0;
    for line in lines {
        let (mut part, mut least) = (1.0_f64, 1.0_f64);
        for second in 1..duration as u32 {
            part = (part * if draw.chance(0.5) { 1.1 } else { 0.9 }).clamp(0.25, 1.0);
            least = least.min(part);
            line.changes
                .push(format!("{{ at = \"{second} s\", rate = \"{:.3} Mbit/s\" }}", line.mbps * part));
        }
        capacity += least * line.mbps;
    }
    Event { what: "walks", capacity, outages: 0.0, dark: 0.0 }
}

/// One line goes and comes, for 0.3 to 5 s each.
fn flaps(draw: &mut Draw, lines: &mut [Line], duration: f64) -> Event {
    let which = draw.pick(&[0, 1]);
    let (mut at, mut deaths) = (3.0, 0.0);
    loop {
        let (down, up) = (draw.log_between(0.3, 5.0), draw.log_between(0.3, 5.0));
        if at + down + up > duration - 2.0 {
            break;
        }
        let mut change = |at: f64, state| {
            lines[which].changes.push(format!("{{ at = \"{at:.3} s\", state = \"{state}\" }}"));
        };
        change(at, "down");
        change(at + down, "up");
        at += down + up;
        deaths += 1.0;
    }
    Event { what: "flaps", capacity: lines[1 - which].mbps, outages: deaths, dark: 0.0 }
}

/// One line loses more and more for ten seconds, then all, and is whole again twenty seconds later.
fn slow_death(draw: &mut Draw, lines: &mut [Line], duration: f64) -> Event {
    let which = draw.pick(&[0, 1]);
    let begin = duration / 4.0;
    for step in 1..=20 {
        let at = begin + f64::from(step) * 0.5;
        lines[which].changes.push(format!("{{ at = \"{at} s\", loss = \"{} %\" }}", step * 5));
    }
    lines[which]
        .changes
        .push(format!("{{ at = \"{} s\", loss = \"none\" }}", (begin + 20.0).min(duration - 5.0)));
    // While it dies it carries between all and nothing; what it loses is the bond's to repair.
    Event { what: "slow death", capacity: lines[1 - which].mbps, outages: 1.0, dark: 0.0 }
}

/// Both are dead for three seconds.
fn both_dead(draw: &mut Draw, lines: &mut [Line], duration: f64) -> Event {
    let at = duration * draw.between(0.3, 0.6);
    for line in lines.iter_mut() {
        line.changes.push(format!("{{ at = \"{at:.3} s\", state = \"down\" }}"));
        line.changes.push(format!("{{ at = \"{:.3} s\", state = \"up\" }}", at + 3.0));
    }
    Event { what: "both dead for 3 s", capacity: least_sum(lines), outages: 1.0, dark: 3.0 }
}

/// Buffers of three packets.
fn short_queues(_: &mut Draw, lines: &mut [Line], _: f64) -> Event {
    lines.iter_mut().for_each(|line| line.queue = "\"3 packets\"".to_owned());
    // Datagrams of one size at one time apart need no buffer; those of a bond come as others leave.
    Event { what: "queues of 3", capacity: least_sum(lines), outages: 0.0, dark: 0.0 }
}

/// One line reorders what is 0.1 to 10 ms apart.
fn reordering(draw: &mut Draw, lines: &mut [Line], _: f64) -> Event {
    let which = draw.pick(&[0, 1]);
    let most = draw.log_between(0.1, 10.0);
    lines[which].keys.push(format!("jitter = \"{most} ms\"\nreorder = true"));
    Event { what: "reordering", capacity: least_sum(lines), outages: 0.0, dark: 0.0 }
}

/// One line loses in bursts of 3 to 20 packets on average, 0.05 to 1 % of them all. Longer ones outlast the packets on their way, and a line
/// that carries nothing but a keepalive now and then stays dead for as many of them.
fn bursts(draw: &mut Draw, lines: &mut [Line], _: f64) -> Event {
    let which = draw.pick(&[0, 1]);
    let (ends, part) = (1.0 / draw.log_between(3.0, 20.0), draw.log_between(0.05, 1.0) / 100.0);
    let begins = ends * part / (1.0 - part);
    lines[which].keys.push(format!(
        "loss = {{ model = \"gilbert-elliott\", good_to_bad = \"{:.5} %\", bad_to_good = \"{:.3} %\" }}",
        begins * 100.0,
        ends * 100.0
    ));
    Event { what: "bursts of losses", capacity: least_sum(lines), outages: 0.0, dark: 0.0 }
}

/// One direction of a line dies for a third of the time; the other one goes on carrying.
fn half_dead(draw: &mut Draw, setting: &Setting<'_>) -> (String, Vec<Run>, Judge) {
    let duration = setting.scale.seconds(40.0, 90.0);
    let mut scene = Scene::new(duration, draw.seed(), home_lines(draw));
    let which = draw.pick(&[0_usize, 1]);
    let is_way_back = draw.chance(0.5);
    let [from, to] = [duration / 3.0, duration * 2.0 / 3.0].map(libm::round);
    let direction = if is_way_back { "backward" } else { "forward" };
    for (at, state) in [(from, "100 %"), (to, "none")] {
        let change = format!("{{ at = \"{at} s\", direction = \"{direction}\", loss = \"{state}\" }}");
        scene.lines[which].changes.push(change);
    }
    let part = draw.between(0.3, 0.9);
    let rates = [0, 1].map(|line| scene.lines[line].mbps);
    let capacity = if is_way_back { rates[0] + rates[1] } else { rates[1 - which] };
    let mut datagrams = scene.clone();
    let offered = within(capacity, part);
    datagrams.inside.push(("flow0".into(), datagram_keys(offered, duration - 1.0)));
    scene.inside.push(("flow0".into(), bulk_keys(draw.pick(&CONTROLS), 0.0)));
    let mut runs = beside_each_line(&scene, setting.scheduler);
    runs.extend(beside_each_line(&datagrams, setting.scheduler).into_iter().take(1));
    let what = format!("{}; {direction} of line {which} dead; datagrams {part:.2}", describe(&scene.lines));
    let judge = move |records: &[Record]| {
        let (datagrams, flows) = records.split_last().expect("a run of datagrams");
        let may_lose = outages(if is_way_back { 0.0 } else { 1.0 }, duration);
        let mut findings = as_the_best(flows);
        findings.extend(stalls(flows));
        findings.push(Finding::most(
            "datagrams lost beyond what an outage costs",
            datagrams.loss("flow0") - may_lose,
            0.0,
        ));
        if is_way_back {
            let path = flows[0].path(&format!("line{which}"));
            let mean = |from: f64, to: f64| {
                let seconds = path.seconds.iter().take(to as usize).skip(from as usize);
                seconds.map(|&mbps| f64::from(mbps)).sum::<f64>() / (to - from)
            };
            let before = mean(5.0, from - 1.0).max(0.1);
            findings.push(Finding::least(
                "the live direction carries, of before",
                mean(from + 2.0, to) / before,
                0.5,
            ));
        }
        findings
    };
    (what, runs, Box::new(judge))
}

/// A fixed line of 5 to 80 Mbit/s beside this one.
fn beside_dsl(draw: &mut Draw, setting: &Setting<'_>, other: Line) -> (String, Vec<Run>, Judge) {
    let dsl = Line::new(draw.log_between(5.0, 80.0), draw.log_between(8.0, 40.0), draw.log_count(50, 400));
    let mut scene = Scene::new(setting.scale.seconds(30.0, 120.0), draw.seed(), vec![dsl, other]);
    let (flows, control) = (draw.pick(&[1, 4]), draw.pick(&CONTROLS));
    for flow in 0..flows {
        scene.inside.push((format!("flow{flow}"), bulk_keys(control, 0.0)));
    }
    let judge = |records: &[Record]| {
        let mut findings = vec![Finding::least("of the best line", ratio(records), 0.95)];
        findings.extend(stalls(records));
        findings.push(Finding::shown("the best line, Mbit/s", best(records).inside_mbps()));
        findings
    };
    (
        format!("{}; {flows} {control}", describe(&scene.lines)),
        beside_each_line(&scene, setting.scheduler),
        Box::new(judge),
    )
}

/// An LTE or UMTS line as somebody recorded it, from both directions' files.
fn recorded(draw: &mut Draw, traces: &Path) -> Line {
    let name = draw.pick(&[
        "ATT-LTE-driving-2016",
        "TMobile-LTE-short",
        "TMobile-UMTS-driving",
        "Verizon-LTE-short",
    ]);
    let mut line = Line::new(0.0, draw.log_between(30.0, 80.0), draw.log_count(100, 1000));
    line.traces = Some(["down", "up"].map(|way| traces.join(format!("{name}.{way}")).display().to_string()));
    line
}
