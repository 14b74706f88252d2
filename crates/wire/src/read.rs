//! Octets into values. Every reader here is total: any octets give a value or a [`ReadError`], never a panic.
//!
//! A packet is read from outside to inside: [`IpPacket`], then [`TcpPacket`], [`UdpPacket`] or [`Icmp`]. Options are
//! read one at a time as they stand ([`TcpOptions`]), so that writing them again gives the same octets, or all
//! together as the stack takes them ([`crate::Options::read`]). A packet's content is not trusted. A checksum is
//! compared when asked for, since a network card may compute it later. A packet that a capture cut short says so.

mod cursor;
mod icmp;
mod ip;
mod mptcp;
mod option;
mod tcp;
mod udp;

pub use icmp::{Icmp, Quoted};
pub use ip::{Fragment, IpPacket};
pub use mptcp::{ReadDss, ReadMapping, ReadMptcp, WireDsn};
pub use option::{TcpOption, TcpOptions};
pub use tcp::TcpPacket;
pub use udp::UdpPacket;

use std::fmt;

/// Why octets are no packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadError {
    /// A header ends before it should.
    Truncated {
        /// Of what protocol.
        header: &'static str,
        /// Octets that it needs.
        needed: usize,
        /// Octets that are there.
        available: usize,
    },
    /// An IP version that is neither 4 nor 6.
    Version(u8),
    /// A length field that contradicts the header it stands in.
    Length {
        /// Of what protocol.
        header: &'static str,
        /// Its value, in octets.
        octets: usize,
    },
    /// Another protocol than the one asked for: its number.
    Protocol(u8),
    /// A fragment other than the first: the transport's header is not in it.
    Fragment,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { header, needed, available } => {
                write!(f, "{header}: the header needs {needed} octets, and {available} are there")
            }
            Self::Version(version) => write!(f, "IP version {version}: neither 4 nor 6"),
            Self::Length { header, octets } => {
                write!(f, "{header}: a length field of {octets} octets contradicts the header")
            }
            Self::Protocol(number) => write!(f, "IP protocol {number}: another was expected"),
            Self::Fragment => write!(f, "a later fragment: the transport's header is not in it"),
        }
    }
}

impl std::error::Error for ReadError {}
