//! What can be wrong, said so that it can be mended.

use std::fmt;

/// Why there is no answer.
#[derive(Clone, PartialEq, Debug)]
pub enum RoutingError {
    /// A setting that makes no sense.
    Setting {
        /// Which, by its name here and on the command line: `nodes`, `range`, `area`, …
        key: &'static str,
        /// What is wrong with it, and what would be right.
        message: String,
    },
    /// A file that cannot be used.
    File {
        /// Its name, as given.
        file: String,
        /// The line, from 1, when the reason is on one.
        line: Option<usize>,
        /// What is wrong with it.
        message: String,
    },
    /// The deployments that were asked for are too rare.
    Rare {
        /// The condition that was hoped for.
        condition: &'static str,
        /// How many were asked for.
        wanted: usize,
        /// How many were found.
        found: usize,
        /// How many of the drawn deployments were connected.
        connected: u64,
        /// How many were drawn: the limit.
        drawn: u64,
    },
    /// Somebody asked to stop.
    Interrupted {
        /// How many deployments had been found.
        found: usize,
        /// How many had been drawn.
        drawn: u64,
    },
}

impl RoutingError {
    pub(crate) fn setting(key: &'static str, message: impl Into<String>) -> Self {
        Self::Setting { key, message: message.into() }
    }

    pub(crate) fn file(file: &str, line: Option<usize>, message: impl Into<String>) -> Self {
        Self::File { file: file.to_owned(), line, message: message.into() }
    }
}

impl std::error::Error for RoutingError {}

impl fmt::Display for RoutingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting { key, message } => write!(f, "{key}: {message}"),
            Self::File { file, line: Some(line), message } => write!(f, "{file}:{line}: {message}"),
            Self::File { file, line: None, message } => write!(f, "{file}: {message}"),
            Self::Rare { condition, wanted, found, connected, drawn } => {
                write!(f, "found {found} of {wanted} deployments that are {condition} among {drawn} drawn")?;
                write!(
                    f,
                    " ({connected} connected), the limit of draws: they are {}; ",
                    rarity(*found, *drawn)
                )?;
                f.write_str("more nodes, a longer range or a smaller area would help")
            }
            Self::Interrupted { found, drawn } => {
                write!(f, "interrupted after {drawn} drawn deployments, {found} found")
            }
        }
    }
}

/// How rare something is that was seen `found` times in `drawn`.
fn rarity(found: usize, drawn: u64) -> String {
    if found > 0 {
        return format!("about 1 in {:.0}", drawn as f64 / found as f64);
    }
    // The rule of three: (1 - p)^n = 5 % at p = 3/n.
    format!("rarer than 1 in {:.0} with 95 % confidence", drawn as f64 / 3.0)
}
