//! The keys that a file may have.

use ipnet::IpNet;
use serde::Deserialize;
use std::net::{IpAddr, SocketAddr};
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
}

fn user() -> String {
    "nobody".to_owned()
}

const fn mark() -> u32 {
    0x7270
}

/// A site's hub.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HubTable {
    pub(super) key: Spanned<String>,
    pub(super) psk: Spanned<PathBuf>,
    pub(super) address: Option<SocketAddr>,
}

/// A site's path.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathTable {
    pub(super) name: Spanned<String>,
    pub(super) interface: Option<String>,
    pub(super) address: Option<IpAddr>,
    #[serde(default)]
    pub(super) port: u16,
    pub(super) remote: Option<SocketAddr>,
    pub(super) cost: Option<u32>,
    #[serde(default = "ethernet")]
    pub(super) mtu: u16,
}

const fn ethernet() -> u16 {
    1500
}

/// A hub's site.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteTable {
    pub(super) name: String,
    pub(super) key: Spanned<String>,
    pub(super) psk: Spanned<PathBuf>,
    #[serde(default)]
    pub(super) prefixes: Vec<IpNet>,
}

/// How packets take their paths.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BondTable {
    #[serde(default)]
    pub(super) scheduler: SchedulerName,
    pub(super) repair: Option<bool>,
    #[serde(default)]
    pub(super) keepalive: KeepaliveTable,
    #[serde(default)]
    pub(super) classes: Vec<ClassTable>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SchedulerName {
    #[default]
    RateAware,
    CostFirst,
    Redundant,
    FlowAware,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeepaliveTable {
    pub(super) interval: Option<Spanned<String>>,
    pub(super) suspect_after: Option<Spanned<String>>,
    pub(super) down_after: Option<Spanned<String>>,
}

/// How packets with a code point are treated.
#[derive(Debug, Deserialize)]
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
    Unordered,
    Duplicated,
    DuplicatedUnordered,
}
