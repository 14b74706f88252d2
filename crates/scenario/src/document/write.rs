//! Nodes to TOML text.

use super::{Node, Value};

/// The document as TOML.
pub(super) fn to_toml(root: &Node) -> String {
    let table = match convert(root) {
        toml::Value::Table(table) => table,
        _ => toml::Table::new(),
    };
    toml::to_string(&table).expect("a table of plain values is always TOML")
}

fn convert(node: &Node) -> toml::Value {
    match &node.value {
        Value::String(text) => toml::Value::String(text.clone()),
        Value::Integer(number) => toml::Value::Integer(*number),
        Value::Float(number) => toml::Value::Float(*number),
        Value::Boolean(truth) => toml::Value::Boolean(*truth),
        // No key takes a date, so a document that was checked has none.
        Value::Datetime(date) => toml::Value::String(date.clone()),
        Value::Array(items) => toml::Value::Array(items.iter().map(convert).collect()),
        Value::Table(table) => {
            toml::Value::Table(table.iter().map(|(key, entry)| (key.clone(), convert(&entry.node))).collect())
        }
    }
}
