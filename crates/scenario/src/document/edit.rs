//! Changes of a document that was checked.

use super::words::segments;
use super::{Document, Entry, Node, Origin, Table, Value};

impl Document {
    /// Sets a key of the table at `path` to a text.
    pub(crate) fn put_text(&mut self, path: &str, key: &str, text: &str) {
        self.put(path, key, Value::String(text.to_owned()));
    }

    /// Sets a key of the table at `path` to a list of texts.
    pub(crate) fn put_list(&mut self, path: &str, key: &str, texts: &[&str]) {
        let items = texts.iter().map(|text| plain(Value::String((*text).to_owned())));
        self.put(path, key, Value::Array(items.collect()));
    }

    /// Removes a key of the table at `path`.
    pub(crate) fn remove(&mut self, path: &str, key: &str) {
        if let Some(table) = self.table(path) {
            table.remove(key);
        }
    }

    fn put(&mut self, path: &str, key: &str, value: Value) {
        if let Some(table) = self.table(path) {
            table.insert(key.to_owned(), Entry { key: Origin::File(0..0), node: plain(value) });
        }
    }

    fn table(&mut self, path: &str) -> Option<&mut Table> {
        let mut node = &mut self.root;
        for segment in segments(path) {
            let Value::Table(table) = &mut node.value else { return None };
            node = &mut table.get_mut(segment)?.node;
        }
        match &mut node.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }
}

fn plain(value: Value) -> Node {
    Node { value, origin: Origin::File(0..0) }
}
