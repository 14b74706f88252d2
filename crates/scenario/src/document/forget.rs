//! What is wrong is taken out, so that the rest can be looked at.

use super::words::segments;
use super::{Document, Node, Table, Value};

impl Document {
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

fn table_at<'a>(root: &'a mut Node, steps: &[&str]) -> Option<&'a mut Table> {
    let mut node = root;
    for step in steps {
        node = match &mut node.value {
            Value::Table(table) => &mut table.get_mut(*step)?.node,
            Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    match &mut node.value {
        Value::Table(table) => Some(table),
        _ => None,
    }
}
