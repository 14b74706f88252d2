//! What is wrong is put right or taken out, so that the rest can be looked at.

use super::decode::{Fault, FaultKind};
use super::words::segments;
use super::{Document, Node, Table, Value, plain_path};

impl Document {
    /// Puts what a fault suggests in the place of what is wrong: another name of a key, or another text. False if it
    /// suggests nothing, or the key that it suggests is there already.
    pub(crate) fn mend(&mut self, fault: &Fault) -> bool {
        let Some(meant) = &fault.suggestion else { return false };
        let path = plain_path(&fault.key());
        let steps: Vec<&str> = segments(&path).collect();
        match fault.kind {
            FaultKind::Key => rename(&mut self.root, &steps, meant),
            FaultKind::Value => rewrite(&mut self.root, &steps, meant),
            FaultKind::Missing => false,
        }
    }

    /// Takes out the innermost entry on the way to `path`, and returns the path to it. Items of lists stay: those behind
    /// them keep their numbers. Nothing is left to take out if the way begins nowhere.
    pub(crate) fn forget(&mut self, path: &str) -> Option<String> {
        let steps: Vec<&str> = segments(path).collect();
        let depth = (1..=steps.len()).rev().find(|&depth| is_entry(&self.root, &steps[..depth]))?;
        let (last, way) = steps[..depth].split_last()?;
        table_at(&mut self.root, way)?.remove(*last);
        Some(steps[..depth].join("."))
    }
}

fn rename(root: &mut Node, steps: &[&str], meant: &str) -> bool {
    let Some((wrong, way)) = steps.split_last() else { return false };
    let Some(table) = table_at(root, way) else { return false };
    if table.contains_key(meant) {
        return false;
    }
    let Some(entry) = table.remove(*wrong) else { return false };
    table.insert(meant.to_owned(), entry);
    true
}

fn rewrite(root: &mut Node, steps: &[&str], meant: &str) -> bool {
    match node_at(root, steps).map(|node| &mut node.value) {
        Some(Value::String(text)) => {
            meant.clone_into(text);
            true
        }
        _ => false,
    }
}

/// Is there an entry of a table?
fn is_entry(root: &Node, steps: &[&str]) -> bool {
    let mut node = root;
    let mut in_table = false;
    for step in steps {
        let next = match &node.value {
            Value::Table(table) => table.get(*step).map(|entry| (&entry.node, true)),
            Value::Array(items) => {
                step.parse().ok().and_then(|at: usize| items.get(at)).map(|item| (item, false))
            }
            _ => None,
        };
        let Some((inner, is_table)) = next else { return false };
        (node, in_table) = (inner, is_table);
    }
    in_table
}

fn node_at<'a>(root: &'a mut Node, steps: &[&str]) -> Option<&'a mut Node> {
    let mut node = root;
    for step in steps {
        node = match &mut node.value {
            Value::Table(table) => &mut table.get_mut(*step)?.node,
            Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(node)
}

fn table_at<'a>(root: &'a mut Node, steps: &[&str]) -> Option<&'a mut Table> {
    match &mut node_at(root, steps)?.value {
        Value::Table(table) => Some(table),
        _ => None,
    }
}
