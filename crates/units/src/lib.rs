//! Time, rates, sizes, probabilities and sequence numbers as types of their own.
//!
//! Everything here is plain data: integer nanoseconds, integer bits per second, wrapping sequence
//! numbers that refuse to be compared as integers. Quantities are parsed from and printed as text with
//! a unit (`"10 ms"`, `"10 Mbit/s"`, `"64 kB"`, `"0.5 %"`). The crate depends on nothing.

mod configuration;
mod parse;
mod probability;
mod rate;
mod sequence;
mod settings;
mod size;
mod time;
mod tuned;

pub use parse::ParseQuantityError;
pub use probability::Probability;
pub use rate::Rate;
pub use sequence::{Dsn, Mark, Seq, Ssn};
pub use size::Bytes;
pub use time::{Duration, Instant};
pub use tuned::Scale;
