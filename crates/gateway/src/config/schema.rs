//! The keys that a file may have.

use super::endpoint::Endpoint;
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
    pub(super) queues: Option<Spanned<u8>>,
}

impl Default for OffloadTable {
    fn default() -> Self {
        Self { tun: true, send: true, receive: true, queues: None }
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
    pub(super) state: Option<PathBuf>,
    pub(super) http: Option<SocketAddr>,
    #[serde(default = "super::defaults::mark")]
    pub(super) mark: u32,
    #[serde(default = "super::defaults::user")]
    pub(super) user: String,
    #[serde(default = "super::defaults::is_filtered")]
    pub(super) seccomp: bool,
}

/// A site's hub.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HubTable {
    pub(super) key: Spanned<String>,
    pub(super) psk: Spanned<PathBuf>,
    pub(super) address: Option<Spanned<Endpoint>>,
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
