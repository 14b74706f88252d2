//! For tests only: the segments of an attacker, and what a TCP has to accept of them.
//!
//! [`segment`] draws any segment that a header can hold. The choices come from a [`Source`]: a
//! seeded generator in tests, a fuzzer's octets in fuzz targets. [`must_accept`] is the oracle of
//! the tests with a blind attacker.

mod knowledge;
mod options;
mod oracle;
mod segment;
mod source;

pub use knowledge::Knowledge;
pub use options::{dss, rare};
pub use oracle::{Opening, Reason, Victim, Windows, must_accept};
pub use segment::{FOREIGN, Numbers, Target, segment};
pub use source::{Random, Source};
