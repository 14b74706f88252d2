//! The configuration of a GRE tunnel: `ropewalk-gateway gre`.

use super::Tun;
use super::defaults::{INTERFACE, interface_is_good};
use super::error::{Mistake, Place};
use super::keys::Time;
use crate::gre::{BondConfig, LEN};
use ipnet::IpNet;
use ropewalk_units::Duration;
use serde::Deserialize;
use std::net::IpAddr;
use std::path::Path;
use toml::Spanned;

/// The least that a tunnel has to carry: IPv6 needs it (RFC 8200 §5).
const LEAST_MTU: u16 = 1280;
/// Default of `buffer`, in packets: about 50 ms at 200 Mbit/s.
const MOST: usize = 1000;
const TIMER: Duration = Duration::from_millis(50);
/// Greatest weight.
const MOST_WEIGHT: u32 = 10_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    gre: GreTable,
    #[serde(default)]
    paths: Vec<Spanned<PathTable>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GreTable {
    tun: Spanned<String>,
    #[serde(default)]
    addresses: Vec<IpNet>,
    #[serde(default)]
    routes: Vec<IpNet>,
    key: u32,
    timer: Option<Spanned<Time>>,
    buffer: Option<Spanned<usize>>,
    #[serde(default = "super::defaults::mark")]
    mark: u32,
    #[serde(default = "super::defaults::user")]
    user: String,
    #[serde(default = "super::defaults::is_filtered")]
    seccomp: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PathTable {
    interface: Option<String>,
    local: IpAddr,
    remote: IpAddr,
    weight: Option<Spanned<u32>>,
    #[serde(default = "super::defaults::ethernet")]
    mtu: u16,
}

/// A path: a raw socket of IP protocol 47.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GrePath {
    /// The interface that it is bound to.
    pub interface: Option<String>,
    /// Its address here.
    pub local: IpAddr,
    /// The other end's.
    pub remote: IpAddr,
}

/// The configuration of a GRE tunnel.
#[derive(Clone, Debug)]
pub struct GreConfig {
    /// The TUN interface of the inside.
    pub tun: Tun,
    /// Its key, the weights of its paths, and how it restores order.
    pub bond: BondConfig,
    /// The paths, in the order of the bond's weights.
    pub paths: Vec<GrePath>,
    /// The mark of the tunnel's own packets, and the number of its routing table.
    pub mark: u32,
    /// The user that root becomes when everything is set up.
    pub user: String,
    /// Are system calls filtered when everything is set up?
    pub seccomp: bool,
}

impl GreConfig {
    /// Reads a file.
    ///
    /// # Errors
    /// [`Mistake`]: file, line, column, key and what is expected there.
    pub fn read(path: &Path) -> Result<Self, Mistake> {
        let text = std::fs::read_to_string(path).map_err(|error| Mistake::unreadable(path, &error))?;
        Self::parse(path, &text)
    }

    /// As [`Self::read`], from the text of the file.
    ///
    /// # Errors
    /// [`Mistake`]
    pub fn parse(path: &Path, text: &str) -> Result<Self, Mistake> {
        let place = Place { path, text };
        let file: File = toml::from_str(text).map_err(|error| place.toml(&error))?;
        let gre = &file.gre;
        if !interface_is_good(gre.tun.get_ref()) {
            return Err(place.at(gre.tun.span(), INTERFACE));
        }
        if file.paths.is_empty() {
            return Err(place.missing("paths", "one table [[paths]] at least"));
        }
        let mut weights = Vec::new();
        let mut mtu = u16::MAX;
        for spanned in &file.paths {
            let own = spanned.get_ref();
            if own.local.is_ipv4() != own.remote.is_ipv4() {
                return Err(place.at(spanned.span(), "`local` and `remote` of the same family"));
            }
            let weight = own.weight.as_ref().map_or(1, |weight| *weight.get_ref());
            if !(1..=MOST_WEIGHT).contains(&weight) {
                let span = own.weight.as_ref().map_or_else(|| spanned.span(), Spanned::span);
                return Err(place.at(span, format!("1 to {MOST_WEIGHT}")));
            }
            weights.push(weight);
            let inner = own.mtu.saturating_sub((if own.remote.is_ipv4() { 20 } else { 40 }) + LEN as u16);
            if inner < LEAST_MTU {
                return Err(
                    place.at(spanned.span(), format!("`mtu` that leaves {LEAST_MTU} octets, not {inner}"))
                );
            }
            mtu = mtu.min(inner);
        }
        let most = gre.buffer.as_ref().map_or(MOST, |most| *most.get_ref());
        if let Some(buffer) = gre.buffer.as_ref().filter(|most| *most.get_ref() == 0) {
            return Err(place.at(buffer.span(), "1 packet at least"));
        }
        let timer = gre.timer.as_ref().map_or(TIMER, |timer| timer.get_ref().get());
        let path = |own: &PathTable| GrePath {
            interface: own.interface.clone(),
            local: own.local,
            remote: own.remote,
        };
        Ok(Self {
            tun: Tun {
                name: gre.tun.get_ref().clone(),
                addresses: gre.addresses.clone(),
                routes: gre.routes.clone(),
                mtu,
            },
            bond: BondConfig { key: gre.key, weights, timer, most, mtu },
            paths: file.paths.iter().map(|spanned| path(spanned.get_ref())).collect(),
            mark: gre.mark,
            user: gre.user.clone(),
            seccomp: gre.seccomp,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"[gre]
tun = "gre0b"
addresses = ["10.9.0.2/24"]
key = 7
timer = "80 ms"

[[paths]]
local = "192.0.2.1"
remote = "192.0.2.2"
weight = 3

[[paths]]
local = "2001:db8::1"
remote = "2001:db8::2"
mtu = 1492
"#;

    #[test]
    fn a_tunnel_is_read_and_mistakes_are_told_with_their_place() {
        let parse = |text: &str| GreConfig::parse(Path::new("gre.toml"), text);
        let config = parse(GOOD).unwrap_or_else(|mistake| panic!("{mistake}"));
        // 1492 − 40 − 12
        assert_eq!((config.tun.mtu, &config.bond.weights[..]), (1440, &[3, 1][..]));
        assert_eq!(config.bond.timer, Duration::from_millis(80));
        for (from, to, expected) in [
            ("weight = 3", "weight = 0", "gre.toml:10:10: paths.weight: expected 1 to 10000"),
            ("\"80 ms\"", "\"80\"", "gre.toml:5:9: gre.timer: expected a time with its unit"),
            ("mtu = 1492", "mtu = 1200", "gre.toml:12:1: paths: expected `mtu` that leaves 1280 octets"),
            (
                "remote = \"192.0.2.2\"",
                "remote = \"::1\"",
                "gre.toml:7:1: paths: expected `local` and `remote`",
            ),
            ("key = 7\n", "", "gre.toml:1:1: gre: expected something else: missing field `key`"),
        ] {
            let got = parse(&GOOD.replace(from, to)).expect_err("a mistake").to_string();
            assert!(got.starts_with(expected), "{got}\nand not\n{expected}");
        }
    }
}
