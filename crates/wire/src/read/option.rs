//! TCP options, one at a time as they stand, and all together as the stack takes them.

use super::ReadError;
use super::cursor::Cursor;
use super::mptcp::ReadMptcp;
use crate::codes::kind;
use crate::options::emit_option;
use crate::segment::{Options, SackBlocks, Timestamps};
use ropewalk_units::{Dsn, Seq};

/// One option as it stands in a header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TcpOption<'a> {
    /// The end of the list, with the padding behind it.
    End(&'a [u8]),
    /// No operation: one octet.
    Nop,
    /// Maximum segment size, in octets.
    Mss(u16),
    /// Window scale: a shift.
    WindowScale(u8),
    /// SACK permitted.
    SackPermitted,
    /// One to four SACK blocks.
    Sack(SackBlocks),
    /// Timestamps.
    Timestamps(Timestamps),
    /// One of Multipath TCP's.
    Mptcp(ReadMptcp<'a>),
    /// Another kind, or one of the above with a length that it cannot have.
    Unknown {
        /// Its kind.
        kind: u8,
        /// What stands behind kind and length.
        body: &'a [u8],
    },
    /// From here on the area is no list of options: a length below 2, or beyond the end (RFC 9293 MUST-7).
    Broken(&'a [u8]),
}

/// The options of a header in their order. The walk ends at the list's end or where it is broken.
#[derive(Clone, Copy, Debug)]
pub struct TcpOptions<'a> {
    rest: &'a [u8],
}

impl<'a> TcpOptions<'a> {
    /// Of this option area.
    pub const fn new(area: &'a [u8]) -> Self {
        Self { rest: area }
    }
}

impl<'a> Iterator for TcpOptions<'a> {
    type Item = TcpOption<'a>;

    fn next(&mut self) -> Option<TcpOption<'a>> {
        let all = std::mem::take(&mut self.rest);
        Some(match *all {
            [] => return None,
            [kind::END, ref padding @ ..] => TcpOption::End(padding),
            [kind::NOP, ref rest @ ..] => {
                self.rest = rest;
                TcpOption::Nop
            }
            [kind, len, ..] if (2..=all.len()).contains(&usize::from(len)) => {
                let (option, rest) = all.split_at(usize::from(len));
                self.rest = rest;
                TcpOption::read(kind, &option[2..])
            }
            _ => TcpOption::Broken(all),
        })
    }
}

impl<'a> TcpOption<'a> {
    fn read(kind: u8, body: &'a [u8]) -> Self {
        Self::known(kind, body).ok().flatten().unwrap_or(Self::Unknown { kind, body })
    }

    /// The option, if the kind is known and the length one that it can have.
    fn known(kind: u8, body: &'a [u8]) -> Result<Option<Self>, ReadError> {
        let mut cursor = Cursor::new(body, "TCP option");
        let option = match kind {
            kind::MSS => Self::Mss(cursor.u16()?),
            kind::WINDOW_SCALE => Self::WindowScale(cursor.u8()?),
            kind::SACK_PERMITTED => Self::SackPermitted,
            kind::SACK => Self::Sack(sack(&mut cursor)?),
            kind::TIMESTAMPS => Self::Timestamps(Timestamps { value: cursor.u32()?, echo: cursor.u32()? }),
            kind::MPTCP => return Ok(Some(Self::Mptcp(ReadMptcp::read(body)))),
            _ => return Ok(None),
        };
        Ok((cursor.left() == 0).then_some(option))
    }

    /// Appends the option's octets, as they stood.
    pub fn emit(&self, out: &mut Vec<u8>) {
        match self {
            Self::End(padding) => {
                out.push(kind::END);
                out.extend_from_slice(padding);
            }
            Self::Nop => out.push(kind::NOP),
            Self::Mss(mss) => emit_option(kind::MSS, out, |out| out.extend(mss.to_be_bytes())),
            Self::WindowScale(shift) => emit_option(kind::WINDOW_SCALE, out, |out| out.push(*shift)),
            Self::SackPermitted => emit_option(kind::SACK_PERMITTED, out, |_| {}),
            Self::Sack(blocks) => emit_option(kind::SACK, out, |out| {
                for (left, right) in blocks.as_slice() {
                    out.extend(left.get().to_be_bytes());
                    out.extend(right.get().to_be_bytes());
                }
            }),
            Self::Timestamps(Timestamps { value, echo }) => emit_option(kind::TIMESTAMPS, out, |out| {
                out.extend(value.to_be_bytes());
                out.extend(echo.to_be_bytes());
            }),
            Self::Mptcp(option) => emit_option(kind::MPTCP, out, |out| option.emit_body(out)),
            Self::Unknown { kind, body } => emit_option(*kind, out, |out| out.extend_from_slice(body)),
            Self::Broken(octets) => out.extend_from_slice(octets),
        }
    }
}

/// RFC 2018 §3: one to four blocks; none, five or a part of one is refused.
fn sack(cursor: &mut Cursor<'_>) -> Result<SackBlocks, ReadError> {
    if !matches!(cursor.left(), 8 | 16 | 24 | 32) {
        return Err(ReadError::Length { header: "SACK", octets: cursor.left() });
    }
    let mut blocks = SackBlocks::EMPTY;
    while cursor.left() > 0 {
        blocks.push(Seq::new(cursor.u32()?), Seq::new(cursor.u32()?));
    }
    Ok(blocks)
}

impl Options {
    /// The options of an option area, as the stack takes them: unknown and malformed ones are left out, of two of one kind the
    /// later counts. A DSN of 32 bits is the one nearest to `near`, the connection's next.
    pub fn read(area: &[u8], near: Dsn) -> Self {
        let mut options = Self::default();
        for option in TcpOptions::new(area) {
            match option {
                TcpOption::Mss(mss) => options.mss = Some(mss),
                TcpOption::WindowScale(shift) => options.window_scale = Some(shift),
                TcpOption::SackPermitted => options.sack_permitted = true,
                TcpOption::Sack(blocks) => options.sack = blocks,
                TcpOption::Timestamps(timestamps) => options.timestamps = Some(timestamps),
                TcpOption::Mptcp(ReadMptcp::Dss(dss)) => options.mptcp.dss = Some(dss.near(near)),
                TcpOption::Mptcp(ReadMptcp::Rare(option)) => options.mptcp.push(option),
                TcpOption::Mptcp(ReadMptcp::Unknown(_))
                | TcpOption::End(_)
                | TcpOption::Nop
                | TcpOption::Unknown { .. }
                | TcpOption::Broken(_) => {}
            }
        }
        options
    }
}
