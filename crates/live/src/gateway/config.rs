//! What the daemons of a bond are configured with. All of it follows from the scenario.

use crate::site::interface_name;
use ropewalk_scenario::plan::{AddressIndex, BondPlan, LinkIndex, LinkPlan, PathPlan, Plan};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::net::{IpAddr, SocketAddr};

/// First UDP port of hubs. A hub whose first bond is the k-th of the plan has the k-th port from
/// here.
const FIRST_PORT: u16 = 5_600;
/// First mark of the daemons' own packets, which is also the number of their routing table. The
/// daemons of the k-th bond of the plan have the k-th from here. The first is the daemon's own
/// default (`docs/gateway.md`).
const FIRST_MARK: u32 = 0x7270;

/// A bond on its way to the configuration of its site.
#[derive(Clone)]
pub(super) struct Draft<'a> {
    pub(super) plan: &'a Plan,
    /// Its number among the bonds.
    pub(super) number: usize,
    /// That of the first bond of its hub.
    pub(super) hub: usize,
    /// Its place among the links.
    pub(super) index: LinkIndex,
    pub(super) link: &'a LinkPlan,
    pub(super) bond: &'a BondPlan,
    /// Its table, with every key.
    pub(super) table: Value,
}

/// The bonds of one hub: they end at the same router, and their gateways have the same keys.
pub(super) struct Hub<'a> {
    pub(super) bonds: Vec<Draft<'a>>,
}

/// Keys of a bond's table that the `[bond]` table of a configuration does not have.
const ELSEWHERE: [&str; 4] = ["between", "paths", "run_up", "classes"];

/// The end that asks for a session, or the one that is asked: the first gateway of a bond and the
/// second.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    Site,
    Hub,
}

impl Role {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Site => "site",
            Self::Hub => "hub",
        }
    }

    /// Which of a link's ends it is.
    pub(super) const fn end(self) -> usize {
        match self {
            Self::Site => 0,
            Self::Hub => 1,
        }
    }
}

/// A TOML list of texts in quotes. The names of a scenario need no escapes.
fn list(items: impl IntoIterator<Item = impl ToString>) -> String {
    let items = items.into_iter().map(|item| format!("\"{}\"", item.to_string()));
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// The prefix that is a whole address.
fn whole(address: IpAddr) -> String {
    format!("{address}/{}", if address.is_ipv4() { 32 } else { 128 })
}

/// The keys of a table as lines of TOML; those of tables in it have dotted names. What JSON says of
/// texts, numbers and booleans, TOML says, too.
fn lines(prefix: &str, table: &Value, leave_out: &[&str], text: &mut String) {
    for (key, value) in
        table.as_object().into_iter().flatten().filter(|(key, _)| !leave_out.contains(&key.as_str()))
    {
        match value {
            Value::Null => {}
            Value::Object(_) => lines(&format!("{prefix}{key}."), value, &[], text),
            value => {
                let _ = writeln!(text, "{prefix}{key} = {value}");
            }
        }
    }
}

/// The file of an end's key, of the shared key, of a configuration, and so on; of a hub by the
/// number of its first bond.
pub(super) fn file(number: usize, what: &str) -> String {
    format!("{number}-{what}")
}

fn gateway(
    role: Role,
    number: usize,
    tun: &str,
    control: &str,
    addresses: impl Iterator<Item = IpAddr>,
) -> String {
    format!(
        "[gateway]\nrole = \"{}\"\nkey = \"{}\"\ntun = \"{tun}\"\naddresses = {}\ncontrol = \"{control}\"\nstate = \"{control}.json\"\nmark = {}\n",
        role.name(),
        file(number, &format!("{}.key", role.name())),
        list(addresses.map(whole)),
        FIRST_MARK + number as u32,
    )
}

impl Draft<'_> {
    /// The name of its interface at a gateway.
    fn tun(&self) -> String {
        interface_name(self.index, self.link)
    }

    /// What both ends of a bond are told, without what is of a path.
    pub(super) fn keys(&self) -> String {
        let mut text = String::from("[bond]\n");
        lines("", &self.table, &ELSEWHERE, &mut text);
        let word = |class: &Value, key: &str| class.get(key).map(Value::to_string).unwrap_or_default();
        let class = |class: &Value| {
            format!("{{ dscp = {}, class = {} }}", word(class, "dscp"), word(class, "treatment"))
        };
        let classes = self.table["classes"].as_array().into_iter().flatten().map(class).collect::<Vec<_>>();
        let _ = writeln!(text, "classes = [{}]", classes.join(", "));
        text
    }

    /// The configuration of its site; `hub` is the other's public key.
    pub(super) fn site(&self, control: &str, hub: &str) -> String {
        let own = self.link.addresses[Role::Site.end()];
        let mut text = gateway(Role::Site, self.number, &self.tun(), control, std::iter::once(own));
        let routes = self.addresses().filter(|&to| self.next(Role::Site, to) == Some(self.index));
        let routes = list(routes.map(|to| whole(self.plan.address(to))));
        let psk = file(self.number, "psk");
        let _ = writeln!(text, "routes = {routes}\n[hub]\nkey = \"{hub}\"\npsk = \"{psk}\"");
        for (place, path) in self.bond.paths.iter().enumerate() {
            let first = path.local.link();
            let _ = writeln!(
                text,
                "[[paths]]\nname = \"{}\"\ninterface = \"{}\"\naddress = \"{}\"\nremote = \"{}\"\nmtu = {}",
                path.name,
                interface_name(first, &self.plan.links[first]),
                self.plan.address(path.local),
                self.at_hub(path),
                self.mtu(path),
            );
            lines("", &self.table["paths"][place], &["link", "via"], &mut text);
        }
        text + &self.keys()
    }

    /// What its hub is told of its site. If there are several sites, each has the addresses behind
    /// it. A single site has all addresses, whatever way packets to them go: the kernel asks its
    /// own routes before the daemon's.
    fn member(&self, site: &str, is_alone: bool) -> String {
        let prefixes = self.addresses().filter(|&to| {
            let next = self.next(Role::Hub, to);
            if is_alone { next.is_some() } else { next == Some(self.index) }
        });
        let prefixes = list(prefixes.map(|to| whole(self.plan.address(to))));
        let (name, psk) = (&self.link.name, file(self.number, "psk"));
        let mut text = format!(
            "[[sites]]\nname = \"{name}\"\nkey = \"{site}\"\npsk = \"{psk}\"\nprefixes = {prefixes}\n"
        );
        for (place, path) in self.bond.paths.iter().enumerate() {
            let _ = writeln!(text, "[[sites.paths]]\nname = \"{}\"", path.name);
            lines("", &self.table["paths"][place], &["link", "via", "cost"], &mut text);
        }
        text
    }

    /// The second gateway's socket on a path.
    fn at_hub(&self, path: &PathPlan) -> SocketAddr {
        SocketAddr::new(self.plan.address(path.remote), FIRST_PORT + self.hub as u16)
    }

    /// The longest packet that goes by all links of a path.
    fn mtu(&self, path: &PathPlan) -> u32 {
        path.forward.iter().map(|&(link, _)| self.plan.links[link].mtu).min().unwrap_or(self.link.mtu)
    }

    fn addresses(&self) -> impl Iterator<Item = AddressIndex> + use<> {
        (0..2 * self.plan.links.len()).map(AddressIndex)
    }

    fn next(&self, role: Role, to: AddressIndex) -> Option<LinkIndex> {
        self.plan.routing.next(self.link.ends[role.end()], to)
    }
}

impl Hub<'_> {
    /// The number of its first bond.
    pub(super) fn number(&self) -> usize {
        self.bonds[0].number
    }

    /// The configuration; `sites` are the public keys, in the order of the bonds.
    pub(super) fn text(&self, control: &str, sites: &[String]) -> String {
        let addresses = self.bonds.iter().map(|bond| bond.link.addresses[Role::Hub.end()]);
        let mut text = gateway(Role::Hub, self.number(), &self.bonds[0].tun(), control, addresses);
        let ways = self.bonds.iter().flat_map(|bond| bond.bond.paths.iter().map(|path| bond.at_hub(path)));
        let listen = ways.collect::<BTreeSet<_>>();
        let _ = writeln!(text, "listen = {}", list(listen));
        text += &self.bonds[0].keys();
        for (bond, site) in self.bonds.iter().zip(sites) {
            text += &bond.member(site, self.bonds.len() == 1);
        }
        text
    }
}
