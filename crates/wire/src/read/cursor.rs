//! Takes big-endian numbers off the front of octets.

use super::ReadError;

/// What is left to read of one header.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
    header: &'static str,
}

impl<'a> Cursor<'a> {
    /// The first `len` octets, as a header of the protocol `header`; and what follows them.
    pub(super) fn split(
        octets: &'a [u8],
        len: usize,
        header: &'static str,
    ) -> Result<(Self, &'a [u8]), ReadError> {
        match octets.split_at_checked(len) {
            Some((rest, after)) => Ok((Self { rest, header }, after)),
            None => Err(ReadError::Truncated { header, needed: len, available: octets.len() }),
        }
    }

    /// All of the octets.
    pub(super) fn new(rest: &'a [u8], header: &'static str) -> Self {
        Self { rest, header }
    }

    pub(super) fn take<const N: usize>(&mut self) -> Result<[u8; N], ReadError> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(ReadError::Truncated {
            header: self.header,
            needed: N,
            available: self.rest.len(),
        })?;
        self.rest = rest;
        Ok(*taken)
    }

    pub(super) fn u8(&mut self) -> Result<u8, ReadError> {
        Ok(self.take::<1>()?[0])
    }

    pub(super) fn u16(&mut self) -> Result<u16, ReadError> {
        Ok(u16::from_be_bytes(self.take()?))
    }

    pub(super) fn u32(&mut self) -> Result<u32, ReadError> {
        Ok(u32::from_be_bytes(self.take()?))
    }

    pub(super) fn u64(&mut self) -> Result<u64, ReadError> {
        Ok(u64::from_be_bytes(self.take()?))
    }

    /// What has not been taken.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }
}
