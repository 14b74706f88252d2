//! What every step of the planning may read, and how it says what is wrong.

use super::files::{FileFault, Files};
use crate::document::Document;
use crate::error::{Diagnostic, ScenarioError};
use crate::schema::ScenarioFile;
use crate::schema::address_family::AddressFamily;
use crate::schema::connection::Stack;
use crate::watch::Watch;
use ropewalk_sim::Trace;
use std::cell::RefCell;

/// What every step may read.
pub(crate) struct Context<'a> {
    pub(crate) document: &'a Document,
    pub(crate) file: &'a ScenarioFile,
    /// The other files that the scenario names.
    pub(crate) files: Files,
    /// What every host runs, whatever the file says.
    pub(crate) stack: Option<Stack>,
    /// Who waits for it.
    pub(crate) watch: Watch<'a>,
    /// What was wrong so far, where the planning could go on.
    mistakes: RefCell<Vec<ScenarioError>>,
}

impl<'a> Context<'a> {
    /// Of a document and what it says. With `mistakes` that were found before, no plan comes out, but more of them may.
    pub(crate) fn new(
        document: &'a Document,
        file: &'a ScenarioFile,
        files: Files,
        stack: Option<Stack>,
        watch: Watch<'a>,
        mistakes: Vec<ScenarioError>,
    ) -> Self {
        Self { document, file, files, stack, watch, mistakes: RefCell::new(mistakes) }
    }
}

impl Context<'_> {
    /// Keeps a mistake, for what can go on without the value.
    pub(super) fn note<T>(&self, result: Result<T, ScenarioError>) -> Option<T> {
        result.map_err(|mistake| self.mistakes.borrow_mut().push(mistake)).ok()
    }

    /// The value, or all mistakes so far: nothing can go on without it.
    pub(super) fn needed<T>(&self, result: Result<T, ScenarioError>) -> Result<T, ScenarioError> {
        self.note(result).ok_or_else(|| self.mistakes())
    }

    /// All mistakes so far; there must be one.
    pub(super) fn mistakes(&self) -> ScenarioError {
        ScenarioError::all(self.mistakes.take())
    }

    /// All mistakes so far, if there are any.
    pub(super) fn settled(&self) -> Result<(), ScenarioError> {
        let mistakes = self.mistakes.take();
        if mistakes.is_empty() { Ok(()) } else { Err(ScenarioError::all(mistakes)) }
    }

    /// Which version of IP the hosts speak.
    pub(super) fn address_family(&self) -> AddressFamily {
        self.file.scenario.address_family.unwrap_or_default()
    }

    /// A value that cannot be.
    pub(crate) fn wrong(
        &self,
        key: &str,
        message: impl Into<String>,
        expected: impl Into<String>,
    ) -> ScenarioError {
        self.document.value_error(key, message, expected)
    }

    /// A key that cannot be here, or is missing.
    pub(crate) fn misplaced(
        &self,
        key: &str,
        message: impl Into<String>,
        expected: impl Into<String>,
    ) -> ScenarioError {
        self.document.key_error(key, message, expected)
    }

    /// A name that nothing has.
    pub(crate) fn unknown<'b>(
        &self,
        key: &str,
        kind: &str,
        name: &str,
        known: impl IntoIterator<Item = &'b str> + Clone,
    ) -> ScenarioError {
        self.document.name_error(key, name, format!("there is no {kind} `{name}`"), known)
    }

    /// The trace in the file `name`; `key` names it.
    pub(super) fn trace(&self, key: &str, name: &str) -> Result<Trace, ScenarioError> {
        self.files.trace(name).map_err(|fault| match fault {
            FileFault::Unreadable { path, error } => {
                let message = format!("the trace file `{path}` cannot be read: {error}");
                self.wrong(key, message, "a Mahimahi trace, relative to the scenario file")
            }
            FileFault::Line { path, line, message, text } => ScenarioError::new(Diagnostic {
                file: Some(path),
                line: Some(line),
                column: Some(1),
                key: key.to_owned(),
                message,
                expected: "a time in ms on each line, ascending".into(),
                width: text.chars().count(),
                source_line: Some(text),
                ..Diagnostic::default()
            }),
        })
    }

    /// The text of the file `name`, and its path in messages; `what` it should be.
    pub(super) fn text(&self, key: &str, name: &str, what: &str) -> Result<(String, String), ScenarioError> {
        self.files.text(name).map_err(|(path, error)| {
            let message = format!("the file `{path}` cannot be read: {error}");
            self.wrong(key, message, format!("{what}, relative to the scenario file"))
        })
    }
}

/// All values, or all mistakes.
pub(super) fn every<T>(
    results: impl IntoIterator<Item = Result<T, ScenarioError>>,
) -> Result<Vec<T>, ScenarioError> {
    let mut values = Vec::new();
    let mut mistakes = Vec::new();
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(mistake) => mistakes.push(mistake),
        }
    }
    if mistakes.is_empty() { Ok(values) } else { Err(ScenarioError::all(mistakes)) }
}

/// Two values that do not hang on each other, or the mistakes of both.
pub(super) fn both<A, B>(
    one: Result<A, ScenarioError>,
    other: Result<B, ScenarioError>,
) -> Result<(A, B), ScenarioError> {
    match (one, other) {
        (Ok(one), Ok(other)) => Ok((one, other)),
        (Err(one), Err(other)) => Err(ScenarioError::all(vec![one, other])),
        (Err(mistake), Ok(_)) | (Ok(_), Err(mistake)) => Err(mistake),
    }
}

/// A table of the file, by the path of its key: where the messages about its keys point.
pub(crate) struct Place<'a> {
    pub(crate) context: &'a Context<'a>,
    /// `links.dsl`.
    pub(crate) base: String,
}

impl<'a> Place<'a> {
    /// The table at `base`.
    pub(crate) fn new(context: &'a Context<'a>, base: impl Into<String>) -> Self {
        Self { context, base: base.into() }
    }

    /// The path of one of the table's keys.
    pub(crate) fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.base)
    }

    /// A value that cannot be.
    pub(crate) fn wrong(
        &self,
        key: &str,
        message: impl Into<String>,
        expected: impl Into<String>,
    ) -> ScenarioError {
        self.context.wrong(&self.key(key), message, expected)
    }

    /// A key that cannot be here, or is missing.
    pub(crate) fn misplaced(
        &self,
        key: &str,
        message: impl Into<String>,
        expected: impl Into<String>,
    ) -> ScenarioError {
        self.context.misplaced(&self.key(key), message, expected)
    }
}
