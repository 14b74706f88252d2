//! What is wrong with a configuration.

use std::fmt;

/// A configuration that cannot be used: which key, and what was expected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError {
    key: String,
    expected: String,
    conflict: Option<Conflict>,
}

/// The other side of a [`ConfigError`] where two keys contradict each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// The value of the key at fault, as text: its default if nobody gave one.
    pub value: String,
    /// The key that it contradicts.
    pub with: &'static str,
}

impl ConfigError {
    pub(crate) fn new(key: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { key: key.into(), expected: expected.into(), conflict: None }
    }

    /// Adds that the key's value contradicts another key.
    pub(crate) fn against(mut self, value: impl fmt::Display, with: &'static str) -> Self {
        self.conflict = Some(Conflict { value: value.to_string(), with });
        self
    }

    /// The key, as in `paths.lte.max_weight`: fields of [`crate::Config`], paths by their names (by
    /// `[n]` where the name is what is wrong).
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The value and the key that it contradicts, if the bound is another key's.
    pub const fn conflict(&self) -> Option<&Conflict> {
        self.conflict.as_ref()
    }

    /// What was expected.
    pub fn expected(&self) -> &str {
        &self.expected
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}", self.key, self.expected)
    }
}

impl std::error::Error for ConfigError {}
