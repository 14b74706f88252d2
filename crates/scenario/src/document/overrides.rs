//! `--set links.b.loss="3 %"`: a value put into the tree before it is checked.

use super::decode::Fault;
use super::words::segments;
use super::{Entry, Node, Origin, Table, Value, parse};
use crate::suggest;

/// Parts of a scenario whose keys are names that the author chose.
const NAMED: [&str; 4] = ["hosts", "routers", "links", "connections"];

/// Puts the value of override number `index` at `path`; tables on the way are made when they are missing.
pub(super) fn apply(root: &mut Node, index: usize, path: &str, text: &str) -> Result<(), Fault> {
    let origin = Origin::Override(index);
    let fault = |message: String, expected: &str| Fault::new(path, message, expected).at(origin.clone());
    let steps: Vec<&str> = segments(path).collect();
    let Some((last, way)) = steps.split_last() else {
        return Err(fault("an override needs a key".into(), "a path such as links.b.loss"));
    };
    check_instance(root, &steps, &origin, path)?;
    let mut node = root;
    for step in way {
        node = enter(node, step, &origin).ok_or_else(|| {
            fault(format!("`{step}` leads nowhere: what is around it is not a table"), "a path of keys")
        })?;
    }
    let value = parse::parse_value(text, index)?;
    match &mut node.value {
        Value::Table(table) => {
            let key = table.get(*last).map_or_else(|| origin.clone(), |entry| entry.key.clone());
            table.insert((*last).to_owned(), Entry { key, node: value });
            Ok(())
        }
        Value::Array(items) => match last.parse::<usize>().ok().and_then(|at| items.get_mut(at)) {
            Some(item) => {
                *item = value;
                Ok(())
            }
            None => Err(fault(format!("the list has no item {last}"), "an index, from 0")),
        },
        _ => {
            Err(fault(format!("`{last}` leads nowhere: what is around it is not a table"), "a path of keys"))
        }
    }
}

/// A key inside a host, link or connection that does not exist is a misspelt name, not a new one.
fn check_instance(root: &Node, steps: &[&str], origin: &Origin, path: &str) -> Result<(), Fault> {
    let [kind, name, _, ..] = steps else { return Ok(()) };
    if !NAMED.contains(kind) {
        return Ok(());
    }
    let empty = Table::new();
    let Value::Table(top) = &root.value else { return Ok(()) };
    let table = match top.get(*kind).map(|entry| &entry.node.value) {
        Some(Value::Table(table)) => table,
        Some(_) => return Ok(()),
        None => &empty,
    };
    if table.contains_key(*name) || is_member(top, table, name) {
        return Ok(());
    }
    let names: Vec<&str> = table.keys().map(String::as_str).collect();
    Err(Fault::new(path, format!("there is no `{kind}.{name}`"), super::one_of(names.iter().copied()))
        .at(origin.clone())
        .suggest(suggest::nearest(name, names)))
}

/// Can it be a member of a counted table or of a template?
fn is_member(top: &Table, table: &Table, name: &str) -> bool {
    let Some((stem, number)) = name.rsplit_once('-') else { return top.contains_key("topology") };
    let is_number = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    top.contains_key("topology") || (is_number && table.contains_key(stem))
}

fn enter<'a>(node: &'a mut Node, step: &str, origin: &Origin) -> Option<&'a mut Node> {
    match &mut node.value {
        Value::Table(table) => {
            let entry = table.entry(step.to_owned()).or_insert_with(|| Entry {
                key: origin.clone(),
                node: Node { value: Value::Table(Table::new()), origin: origin.clone() },
            });
            Some(&mut entry.node)
        }
        Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?),
        _ => None,
    }
}
