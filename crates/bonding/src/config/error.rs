//! What is wrong with a configuration.

use std::fmt;

/// A configuration that cannot be used: which key, and what was expected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError {
    key: String,
    expected: String,
}

impl ConfigError {
    pub(crate) fn new(key: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { key: key.into(), expected: expected.into() }
    }

    /// The key, as in `paths.lte.max_weight`: fields of [`crate::Config`], paths by their names (by `[n]` where
    /// the name is what is wrong).
    pub fn key(&self) -> &str {
        &self.key
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
