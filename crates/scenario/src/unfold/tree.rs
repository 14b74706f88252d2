//! Tables of the tree: found, copied and added to.

use crate::document::{Entry, Node, Origin, Table, Value};

/// The tables of one kind (`links`) by name, if the document has any.
pub(super) fn section<'a>(root: &'a mut Node, kind: &str) -> Option<&'a mut Table> {
    table_of(&mut entry(root, kind)?.node)
}

/// The same, made if there is none.
pub(super) fn section_or_new<'a>(root: &'a mut Node, kind: &str, origin: &Origin) -> Option<&'a mut Table> {
    let top = table_of(root)?;
    let made = || Entry {
        key: origin.clone(),
        node: Node { value: Value::Table(Table::new()), origin: origin.clone() },
    };
    table_of(&mut top.entry(kind.to_owned()).or_insert_with(made).node)
}

/// An entry of a node that is a table.
fn entry<'a>(node: &'a mut Node, key: &str) -> Option<&'a mut Entry> {
    table_of(node)?.get_mut(key)
}

/// The table of a node that is one.
pub(super) fn table_of(node: &mut Node) -> Option<&mut Table> {
    match &mut node.value {
        Value::Table(table) => Some(table),
        _ => None,
    }
}

/// The same, to read.
pub(super) fn table(node: &Node) -> Option<&Table> {
    match &node.value {
        Value::Table(table) => Some(table),
        _ => None,
    }
}

/// The text of a key, if it is one.
pub(super) fn text<'a>(table: &'a Table, key: &str) -> Option<&'a str> {
    match &table.get(key)?.node.value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Adds a member to a section. What the document says of it by its own name goes before what its group says.
pub(super) fn add(section: &mut Table, name: String, made: Entry) {
    let Some(own) = section.get_mut(&name) else {
        section.insert(name, made);
        return;
    };
    if let (Some(own), Value::Table(keys)) = (table_of(&mut own.node), made.node.value) {
        for (key, entry) in keys {
            own.entry(key).or_insert(entry);
        }
    }
}

/// A text that stands where `origin` says.
pub(super) fn said(text: &str, origin: &Origin) -> Node {
    Node { value: Value::String(text.to_owned()), origin: origin.clone() }
}

/// An entry for it.
pub(super) fn entry_of(node: Node) -> Entry {
    Entry { key: node.origin.clone(), node }
}
