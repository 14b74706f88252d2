//! A TOML document that remembers where each of its keys and values came from.

mod decode;
mod edit;
mod mend;
mod overrides;
mod parse;
mod words;
mod write;

use crate::error::{Diagnostic, ScenarioError};
use crate::suggest;
pub(crate) use decode::{Fault, FaultKind};
use std::collections::BTreeMap;
use std::ops::Range;
use words::{one_of, segments};

/// Where a key or a value was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// Octets of the file.
    File(Range<usize>),
    /// Index of the override.
    Override(usize),
}

/// One value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

/// TOML's values. Dates have no use here and are kept as text for messages only.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value {
    String(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    Datetime(String),
    Array(Vec<Node>),
    Table(Table),
}

/// A table, sorted by key.
pub(crate) type Table = BTreeMap<String, Entry>;

/// A key of a table and its value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Entry {
    pub(crate) key: Origin,
    pub(crate) node: Node,
}

/// A scenario's text, read.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) root: Node,
    source: String,
    file: Option<String>,
    overrides: Vec<(String, String)>,
}

impl Document {
    /// Reads `source` and applies the overrides. Those that cannot be applied are left out and told.
    pub(crate) fn read(
        source: &str,
        file: Option<String>,
        overrides: &[(String, String)],
    ) -> Result<(Self, Vec<ScenarioError>), ScenarioError> {
        let root = Node { value: Value::Table(Table::new()), origin: Origin::File(0..0) };
        let mut document = Self { root, source: source.to_owned(), file, overrides: overrides.to_vec() };
        document.root = parse::parse(source).map_err(|fault| document.error(fault))?;
        let mut mistakes = Vec::new();
        for (index, (path, value)) in overrides.iter().enumerate() {
            if let Err(fault) = overrides::apply(&mut document.root, index, path, value) {
                mistakes.push(document.error(fault));
            }
        }
        Ok((document, mistakes))
    }

    /// The entry at a dotted path (`links.b.changes[0].at`).
    pub(crate) fn find(&self, path: &str) -> Option<Found<'_>> {
        let mut found = Found { key: &self.root.origin, node: &self.root };
        for segment in segments(path) {
            found = match &found.node.value {
                Value::Table(table) => {
                    let entry = table.get(segment)?;
                    Found { key: &entry.key, node: &entry.node }
                }
                Value::Array(items) => {
                    let item = items.get(segment.parse::<usize>().ok()?)?;
                    Found { key: &item.origin, node: item }
                }
                _ => return None,
            };
        }
        Some(found)
    }

    /// Where a key of `tcp` or `mptcp` (`kind`) was written: at the connection, whose key is `base`, or for all.
    pub(crate) fn protocol_key(&self, base: &str, kind: &str, name: &str) -> String {
        let own = format!("{base}.{kind}.{name}");
        let of_all = format!("{kind}.{name}");
        if self.find(&own).is_none() && self.find(&of_all).is_some() { of_all } else { own }
    }

    /// The origin of the value at `path`, or of the innermost table around it that was written.
    fn origin(&self, path: &str) -> Origin {
        let mut rest = path;
        loop {
            if let Some(found) = self.find(rest) {
                return found.node.origin.clone();
            }
            rest = rest.rfind(['.', '[']).map_or("", |cut| &rest[..cut]);
        }
    }

    /// An error about the value at `path`.
    pub(crate) fn value_error(
        &self,
        path: &str,
        message: impl Into<String>,
        expected: impl Into<String>,
    ) -> ScenarioError {
        self.error(Fault::new(path, message, expected).at(self.origin(path)))
    }

    /// An error about the value at `path`, with the nearest of the `candidates`.
    pub(crate) fn name_error<'a>(
        &self,
        path: &str,
        word: &str,
        message: impl Into<String>,
        candidates: impl IntoIterator<Item = &'a str> + Clone,
    ) -> ScenarioError {
        let expected = one_of(candidates.clone());
        let suggestion = suggest::nearest(word, candidates);
        self.error(Fault::new(path, message, expected).at(self.origin(path)).suggest(suggestion))
    }

    /// An error about the key at `path`: the key itself is marked, not its value.
    pub(crate) fn key_error(
        &self,
        path: &str,
        message: impl Into<String>,
        expected: impl Into<String>,
    ) -> ScenarioError {
        let origin = self.find(path).map_or_else(|| self.origin(path), |found| found.key.clone());
        self.error(Fault::new(path, message, expected).at(origin))
    }

    /// Gives a fault its file, line and column.
    pub(crate) fn error(&self, fault: Fault) -> ScenarioError {
        let mut diagnostic = Diagnostic {
            file: self.file.clone(),
            key: fault.key(),
            suggestion: fault.suggestion.map(String::from),
            message: fault.message,
            expected: fault.expected,
            ..Diagnostic::default()
        };
        match fault.origin {
            Some(Origin::Override(index)) => {
                let (path, value) = &self.overrides[index];
                diagnostic.set = Some(format!("{path}={value}"));
            }
            Some(Origin::File(span)) => self.place(&mut diagnostic, &span),
            None => self.place(&mut diagnostic, &(0..0)),
        }
        ScenarioError::new(diagnostic)
    }

    fn place(&self, diagnostic: &mut Diagnostic, span: &Range<usize>) {
        let (line, column, text) = position(&self.source, span.start);
        let marked = self.source.get(span.clone()).unwrap_or_default();
        let width = marked.lines().next().unwrap_or_default().chars().count();
        diagnostic.line = Some(line);
        diagnostic.column = Some(column);
        diagnostic.width = width;
        diagnostic.source_line = Some(text.to_owned());
    }

    /// Line of an origin in the file, for messages that explain where a value came from.
    pub(crate) fn line(&self, origin: &Origin) -> Option<usize> {
        match origin {
            Origin::File(span) => Some(position(&self.source, span.start).0),
            Origin::Override(_) => None,
        }
    }

    /// The document as TOML again: comments gone, overrides applied.
    pub(crate) fn to_toml(&self) -> String {
        write::to_toml(&self.root)
    }
}

/// A key and its value, found.
pub(crate) struct Found<'a> {
    pub(crate) key: &'a Origin,
    pub(crate) node: &'a Node,
}

/// A path with its indices as `.0`, not `[0]`.
pub(crate) fn plain_path(path: &str) -> String {
    segments(path).collect::<Vec<_>>().join(".")
}

/// Line and column from 1, and the text of the line.
fn position(source: &str, offset: usize) -> (usize, usize, &str) {
    let mut offset = offset.min(source.len());
    while !source.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &source[..offset];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let end = source[offset..].find('\n').map_or(source.len(), |newline| offset + newline);
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
    let column = before[start..].chars().count() + 1;
    (line, column, source[start..end].trim_end_matches('\r'))
}
