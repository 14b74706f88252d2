//! Why there is no network.

use std::fmt;

/// Why a plan has no stage.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WifiError {
    /// The key of the scenario file.
    pub key: String,
    /// What is wrong.
    pub message: String,
    /// What would have been right.
    pub expected: String,
}

impl WifiError {
    pub(super) fn new(
        key: impl Into<String>,
        message: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self { key: key.into(), message: message.into(), expected: expected.into() }
    }
}

impl fmt::Display for WifiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (expected {})", self.key, self.message, self.expected)
    }
}

impl std::error::Error for WifiError {}
