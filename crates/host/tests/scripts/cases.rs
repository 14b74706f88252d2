//! The scripts.

/// A connection that a peer opened so many milliseconds away; it permits SACK, and has neither
/// timestamps nor window scaling.
macro_rules! accepted_after {
    ($round_trip:literal, $($rest:expr),*) => {
        concat!(
            "listen
            < S 0:1 mss 1460 sackok
            > S. 0:1 ack 1
            +",
            $round_trip,
            " < . 1:1 ack 1
            accept
            ",
            $($rest),*
        )
    };
}

/// The same 20 ms away.
macro_rules! accepted {
    ($($rest:expr),*) => { accepted_after!("20", $($rest),*) };
}

/// Ten segments that a host has sent and nothing acknowledges.
macro_rules! ten_after {
    ($round_trip:literal, $($rest:expr),*) => {
        accepted_after!(
            $round_trip,
            "write 14600
            > . 1:1461
            > . 1461:2921
            > . 2921:4381
            > . 4381:5841
            > . 5841:7301
            > . 7301:8761
            > . 8761:10221
            > . 10221:11681
            > . 11681:13141
            > . 13141:14601 push
            ",
            $($rest),*
        )
    };
}

/// The same to a peer 20 ms away.
macro_rules! ten_on_their_way {
    ($($rest:expr),*) => { ten_after!("20", $($rest),*) };
}

/// The same to a peer 200 ms away, for what depends on parts of a round trip.
macro_rules! far_ten_on_their_way {
    ($($rest:expr),*) => { ten_after!("200", $($rest),*) };
}

mod attacks;
mod closing;
mod opening;
mod receiving;
mod recovering;
mod sending;

use crate::world::Setting;

/// A script, and why it has lines that hold in one world alone, if it has.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) settings: &'static [Setting],
    pub(crate) script: &'static str,
    pub(crate) reason: &'static str,
}

impl Case {
    /// Both do the same.
    const fn new(name: &'static str, script: &'static str) -> Self {
        Self { name, settings: &[], script, reason: "" }
    }

    const fn with(self, settings: &'static [Setting]) -> Self {
        Self { settings, ..self }
    }

    /// They do not, and this is why.
    const fn differs(self, reason: &'static str) -> Self {
        Self { reason, ..self }
    }
}

/// What the scripts are about, and the scripts.
pub(crate) const TOPICS: &[(&str, &[Case])] = &[
    ("opening", opening::CASES),
    ("receiving", receiving::CASES),
    ("sending", sending::CASES),
    ("losses", recovering::CASES),
    ("closing", closing::CASES),
    ("attacks", attacks::CASES),
];

/// All scripts.
pub(crate) fn all() -> impl Iterator<Item = &'static Case> {
    TOPICS.iter().flat_map(|(_, cases)| *cases)
}
