//! `count` of hosts, routers and links: so many of them, numbered.

use super::MOST_MEMBERS;
use super::groups::{Groups, members};
use super::tree::{add, entry_of, said, section, table, table_of};
use crate::document::{Entry, Fault, Node, Table, Value};

/// Hosts and routers.
pub(super) fn nodes(root: &mut Node, groups: &mut Groups) -> Result<(), Fault> {
    for kind in ["hosts", "routers"] {
        let Some(section) = section(root, kind) else { continue };
        for name in counted(section) {
            let Some(mut entry) = section.remove(&name) else { continue };
            let count = take_count(&mut entry, kind, &name)?.unwrap_or(1);
            let all = members(&name, count);
            all.iter().for_each(|member| add(section, member.clone(), entry.clone()));
            groups.nodes.insert(name, all);
        }
    }
    Ok(())
}

/// Names of the tables with a count.
fn counted(section: &Table) -> Vec<String> {
    let has_count = |entry: &Entry| table(&entry.node).is_some_and(|keys| keys.contains_key("count"));
    section.iter().filter(|(_, entry)| has_count(entry)).map(|(name, _)| name.clone()).collect()
}

/// Takes the count out of a table.
fn take_count(entry: &mut Entry, kind: &str, name: &str) -> Result<Option<usize>, Fault> {
    let Some(count) = table_of(&mut entry.node).and_then(|keys| keys.remove("count")) else {
        return Ok(None);
    };
    match &count.node.value {
        Value::Integer(number) if (1..=MOST_MEMBERS as i64).contains(number) => Ok(Some(*number as usize)),
        _ => {
            let expected = format!("a whole number from 1 to {MOST_MEMBERS}");
            let fault = Fault::new(&format!("{kind}.{name}.count"), "there cannot be so many", expected);
            Err(fault.at(count.node.origin))
        }
    }
}

/// Links: so many as counted, or as the groups at their ends have members.
pub(super) fn links(root: &mut Node, groups: &mut Groups) -> Result<(), Fault> {
    let Some(section) = section(root, "links") else { return Ok(()) };
    let names: Vec<String> = section.keys().cloned().collect();
    for name in names {
        let Some(ends) = section.get(&name).and_then(ends) else { continue };
        let sides = ends.each_ref().map(|(end, _)| groups.nodes(end));
        let is_grouped = ends.iter().any(|(end, _)| groups.nodes.contains_key(end));
        let has_count = section.get(&name).and_then(|entry| table(&entry.node)?.get("count")).is_some();
        if !is_grouped && !has_count {
            continue;
        }
        let Some(mut entry) = section.remove(&name) else { continue };
        let count = take_count(&mut entry, "links", &name)?;
        let width = width(&name, &entry, count, &sides)?;
        let all = members(&name, width);
        for (index, member) in all.iter().enumerate() {
            let mut made = entry.clone();
            join(&mut made, sides.each_ref().map(|side| side[index % side.len()].as_str()));
            add(section, member.clone(), made);
        }
        groups.links.insert(name, all);
    }
    Ok(())
}

/// The two ends of a link, if they are written as they should be.
fn ends(entry: &Entry) -> Option<[(String, Node); 2]> {
    let Value::Array(items) = &table(&entry.node)?.get("between")?.node.value else { return None };
    let end = |node: &Node| match &node.value {
        Value::String(name) => Some((name.clone(), node.clone())),
        _ => None,
    };
    match items.as_slice() {
        [a, b] => Some([end(a)?, end(b)?]),
        _ => None,
    }
}

/// How many links there are: each side has one node, or one for each link.
fn width(name: &str, entry: &Entry, count: Option<usize>, sides: &[Vec<String>; 2]) -> Result<usize, Fault> {
    let widest = sides.iter().map(Vec::len).max().unwrap_or(1);
    let width = count.unwrap_or(widest);
    let Some(wrong) = sides.iter().position(|side| ![1, width].contains(&side.len())) else {
        return Ok(width);
    };
    let message = format!("{width} links cannot end at {} nodes", sides[wrong].len());
    let between = table(&entry.node).and_then(|keys| keys.get("between"));
    let origin = between.map_or(&entry.key, |between| &between.node.origin).clone();
    let expected = format!("one node, or {width} of them");
    Err(Fault::new(&format!("links.{name}.between"), message, expected).at(origin))
}

fn join(entry: &mut Entry, ends: [&str; 2]) {
    let Some(between) = table_of(&mut entry.node).and_then(|keys| keys.get_mut("between")) else { return };
    let origin = between.node.origin.clone();
    let items = ends.map(|end| said(end, &origin)).into();
    *between = Entry { key: between.key.clone(), ..entry_of(Node { value: Value::Array(items), origin }) };
}
