//! Code points by which flows ask for a treatment: neither they nor the others may have less of it.

use super::{CONTROLS, Setting, bulk_keys, describe, each};
use crate::case::{Case, Finding, Judge, Run};
use crate::draw::Draw;
use crate::measure::Record;
use crate::scene::{Line, Scene, Tunnel};

/// 50 packets a second of 160 octets.
const CALL: &str = "protocol = \"udp\"\napplication = { kind = \"constant-rate\", rate = \"64 kbit/s\", packet_size = \"160 B\" }";
/// Which flow has the mark, and what it asks for.
const MARKS: [(&str, &str); 4] =
    [("voice", "low-delay"), ("flow0", "low-delay"), ("voice", "duplicated"), ("voice", "unordered")];

pub(super) fn cases(setting: &Setting<'_>, cases: &mut Vec<Case>) {
    each(setting, cases, "marks", setting.scale.count(4, 40), |draw, number| marks(draw, number, setting));
}

fn marks(draw: &mut Draw, number: usize, setting: &Setting<'_>) -> (String, Vec<Run>, Judge) {
    let line = |draw: &mut Draw| {
        Line::new(draw.log_between(5.0, 80.0), draw.log_between(8.0, 80.0), draw.log_count(50, 400))
    };
    let lines = vec![line(draw), line(draw)];
    let mut scene = Scene::new(setting.scale.seconds(30.0, 90.0), draw.seed(), lines);
    let (who, treatment) = MARKS[number % MARKS.len()];
    let control = draw.pick(&CONTROLS);
    scene.bond = format!("classes = [{{ dscp = 46, treatment = \"{treatment}\" }}]");
    scene.inside = vec![("voice".into(), CALL.to_owned()), ("flow0".into(), bulk_keys(control, 0.0))];
    let mut marked = scene.clone();
    for (_, keys) in marked.inside.iter_mut().filter(|(name, _)| name == who) {
        keys.push_str("\ndscp = 46");
    }
    let what = format!("{}; {control}; {who} is {treatment}", describe(&scene.lines));
    let bond = |scene: &Scene| Run::new(scene, Tunnel::Bond(setting.scheduler));
    (what, vec![bond(&scene), bond(&marked)], Box::new(findings))
}

fn findings(records: &[Record]) -> Vec<Finding> {
    let p99 = |record: &Record| record.flow("voice").p99_ms.unwrap_or(f64::INFINITY);
    let [plain, marked] = records else { return Vec::new() };
    vec![
        // A packet of the bulk that is on its way out is not stopped for a call: 1548 octets at 5 Mbit/s take 2.5 ms.
        Finding::most("the call's delay, marked less unmarked, ms", p99(marked) - p99(plain), 2.5),
        Finding::most(
            "the call's loss, marked less unmarked",
            marked.loss("voice") - plain.loss("voice"),
            0.001,
        ),
        Finding::least("the bulk, marked over unmarked", marked.inside_mbps() / plain.inside_mbps(), 0.97),
    ]
}
