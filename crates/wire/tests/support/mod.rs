//! What the tests of this crate share: captures, and strategies for options.
#![allow(dead_code, reason = "each test binary uses a part")]

pub(crate) mod generate;
pub(crate) mod pcap;
