//! Changes of a document that was checked.

use super::words::segments;
use super::{Document, Entry, Node, Origin, Table, Value};

impl Document {
    /// Sets a key of the table at `path` to a text.
    pub(crate) fn put_text(&mut self, path: &str, key: &str, text: &str) {
        self.put(path, key, Value::String(text.to_owned()));
    }

    /// Sets a key of the table at `path` to false.
    pub(crate) fn turn_off(&mut self, path: &str, key: &str) {
        self.put(path, key, Value::Boolean(false));
    }

    /// Sets a key of the table at `path` to a list of texts.
    pub(crate) fn put_list(&mut self, path: &str, key: &str, texts: &[&str]) {
        self.put(path, key, list(texts));
    }

    /// Sets a key of the table at `path` to a list of one way: the `link` it begins with, and those behind it, `via`.
    pub(crate) fn put_way(&mut self, path: &str, key: &str, links: &[&str]) {
        let Some((first, via)) = links.split_first() else { return };
        let mut way = Table::new();
        way.insert("link".to_owned(), entry(Value::String((*first).to_owned())));
        if !via.is_empty() {
            way.insert("via".to_owned(), entry(list(via)));
        }
        self.put(path, key, Value::Array(vec![plain(Value::Table(way))]));
    }

    /// Removes all other keys of the table at `path`.
    pub(crate) fn keep_only(&mut self, path: &str, keys: &[&str]) {
        if let Some(table) = self.table(path) {
            table.retain(|key, _| keys.contains(&key.as_str()));
        }
    }

    /// Removes a key of the table at `path`.
    pub(crate) fn remove(&mut self, path: &str, key: &str) {
        if let Some(table) = self.table(path) {
            table.remove(key);
        }
    }

    fn put(&mut self, path: &str, key: &str, value: Value) {
        if let Some(table) = self.table(path) {
            table.insert(key.to_owned(), entry(value));
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

fn list(texts: &[&str]) -> Value {
    Value::Array(texts.iter().map(|text| plain(Value::String((*text).to_owned()))).collect())
}

fn entry(value: Value) -> Entry {
    Entry { key: Origin::File(0..0), node: plain(value) }
}

fn plain(value: Value) -> Node {
    Node { value, origin: Origin::File(0..0) }
}
