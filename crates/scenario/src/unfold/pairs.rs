//! Connections between groups of hosts: one for each pair.

use super::groups::{Groups, numbered};
use super::tree::{add, said, section, table, table_of, text};
use crate::document::{Entry, Fault, Node, Table, Value};
use std::collections::BTreeMap;

/// The two ends of every link.
type Ends = BTreeMap<String, Vec<String>>;

/// Writes a connection between groups out. Two groups are paired in their order; one host and a group make a
/// connection for every other member; within one group each opens to the one `stride` places behind it.
pub(super) fn connections(root: &mut Node, groups: &Groups) -> Result<(), Fault> {
    let ends = section(root, "links").map(|links| ends(links)).unwrap_or_default();
    let Some(section) = section(root, "connections") else { return Ok(()) };
    let names: Vec<String> = section.keys().cloned().collect();
    for name in names {
        let Some(pairs) = section.get(&name).map(|entry| pairs(&name, entry, groups)).transpose()?.flatten()
        else {
            continue;
        };
        let Some(mut entry) = section.remove(&name) else { continue };
        table_of(&mut entry.node).map(|keys| keys.remove("stride"));
        let members = if pairs.len() == 1 { vec![name] } else { numbered(&name, pairs.len()) };
        for (member, [from, to]) in members.into_iter().zip(pairs) {
            let mut made = entry.clone();
            if let Some(keys) = table_of(&mut made.node) {
                put(keys, "from", &from);
                put(keys, "to", &to);
                put_paths(keys, &from, groups, &ends);
            }
            add(section, member, made);
        }
    }
    Ok(())
}

fn ends(links: &Table) -> Ends {
    let names = |entry: &Entry| match &table(&entry.node)?.get("between")?.node.value {
        Value::Array(items) => Some(items.iter().filter_map(name_of).map(str::to_owned).collect()),
        _ => None,
    };
    links.iter().filter_map(|(name, entry)| Some((name.clone(), names(entry)?))).collect()
}

fn name_of(node: &Node) -> Option<&str> {
    match &node.value {
        Value::String(name) => Some(name),
        _ => None,
    }
}

/// Who opens to whom; nothing if neither end is a group.
fn pairs(name: &str, entry: &Entry, groups: &Groups) -> Result<Option<Vec<[String; 2]>>, Fault> {
    let Some(keys) = table(&entry.node) else { return Ok(None) };
    let (Some(from), Some(to)) = (text(keys, "from"), text(keys, "to")) else { return Ok(None) };
    if !groups.nodes.contains_key(from) && !groups.nodes.contains_key(to) {
        return Ok(None);
    }
    let [sources, sinks] = [from, to].map(|end| groups.nodes(end));
    if from == to {
        return strided(name, keys, &sources).map(Some);
    }
    if sources.len() != sinks.len() && sources.len() != 1 && sinks.len() != 1 {
        let message = format!("{} hosts cannot be paired with {}", sources.len(), sinks.len());
        let expected = "a group of the same size, or one host";
        return Err(fault(name, keys, "to", message, expected));
    }
    let width = sources.len().max(sinks.len());
    let pair = |index: usize| [&sources, &sinks].map(|side| side[index % side.len()].clone());
    Ok(Some((0..width).map(pair).filter(|[from, to]| from != to).collect()))
}

/// Each opens to the one so many places behind it (default: half of all), as Al-Fares et al. (SIGCOMM 2008) do.
fn strided(name: &str, keys: &Table, all: &[String]) -> Result<Vec<[String; 2]>, Fault> {
    let stride = match keys.get("stride").map(|entry| &entry.node.value) {
        None => all.len() / 2,
        Some(Value::Integer(number)) => usize::try_from(*number).unwrap_or(0),
        Some(_) => 0,
    };
    if stride == 0 || stride >= all.len() {
        let key = if keys.contains_key("stride") { "stride" } else { "to" };
        let message = format!("no other host of {} is there to open to", all.len());
        return Err(fault(
            name,
            keys,
            key,
            message,
            "a whole number of places, above zero and below their number",
        ));
    }
    let to = |index: usize| all[(index + stride) % all.len()].clone();
    Ok(all.iter().enumerate().map(|(index, from)| [from.clone(), to(index)]).collect())
}

fn fault(name: &str, keys: &Table, key: &str, message: String, expected: &str) -> Fault {
    let fault = Fault::new(&format!("connections.{name}.{key}"), message, expected);
    match keys.get(key) {
        Some(entry) => fault.at(entry.node.origin.clone()),
        None => fault,
    }
}

fn put(keys: &mut Table, key: &str, name: &str) {
    if let Some(entry) = keys.get_mut(key) {
        entry.node = said(name, &entry.node.origin);
    }
}

/// A group of links stands for those of them that end at the host.
fn put_paths(keys: &mut Table, host: &str, groups: &Groups, ends: &Ends) {
    let Some(Value::Array(paths)) = keys.get_mut("paths").map(|entry| &mut entry.node.value) else { return };
    let is_here = |link: &&String| ends.get(*link).is_some_and(|ends| ends.iter().any(|end| end == host));
    let written = std::mem::take(paths);
    for path in written {
        match name_of(&path).and_then(|name| groups.links.get(name)) {
            Some(members) => {
                paths.extend(members.iter().filter(is_here).map(|link| said(link, &path.origin)));
            }
            None => paths.push(path),
        }
    }
}
