//! What the tests of this crate share: a reader of option octets, and strategies for options.
#![allow(dead_code, reason = "each test binary uses a part")]

pub(crate) mod generate;
pub(crate) mod read;
