//! What a gateway needs of its machine. A hub: forwarding, and translation of those addresses of
//! its sites that nobody else routes. A site: that what comes from the hub is not taken for
//! something that lost its way. This module looks, and changes nothing.

use crate::bond::HubConfig;
use crate::config::{Line, Tun};
use ipnet::IpNet;
use std::net::IpAddr;
use std::path::Path;
use std::process::Command;

/// A family of addresses, and where the kernel says whether it forwards it.
const FORWARDING: [(Family, &str); 2] =
    [(Family::V4, "net/ipv4/ip_forward"), (Family::V6, "net/ipv6/conf/all/forwarding")];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Family {
    V4,
    V6,
}

impl Family {
    const fn name(self) -> &'static str {
        match self {
            Self::V4 => "IPv4",
            Self::V6 => "IPv6",
        }
    }

    const fn has(self, prefix: &IpNet) -> bool {
        matches!((self, prefix), (Self::V4, IpNet::V4(_)) | (Self::V6, IpNet::V6(_)))
    }

    /// Do tables of this family of nftables see its packets?
    fn is_in(self, table: &str) -> bool {
        let own = if self == Self::V4 { "ip" } else { "ip6" };
        table == own || table == "inet"
    }

    /// The program that tells of the older rules.
    const fn saver(self) -> &'static str {
        match self {
            Self::V4 => "iptables-save",
            Self::V6 => "ip6tables-save",
        }
    }
}

/// What a hub lacks on this machine, one line each.
pub fn warnings(hub: &HubConfig) -> Vec<String> {
    let prefixes = hub.sites.iter().flat_map(|site| &site.prefixes).copied().collect::<Vec<_>>();
    let wanted = FORWARDING.into_iter().filter(|(family, _)| prefixes.iter().any(|one| family.has(one)));
    wanted
        .flat_map(|(family, key)| {
            let private = prefixes.iter().find(|one| family.has(one) && is_private(one));
            forwarding(family, key).into_iter().chain(private.and_then(|one| translation(family, one)))
        })
        .collect()
}

/// What a site lacks on this machine, one line each.
pub fn site_warnings(lines: &[Line], tun: &Tun) -> Vec<String> {
    let leads_inside = |address: IpAddr| tun.routes.iter().any(|route| route.contains(&address));
    let filtered = lines.iter().filter(|line| line.remote.is_ipv4() && leads_inside(line.remote.ip()));
    let interfaces = filtered.filter_map(|line| Some((line.interface.as_deref()?, line.remote.ip())));
    interfaces
        .filter(|(interface, _)| is_strict(interface))
        .map(|(interface, hub)| reverse_path(interface, hub))
        .collect()
}

/// Does the kernel drop what comes by another interface than answers would leave by? The greater of
/// two values counts (`rp_filter` in the kernel's `ip-sysctl`).
fn is_strict(interface: &str) -> bool {
    let value = |name: &str| {
        let path = Path::new("/proc/sys/net/ipv4/conf").join(name).join("rp_filter");
        std::fs::read_to_string(path).ok()?.trim().parse::<u8>().ok()
    };
    ["all", interface].into_iter().filter_map(value).max() == Some(1)
}

fn reverse_path(interface: &str, hub: IpAddr) -> String {
    let key = format!("net.ipv4.conf.{interface}.rp_filter");
    format!(
        "the route to {hub} leads into the tunnel, so the kernel may drop what comes from there by {interface}: sysctl -w {key}=2"
    )
}

fn forwarding(family: Family, key: &str) -> Option<String> {
    let text = std::fs::read_to_string(Path::new("/proc/sys").join(key)).ok()?;
    let warning = || format!("this machine does not forward {}: sysctl -w {key}=1", family.name());
    (text.trim() == "0").then(warning)
}

fn translation(family: Family, prefix: &IpNet) -> Option<String> {
    let told = told_by("nft", &["-j", "list", "ruleset"]).and_then(|json| nft_translates(family, &json));
    let older = || told_by(family.saver(), &["-t", "nat"]).map(|text| iptables_translates(&text));
    match [told, older()].into_iter().flatten().reduce(|one, other| one || other) {
        Some(true) => None,
        Some(false) => Some(format!(
            "nothing on this machine translates addresses of {}: no other network has a route to {prefix}",
            family.name()
        )),
        None => Some(format!(
            "whether this machine translates {prefix} is not known: only root may look, with `nft` or `{}`",
            family.saver()
        )),
    }
}

/// What a program prints, if it is there and succeeds.
fn told_by(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Does a rule of nftables translate source addresses? `None`: the JSON is not understood.
fn nft_translates(family: Family, json: &str) -> Option<bool> {
    let all: serde_json::Value = serde_json::from_str(json).ok()?;
    let rules = all.get("nftables")?.as_array()?.iter().filter_map(|one| one.get("rule"));
    let mut own = rules.filter(|rule| rule["family"].as_str().is_some_and(|table| family.is_in(table)));
    Some(own.any(|rule| {
        let statements = rule["expr"].as_array().into_iter().flatten();
        statements.into_iter().any(|one| one.get("masquerade").is_some() || one.get("snat").is_some())
    }))
}

/// Does a rule of iptables translate addresses?
fn iptables_translates(rules: &str) -> bool {
    rules.lines().any(|rule| {
        let mut words = rule.split_whitespace().skip_while(|word| *word != "-j");
        matches!(words.nth(1), Some("MASQUERADE" | "SNAT" | "NETMAP"))
    })
}

/// Addresses that only networks of one owner route (RFC 1918, RFC 6598, RFC 4193).
fn is_private(prefix: &IpNet) -> bool {
    match prefix.addr() {
        IpAddr::V4(address) => {
            let [a, b, ..] = address.octets();
            address.is_private() || (a == 100 && b & 0xc0 == 64)
        }
        IpAddr::V6(address) => address.is_unique_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_that_translates_is_found_in_its_family() {
        let rule = |family: &str, last: &str| {
            format!(
                r#"{{"nftables": [{{"metainfo": {{"version": "1.0.6"}}}}, {{"table": {{"family": "{family}", "name": "nat"}}}},
                {{"rule": {{"family": "{family}", "table": "nat", "chain": "post", "expr": [
                {{"match": {{"op": "==", "left": {{"meta": {{"key": "oifname"}}}}, "right": "eth0"}}}}, {last}]}}}}]}}"#
            )
        };
        let masquerade = r#"{"masquerade": null}"#;
        assert_eq!(nft_translates(Family::V4, &rule("ip", masquerade)), Some(true));
        assert_eq!(
            nft_translates(Family::V4, &rule("inet", r#"{"snat": {"addr": "192.0.2.1"}}"#)),
            Some(true)
        );
        assert_eq!(nft_translates(Family::V4, &rule("ip6", masquerade)), Some(false));
        assert_eq!(nft_translates(Family::V4, &rule("ip", r#"{"accept": null}"#)), Some(false));
        assert_eq!(nft_translates(Family::V4, r#"{"nftables": []}"#), Some(false));
        assert_eq!(nft_translates(Family::V4, "Operation not permitted"), None);
    }

    #[test]
    fn a_rule_of_iptables_is_found_by_its_target() {
        let rules =
            "*nat\n:POSTROUTING ACCEPT [0:0]\n-A POSTROUTING -s 10.9.0.0/24 -o eth0 -j MASQUERADE\nCOMMIT\n";
        assert!(iptables_translates(rules));
        assert!(!iptables_translates(
            "*nat\n:POSTROUTING ACCEPT [0:0]\n-A PREROUTING -j DNAT --to SNAT\nCOMMIT\n"
        ));
    }

    #[test]
    fn addresses_that_the_world_routes_need_no_translation() {
        let is = |text: &str| is_private(&text.parse().expect("a prefix"));
        assert!(
            ["10.9.0.2/32", "172.31.0.0/16", "192.168.7.0/24", "100.64.0.0/10", "fd09::/64"]
                .into_iter()
                .all(is)
        );
        assert!(!["203.0.113.0/24", "100.128.0.0/10", "2001:db8::/32", "172.32.0.0/16"].into_iter().any(is));
    }
}
