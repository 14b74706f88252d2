//! Every key with its effective value, and where the value came from.

use crate::document::{Document, Origin, Value as Written};
use crate::plan::Protocol;
use crate::plan::emulation::{OnKernel, on_daemon};
use crate::plan::protocol::presets;
use crate::scenario::Scenario;
use crate::schema::quantity::Name;
use crate::schema::tcp::Preset;
use serde_json::Value;
use std::fmt::Write;

/// One line of the list.
struct Line {
    key: String,
    value: String,
    from: String,
    /// What becomes of it on a Linux host.
    kernel: &'static str,
}

/// Writes the list.
pub(super) fn write(scenario: &Scenario, text: &mut String) {
    let mut lines = Vec::new();
    flatten("", &scenario.canonical(), &mut |key, value| {
        // Changes are drawn with their links, one per thing and direction; the file has them otherwise.
        if !(key.starts_with("links.") && key.contains(".changes")) {
            let (value, from) = (value.to_string(), origin(scenario, key));
            lines.push(Line { key: key.to_owned(), value, from, kernel: on_kernel(scenario, key) });
        }
    });
    let lines = fold_directions(lines);
    let width = |pick: fn(&Line) -> usize| lines.iter().map(pick).max().unwrap_or(0).min(60);
    let (keys, values) = (width(|line| line.key.chars().count()), width(|line| line.value.chars().count()));
    let origins = width(|line| line.from.chars().count());
    for Line { key, value, from, kernel } in &lines {
        let line = format!("  {key:keys$}  {value:values$}  {from:origins$}  {kernel}");
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

/// What becomes of a value where the hosts are Linux's.
fn on_kernel(scenario: &Scenario, key: &str) -> &'static str {
    if !scenario.plan.is_emulation() {
        return "";
    }
    let parts: Vec<&str> = key.splitn(5, ['.', '[']).collect();
    match parts.as_slice() {
        ["connections", group, kind @ ("tcp" | "mptcp"), name, ..] => {
            let mut all = scenario.plan.connections.iter().filter(|connection| connection.group == *group);
            let is_mptcp = all.any(|connection| matches!(connection.protocol, Protocol::Mptcp(_)));
            OnKernel::of(kind, name, is_mptcp).words()
        }
        ["bonds", name, ..] => key["bonds.".len() + name.len()..].strip_prefix('.').map_or("", on_daemon),
        ["routers", name, ..] if is_gateway(scenario, name) => "",
        ["links" | "routers", ..] => "simulated",
        _ => "",
    }
}

fn is_gateway(scenario: &Scenario, name: &str) -> bool {
    scenario.plan.nodes.iter().any(|node| node.name == name && node.is_gateway())
}

fn flatten(path: &str, value: &Value, visit: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                flatten(&path, value, visit);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (index, value) in items.iter().enumerate() {
                flatten(&format!("{path}[{index}]"), value, visit);
            }
        }
        leaf => visit(path, leaf),
    }
}

/// Keys that both directions of a link have alike are shown once, without the direction.
fn fold_directions(lines: Vec<Line>) -> Vec<Line> {
    let plain = |key: &str| {
        let mut parts = key.splitn(4, '.');
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some("links"), Some(link), Some(direction @ ("forward" | "backward")), Some(rest)) => {
                Some((direction == "forward", format!("links.{link}.{rest}")))
            }
            _ => None,
        }
    };
    let mut folded: Vec<Line> = Vec::with_capacity(lines.len());
    let twin = |line: &Line, all: &[Line], direction: &str| {
        let (_, key) = plain(&line.key)?;
        let (link, rest) = key.strip_prefix("links.")?.split_once('.')?;
        let twin = format!("links.{link}.{direction}.{rest}");
        all.iter().find(|other| other.key == twin && other.value == line.value && other.from == line.from)?;
        Some(key)
    };
    for line in &lines {
        let other = plain(&line.key).map(|(forward, _)| if forward { "backward" } else { "forward" });
        let both = other.and_then(|direction| twin(line, &lines, direction));
        match (both, other) {
            // The twin in the other direction has said it, or will.
            (Some(_), Some("forward")) => {}
            (key, _) => folded.push(Line {
                key: key.unwrap_or_else(|| line.key.clone()),
                value: line.value.clone(),
                from: line.from.clone(),
                kernel: line.kernel,
            }),
        }
    }
    folded
}

fn origin(scenario: &Scenario, key: &str) -> String {
    let document = &scenario.document;
    let given = candidates(key).iter().find_map(|candidate| written(document, candidate));
    given.unwrap_or_else(|| match preset(scenario, key) {
        Some(_) if key.contains(".mptcp.limits.") => "default".to_owned(),
        Some(Preset::Linux) if key.ends_with(".tcp.mss") => {
            format!("MTU less {}", scenario.plan().settings.address_family.header() + 20)
        }
        Some(_) if follows_sack(document, key) => "follows sack".to_owned(),
        Some(preset) => format!("preset {}", preset.name()),
        None => "default".to_owned(),
    })
}

/// How losses are found follows from `sack`, unless it is given.
fn follows_sack(document: &Document, key: &str) -> bool {
    key.strip_suffix("loss_recovery").is_some_and(|table| {
        let sack = candidates(&format!("{table}sack"));
        sack.iter().any(|candidate| document.find(candidate).is_some())
    })
}

/// Where in the file a value may have been given, the strongest first.
fn candidates(key: &str) -> Vec<String> {
    // Endpoints and their changes stand in the file as they please, and here by host: their list is one place.
    let list = |name: &str| Some(key.find(&format!(".mptcp.{name}["))? + ".mptcp.".len() + name.len());
    let key = list("endpoints").or_else(|| list("changes")).map_or(key, |end| &key[..end]);
    let mut candidates = vec![key.to_owned()];
    let parts: Vec<&str> = key.splitn(4, '.').collect();
    match parts.as_slice() {
        ["links", link, "forward" | "backward", rest] => candidates.push(format!("links.{link}.{rest}")),
        ["connections", _, kind @ ("tcp" | "mptcp"), rest] => candidates.push(format!("{kind}.{rest}")),
        ["connections", name, "starts"] => candidates.push(format!("connections.{name}.start")),
        _ => {}
    }
    candidates
}

/// The place of a value, or of the short form that stands for its table.
fn written(document: &Document, key: &str) -> Option<String> {
    let mut path = key;
    loop {
        if let Some(found) = document.find(path) {
            let said = path == key || says(&found.node.value, key);
            return said.then(|| match &found.node.origin {
                Origin::Override(_) => "--set".to_owned(),
                origin => document.line(origin).map_or_else(String::new, |line| format!("line {line}")),
            });
        }
        path = &path[..path.rfind('.')?];
    }
}

/// Does a short form say the value of `key`? "codel" names the discipline only, "50 packets" the limit too.
fn says(short: &Written, key: &str) -> bool {
    let leaf = key.rsplit('.').next().unwrap_or(key);
    let is_name = matches!(short, Written::String(text) if !text.starts_with(|c: char| c.is_ascii_digit()));
    match leaf {
        "kind" | "discipline" | "model" | "distribution" => !matches!(short, Written::Table(_)),
        "limit" | "probability" | "max" | "time" => !is_name && !matches!(short, Written::Table(_)),
        _ => false,
    }
}

/// The preset behind a key of a transport.
fn preset(scenario: &Scenario, key: &str) -> Option<Preset> {
    let parts: Vec<&str> = key.splitn(4, '.').collect();
    let ["connections", name, kind, _] = parts.as_slice() else { return None };
    let table = scenario.file.connections.get(&Name((*name).to_owned()))?;
    let own = (table.tcp.as_ref(), table.mptcp.as_ref());
    let (tcp, mptcp) = presets((&scenario.file.tcp, &scenario.file.mptcp), own);
    match *kind {
        "tcp" => Some(tcp),
        "mptcp" => Some(mptcp),
        _ => None,
    }
}
