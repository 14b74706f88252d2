//! Code points and how their packets are treated.

use serde::Deserialize;

/// How packets with a code point are treated.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClassTable {
    pub(super) dscp: Dscp,
    pub(super) class: ClassName,
}

/// A code point: 0 to 63.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "u8")]
pub(super) struct Dscp(u8);

impl TryFrom<u8> for Dscp {
    type Error = &'static str;

    fn try_from(value: u8) -> Result<Self, Self::Error> {
        if value < 64 { Ok(Self(value)) } else { Err("a code point is 0 to 63") }
    }
}

impl Dscp {
    pub(super) const fn get(self) -> u8 {
        self.0
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ClassName {
    Normal,
    LowDelay,
    Unordered,
    Duplicated,
    DuplicatedUnordered,
}
