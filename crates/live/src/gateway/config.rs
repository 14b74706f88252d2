//! What the daemons of a bond are configured with. All of it follows from the scenario.

use crate::site::interface_name;
use ropewalk_bonding::{Class, SchedulerConfig};
use ropewalk_scenario::plan::{AddressIndex, BondPlan, LinkIndex, LinkPlan, PathPlan, Plan};
use std::fmt::Write;
use std::net::{IpAddr, SocketAddr};

/// UDP port of a bond's second gateway; the k-th bond of the plan has the k-th from here.
const FIRST_PORT: u16 = 5_600;
/// Mark of the daemons' own packets and number of their table; the k-th bond of the plan has the k-th from here. As the daemon's own
/// default (`docs/gateway.md`).
const FIRST_MARK: u32 = 0x7270;

/// A bond on its way to two configurations.
pub(super) struct Draft<'a> {
    pub(super) plan: &'a Plan,
    /// Its number among the bonds.
    pub(super) number: usize,
    /// Its place among the links.
    pub(super) index: LinkIndex,
    pub(super) link: &'a LinkPlan,
    pub(super) bond: &'a BondPlan,
}

/// The end that asks for a session, or the one that is asked: the first gateway of a bond and the second.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    Site,
    Hub,
}

impl Role {
    pub(super) const BOTH: [Self; 2] = [Self::Site, Self::Hub];

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

/// Texts of TOML in quotes. The names of a scenario need no more.
fn list(items: impl IntoIterator<Item = impl ToString>) -> String {
    let items = items.into_iter().map(|item| format!("\"{}\"", item.to_string()));
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// The prefix that is a whole address.
fn whole(address: IpAddr) -> String {
    format!("{address}/{}", if address.is_ipv4() { 32 } else { 128 })
}

impl Draft<'_> {
    /// The file of an end's key, of the shared key, of a configuration, and so on.
    pub(super) fn file(&self, what: &str) -> String {
        format!("{}-{what}", self.number)
    }

    /// The configuration of an end; `peer` is the other's public key.
    pub(super) fn text(&self, role: Role, control: &str, peer: &str) -> String {
        let mut text = format!(
            "[gateway]\nrole = \"{}\"\nkey = \"{}\"\ntun = \"{}\"\naddresses = {}\ncontrol = \"{control}\"\nmark = {}\n",
            role.name(),
            self.file(&format!("{}.key", role.name())),
            interface_name(self.index, self.link),
            list([whole(self.link.addresses[role.end()])]),
            FIRST_MARK + self.number as u32,
        );
        match role {
            Role::Site => self.site(&mut text, peer),
            Role::Hub => self.hub(&mut text, peer),
        }
        self.bond(&mut text);
        text
    }

    fn site(&self, text: &mut String, hub: &str) {
        let routes = self.addresses().filter(|&to| self.next(Role::Site, to) == Some(self.index));
        let routes = list(routes.map(|to| whole(self.plan.address(to))));
        let _ = writeln!(text, "routes = {routes}\n[hub]\nkey = \"{hub}\"\npsk = \"{}\"", self.file("psk"));
        for (path, config) in self.bond.paths.iter().zip(&self.bond.config.paths) {
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
            if let Some(cost) = config.cost {
                let _ = writeln!(text, "cost = {cost}");
            }
        }
    }

    fn hub(&self, text: &mut String, site: &str) {
        let mut listen = self.bond.paths.iter().map(|path| self.at_hub(path)).collect::<Vec<_>>();
        listen.sort_unstable();
        listen.dedup();
        // Whatever way a packet goes back: the kernel asks its own routes before the daemon's.
        let prefixes = self.addresses().filter(|&to| self.next(Role::Hub, to).is_some());
        let prefixes = list(prefixes.map(|to| whole(self.plan.address(to))));
        let _ = writeln!(
            text,
            "listen = {}\n[[sites]]\nname = \"{}\"\nkey = \"{site}\"\npsk = \"{}\"\nprefixes = {prefixes}",
            list(listen),
            self.plan.nodes[self.link.ends[0]].name,
            self.file("psk"),
        );
    }

    fn bond(&self, text: &mut String) {
        let config = &self.bond.config;
        let keepalive = &config.keepalive;
        let _ = writeln!(
            text,
            "[bond]\nscheduler = \"{}\"\nrepair = {}\nclasses = [{}]\n[bond.keepalive]\ninterval = \"{}\"\nsuspect_after = \"{}\"\n\
             down_after = \"{}\"",
            scheduler(&config.scheduler),
            config.repair,
            self.classes(),
            keepalive.interval,
            keepalive.suspect_after,
            keepalive.down_after,
        );
    }

    fn classes(&self) -> String {
        let class = |class: &ropewalk_scenario::plan::ClassPlan| {
            Some(format!("{{ dscp = {}, class = \"{}\" }}", class.dscp, treatment(class.treatment)?))
        };
        self.bond.classes.iter().filter_map(class).collect::<Vec<_>>().join(", ")
    }

    /// The second gateway's socket on a path.
    fn at_hub(&self, path: &PathPlan) -> SocketAddr {
        SocketAddr::new(self.plan.address(path.remote), FIRST_PORT + self.number as u16)
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

/// As the daemon's files name it.
fn scheduler(config: &SchedulerConfig) -> &'static str {
    match config {
        SchedulerConfig::CostFirst(_) => "cost-first",
        SchedulerConfig::RateAware => "rate-aware",
        SchedulerConfig::Redundant => "redundant",
        SchedulerConfig::FlowAware(_) => "flow-aware",
        SchedulerConfig::WeightedRoundRobin(_) => unreachable!("checked: the daemon has none"),
    }
}

/// As the daemon's files name it; `None`: it has no such one.
const fn treatment(class: Class) -> Option<&'static str> {
    match class {
        Class::Normal => Some("normal"),
        Class::Unordered => Some("unordered"),
        Class::Duplicated => Some("duplicated"),
        Class::DuplicatedUnordered => Some("duplicated-unordered"),
        Class::LowDelay => None,
    }
}
