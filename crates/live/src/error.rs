//! Why an emulation has no outcome.

use ropewalk_scenario::ScenarioError;
use ropewalk_units::Instant;
use std::fmt;
use std::io;

/// What was being done when the kernel refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Removing what dead runs have left.
    Clean,
    /// Taking a name for the run.
    Lock,
    /// Making a host: its namespace, interfaces, addresses, routes and settings.
    Host(String),
    /// Starting the daemon of a gateway, or asking it.
    Gateway(String),
    /// Opening the sockets of a connection.
    Sockets(String),
    /// Carrying packets.
    Links,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clean => f.write_str("what dead runs have left cannot be removed"),
            Self::Lock => f.write_str("the run has no lock in /run/ropewalk"),
            Self::Host(name) => write!(f, "the host `{name}` cannot be made"),
            Self::Gateway(name) => write!(f, "the gateway `{name}` does not run as it should"),
            Self::Sockets(name) => write!(f, "the connection `{name}` has no sockets"),
            Self::Links => f.write_str("the links carry nothing any more"),
        }
    }
}

/// Why an emulation has no outcome.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The scenario asks for what this machine cannot do. Nothing was made.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// Somebody stopped it.
    #[error("the run was interrupted at {at}")]
    Interrupted {
        /// The time that it had reached.
        at: Instant,
    },
    /// The kernel refused something. What was made is gone.
    #[error("{step}: {source}")]
    Kernel {
        /// What.
        step: Step,
        /// The kernel's words.
        source: io::Error,
    },
}
