//! A fuzzer's octets as a source of choices.

use arbitrary::Unstructured;
use ropewalk_adversary::Source;

/// Takes as few octets for a choice as it needs; past the end all choices are the first one.
pub(crate) struct Octets<'a>(Unstructured<'a>);

impl<'a> Octets<'a> {
    /// These.
    pub(crate) fn new(octets: &'a [u8]) -> Self {
        Self(Unstructured::new(octets))
    }

    /// Is there nothing left?
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Source for Octets<'_> {
    fn next(&mut self) -> u64 {
        self.0.arbitrary().unwrap_or(0)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0.int_in_range(0..=bound - 1).unwrap_or(0)
    }
}
