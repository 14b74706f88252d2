//! The keys that a file may have.

use super::keys::{BondTable, PathTable, SitePathTable};
use ipnet::IpNet;
use serde::Deserialize;
use std::net::SocketAddr;
use std::path::PathBuf;
use toml::Spanned;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) gateway: GatewayTable,
    pub(super) hub: Option<HubTable>,
    #[serde(default)]
    pub(super) paths: Vec<Spanned<PathTable>>,
    #[serde(default)]
    pub(super) sites: Vec<Spanned<SiteTable>>,
    #[serde(default)]
    pub(super) bond: BondTable,
    #[serde(default)]
    pub(super) offload: OffloadTable,
}

/// What the kernel is asked to do.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct OffloadTable {
    pub(super) tun: bool,
    pub(super) send: bool,
    pub(super) receive: bool,
}

impl Default for OffloadTable {
    fn default() -> Self {
        Self { tun: true, send: true, receive: true }
    }
}

/// Site or hub.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// It has several lines, and asks its hub for a session.
    Site,
    /// It has an address that everybody knows, and sites.
    Hub,
}

/// This gateway.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GatewayTable {
    pub(super) role: Spanned<Role>,
    pub(super) key: Spanned<PathBuf>,
    pub(super) tun: Spanned<String>,
    #[serde(default)]
    pub(super) addresses: Vec<IpNet>,
    #[serde(default)]
    pub(super) routes: Vec<IpNet>,
    pub(super) mtu: Option<Spanned<u16>>,
    #[serde(default)]
    pub(super) listen: Vec<SocketAddr>,
    pub(super) control: Option<PathBuf>,
    pub(super) http: Option<SocketAddr>,
    #[serde(default = "mark")]
    pub(super) mark: u32,
    #[serde(default = "user")]
    pub(super) user: String,
    #[serde(default = "is_filtered")]
    pub(super) seccomp: bool,
}

pub(super) const fn is_filtered() -> bool {
    true
}

pub(super) fn user() -> String {
    "nobody".to_owned()
}

pub(super) const fn mark() -> u32 {
    0x7270
}

/// A site's hub.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HubTable {
    pub(super) key: Spanned<String>,
    pub(super) psk: Spanned<PathBuf>,
    pub(super) address: Option<SocketAddr>,
}

pub(super) const fn ethernet() -> u16 {
    1500
}

/// A hub's site.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SiteTable {
    pub(super) name: String,
    pub(super) key: Spanned<String>,
    pub(super) psk: Spanned<PathBuf>,
    #[serde(default)]
    pub(super) prefixes: Vec<IpNet>,
    #[serde(default)]
    pub(super) paths: Vec<Spanned<SitePathTable>>,
}

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
