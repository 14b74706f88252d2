//! Mistakes in a file, told with their place.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A mistake in a configuration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    /// The file.
    pub path: PathBuf,
    /// Line and column, from 1. `None`: it concerns the whole file.
    pub at: Option<(usize, usize)>,
    /// The key.
    pub key: Option<String>,
    /// What is expected there.
    pub expected: String,
}

impl Mistake {
    pub(super) fn unreadable(path: &Path, error: &io::Error) -> Self {
        Self {
            path: path.to_owned(),
            at: None,
            key: None,
            expected: format!("a file that can be read: {error}"),
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some((line, column)) = self.at {
            write!(f, ":{line}:{column}")?;
        }
        if let Some(key) = &self.key {
            write!(f, ": {key}")?;
        }
        write!(f, ": expected {}", self.expected)
    }
}

impl std::error::Error for Mistake {}

/// A file's text, to find places in.
pub(super) struct Place<'a> {
    pub(super) path: &'a Path,
    pub(super) text: &'a str,
}

impl Place<'_> {
    /// A mistake at octets of the text.
    pub(super) fn at(&self, span: Range<usize>, expected: impl Into<String>) -> Mistake {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&sign| sign != '\n').count() + 1;
        let key = self.key(line);
        Mistake { path: self.path.to_owned(), at: Some((line, column)), key, expected: expected.into() }
    }

    /// A key that is not there.
    pub(super) fn missing(&self, key: &str, expected: impl Into<String>) -> Mistake {
        Mistake { path: self.path.to_owned(), at: None, key: Some(key.to_owned()), expected: expected.into() }
    }

    /// A mistake that the parser found: no TOML, or not what the schema says.
    pub(super) fn toml(&self, error: &toml::de::Error) -> Mistake {
        let expected = match error.message().strip_prefix("expected ") {
            Some(expected) => expected.to_owned(),
            None => format!("something else: {}", error.message()),
        };
        self.at(error.span().unwrap_or(0..0), expected)
    }

    /// The key of a line: its own, below the table that it stands in.
    fn key(&self, line: usize) -> Option<String> {
        let lines: Vec<&str> = self.text.lines().take(line).collect();
        let header =
            |text: &&&str| text.trim_start().starts_with('[') && text.contains(']') && !text.contains('=');
        let table = lines
            .iter()
            .rev()
            .find(header)
            .map(|text| text.trim().trim_matches(|sign| sign == '[' || sign == ']').to_owned());
        let own = lines.last().and_then(|text| text.split_once('=')).map(|(key, _)| key.trim().to_owned());
        match (table, own) {
            (Some(table), Some(own)) => Some(format!("{table}.{own}")),
            (table, own) => own.or(table),
        }
    }
}
