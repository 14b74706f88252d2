//! Our FIN.

use ropewalk_units::Seq;

/// Where our FIN is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fin {
    /// The stream is open.
    None,
    /// To follow the last octet.
    Wanted,
    /// Sent, ending here.
    Sent(Seq),
    /// Acknowledged, and so everything before it.
    Acknowledged,
}
