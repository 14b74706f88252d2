//! Reading a document that may have mistakes: each is told and put right or taken out, until the rest can be read.

use crate::document::{Document, Fault, FaultKind, Node, Table, Value, plain_path};
use crate::error::{Diagnostic, ScenarioError};
use crate::schema::ScenarioFile;
use crate::unfold::unfold;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// Mistakes that one error tells at most.
const MOST_MISTAKES: usize = 30;

/// What is put right or taken out at most: copies of a table have its mistakes once more each.
const MOST_MENDED: usize = 300;

/// Parts whose tables have names.
const NAMED: [&str; 5] = ["hosts", "routers", "links", "bonds", "connections"];

/// Parts that hang on all others: on the ways that there are, and on the settings for all connections.
const ABOVE: [&str; 2] = ["bonds", "connections"];

/// What was wrong, and what became of it.
#[derive(Default)]
pub(super) struct Reading {
    mistakes: Vec<ScenarioError>,
    /// Paths of what was put right as its message suggests, and what was wrong there.
    mended: BTreeMap<String, FaultKind>,
    /// Paths of what was taken out.
    forgotten: BTreeSet<String>,
}

impl Reading {
    /// Nothing read yet; mistakes may be known already.
    pub(super) fn new(mistakes: Vec<ScenarioError>) -> Self {
        Self { mistakes, ..Self::default() }
    }

    /// Writes the document's shorthand out.
    ///
    /// # Errors
    /// All mistakes so far, if nothing can be read behind them.
    pub(super) fn unfold(&mut self, document: &mut Document) -> Result<(), ScenarioError> {
        loop {
            let mut unfolded = document.clone();
            match unfold(&mut unfolded) {
                Ok(()) => {
                    *document = unfolded;
                    return Ok(());
                }
                Err(fault) => self.go_on_after(document, fault)?,
            }
        }
    }

    /// Reads the tables.
    ///
    /// # Errors
    /// All mistakes so far, if what is left means nothing.
    pub(super) fn decode(&mut self, document: &mut Document) -> Result<ScenarioFile, ScenarioError> {
        loop {
            match ScenarioFile::deserialize(&document.root) {
                Ok(_) if self.is_lost() => return Err(self.all()),
                Ok(file) => return Ok(file),
                Err(fault) => self.go_on_after(document, fault)?,
            }
        }
    }

    /// The mistakes so far.
    pub(super) fn mistakes(&self) -> Vec<ScenarioError> {
        self.mistakes.clone()
    }

    /// Without those that may only follow from what was taken out.
    pub(super) fn without_consequences(&self, document: &Document, found: ScenarioError) -> ScenarioError {
        if self.mistakes.is_empty() {
            return found;
        }
        let names = self.names_in_doubt(document);
        let own = found.mistakes().iter().filter(|mistake| !self.may_follow(document, &names, mistake));
        let mut all = self.mistakes.clone();
        all.extend(own.cloned().map(ScenarioError::new));
        ScenarioError::all(all)
    }

    /// Tells a fault, unless an earlier one has, and puts it right or takes it out.
    fn go_on_after(&mut self, document: &mut Document, fault: Fault) -> Result<(), ScenarioError> {
        let path = plain_path(&fault.key());
        let is_new = !self.is_told(&path, fault.kind);
        let is_mended = is_new && document.mend(&fault);
        if is_mended {
            self.mended.insert(path.clone(), fault.kind);
        }
        if is_new {
            let mistake = document.error(fault);
            if !mistake.is_in(&self.mistakes) {
                self.mistakes.push(mistake);
            }
        }
        if !is_mended {
            let gone = document.forget(&path).ok_or_else(|| self.all())?;
            self.forgotten.insert(gone);
        }
        let is_enough =
            self.mistakes.len() >= MOST_MISTAKES || self.mended.len() + self.forgotten.len() >= MOST_MENDED;
        if is_enough { Err(self.all()) } else { Ok(()) }
    }

    /// Has an earlier message told this, or does it only follow from what was put right? A `kind` that was guessed says
    /// which other keys there must be.
    fn is_told(&self, path: &str, kind: FaultKind) -> bool {
        let parent = |path: &str| path.rsplit_once('.').map(|(parent, _)| parent.to_owned());
        let is_guess = |(mended, what): (&String, &FaultKind)| {
            *what == FaultKind::Value && parent(mended) == parent(path)
        };
        self.forgotten.contains(path)
            || self.mended.contains_key(path)
            || kind == FaultKind::Missing && self.mended.iter().any(is_guess)
    }

    fn all(&self) -> ScenarioError {
        ScenarioError::all(self.mistakes.clone())
    }

    /// Was something taken out on which everything may hang?
    fn is_lost(&self) -> bool {
        self.forgotten.iter().any(|path| path.starts_with("scenario.") || !path.contains('.'))
    }

    /// Names of tables from which something was taken out, and of all that name one of them.
    fn names_in_doubt(&self, document: &Document) -> BTreeSet<String> {
        let mut names: BTreeSet<String> =
            self.forgotten.iter().map(|path| table_of(path).to_owned()).collect();
        loop {
            let before = names.len();
            for (name, node) in tables(document) {
                if mentions(node, &names) {
                    names.insert(name.to_owned());
                }
            }
            if names.len() == before {
                return names;
            }
        }
    }

    fn may_follow(&self, document: &Document, names: &BTreeSet<String>, mistake: &Diagnostic) -> bool {
        if self.forgotten.is_empty() {
            return false;
        }
        let path = plain_path(&mistake.key);
        let is_below_gone = self.forgotten.iter().any(|gone| !ABOVE.contains(&part_of(gone)));
        let is_part_in_doubt = !path.contains('.') && self.forgotten.iter().any(|gone| part_of(gone) == path);
        is_part_in_doubt
            || names.contains(table_of(&path))
            || is_below_gone && ABOVE.contains(&part_of(&path))
            || document.find(&path).is_some_and(|found| mentions(found.node, names))
    }
}

fn part_of(path: &str) -> &str {
    path.split('.').next().unwrap_or_default()
}

/// The name of the table that a path leads into: `b` of `links.b.loss`, `tcp` of `tcp.pacing`.
fn table_of(path: &str) -> &str {
    let part = part_of(path);
    if NAMED.contains(&part) { path.split('.').nth(1).unwrap_or(part) } else { part }
}

/// The tables with names: `links.b`, `connections.bulk`, …
fn tables(document: &Document) -> impl Iterator<Item = (&str, &Node)> {
    let parts = table(&document.root).into_iter().flatten();
    parts
        .flat_map(|(_, part)| table(&part.node).into_iter().flatten())
        .map(|(name, entry)| (name.as_str(), &entry.node))
}

fn table(node: &Node) -> Option<&Table> {
    match &node.value {
        Value::Table(table) => Some(table),
        _ => None,
    }
}

/// Does a key or a text in it name one of these?
fn mentions(node: &Node, names: &BTreeSet<String>) -> bool {
    match &node.value {
        Value::String(text) => names.contains(text),
        Value::Array(items) => items.iter().any(|item| mentions(item, names)),
        Value::Table(table) => {
            table.iter().any(|(key, entry)| names.contains(key) || mentions(&entry.node, names))
        }
        _ => false,
    }
}
