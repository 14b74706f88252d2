//! The two ends of a connection.

/// Which end this is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// Made the active open: opens subflows.
    Client,
    /// Made the passive open: announces addresses.
    Server,
}
