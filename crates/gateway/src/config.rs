//! The configuration: TOML with units, checked before anything begins.

mod class;
mod defaults;
mod endpoint;
mod error;
mod gre;
mod keys;
mod schema;

pub use endpoint::{Endpoint, Lookup, Names, address_of, ask_system};
pub use error::Mistake;
pub use gre::{GreConfig, GrePath};
pub use schema::Role;

use crate::bond::{HubConfig, Inside, Member, Path as SitePath, Prefixes, SiteConfig, Way, check_alone};
use crate::key::SecretKey;
use crate::packet::FlowHasher;
use crate::session::message::OVERHEAD;
use crate::session::offer::{NAME, name_is_good};
use class::ClassName;
use defaults::{INTERFACE, interface_is_good};
use endpoint::Directory;
use error::Place;
use ipnet::IpNet;
use keys::{PathTable, SitePathTable};
use ropewalk_bonding::{Class, CompactHeader, Config as Bond, ConfigError, MAX_PATHS, PathConfig};
use schema::{File, HubTable, OffloadTable, SiteTable};
use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use toml::Spanned;

/// The least that a tunnel has to carry: IPv6 needs it (RFC 8200 §5).
const LEAST_MTU: u16 = 1280;
/// Octets of UDP's header.
const UDP: usize = 8;
/// The most sites of a hub. All their sessions have names of two octets.
const MOST_SITES: usize = 4096;
/// The most queues of the TUN interface.
const MOST_QUEUES: u8 = 16;

/// A path's socket: where it is bound, and where it leads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// The interface that it is bound to.
    pub interface: Option<String>,
    /// The address that it is bound to. With port 0 the kernel chooses the port.
    pub local: SocketAddr,
    /// The hub's address on it.
    pub remote: SocketAddr,
    /// The name with its port that this address was found by.
    pub host: Option<String>,
    /// The longest IP packet that it may carry, in octets.
    pub mtu: u16,
}

/// The role of a gateway, with its configuration.
pub enum Part {
    /// A site.
    Site {
        /// The session and the bond.
        config: Box<SiteConfig>,
        /// Its paths' sockets.
        lines: Vec<Line>,
    },
    /// A hub.
    Hub {
        /// The sessions and the bonds.
        config: Box<HubConfig>,
        /// Where it listens.
        listen: Vec<SocketAddr>,
    },
}

/// The TUN interface and the routes into it.
#[derive(Clone, Debug)]
pub struct Tun {
    /// Its name.
    pub name: String,
    /// Its addresses.
    pub addresses: Vec<IpNet>,
    /// What is routed into it.
    pub routes: Vec<IpNet>,
    /// Its MTU, in octets.
    pub mtu: u16,
}

/// Offloads that are used if the kernel has them: many packets in one system call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offload {
    /// GSO and GRO on the TUN interface: packets of a flow cross it as one, and the kernel leaves
    /// their checksums to this process.
    pub tun: bool,
    /// UDP_SEGMENT, and `sendmmsg` where that is refused.
    pub send: bool,
    /// `recvmmsg` with UDP_GRO.
    pub receive: bool,
    /// Queues of the TUN interface. With more than one each has threads of its own.
    pub queues: u8,
}

/// The whole configuration of a gateway.
pub struct Config {
    /// The TUN interface of the inside.
    pub tun: Tun,
    /// Site or hub.
    pub part: Part,
    /// The Unix socket of `status` and `path`.
    pub control: PathBuf,
    /// The file that keeps what was spent of quotas.
    pub state: PathBuf,
    /// Where metrics and the status page are served over HTTP. `None`: nowhere.
    pub http: Option<SocketAddr>,
    /// The mark of the tunnel's own packets, and the number of its routing table.
    pub mark: u32,
    /// What the kernel is asked to do.
    pub offload: Offload,
    /// The user that root becomes when everything is set up.
    pub user: String,
    /// Are system calls filtered when everything is set up?
    pub seccomp: bool,
    /// The key of the hash that names flows.
    pub flow_key: [u64; 2],
    /// The addresses that the names in the file stood for.
    pub names: Names,
}

impl Config {
    /// Has a path a quota?
    pub fn has_quota(&self) -> bool {
        let has = |paths: &[PathConfig]| paths.iter().any(|path| path.quota.is_some());
        match &self.part {
            Part::Site { config, .. } => has(&config.bond.paths),
            Part::Hub { config, .. } => config.sites.iter().any(|site| has(&site.paths)),
        }
    }

    /// Reads a file. `lookup` gives the addresses of names: [`ask_system`], or those of a record.
    ///
    /// # Errors
    /// [`Mistake`]: file, line, column, key and what is expected there.
    pub fn read(path: &Path, flow_key: [u64; 2], lookup: Lookup<'_>) -> Result<Self, Mistake> {
        let text = std::fs::read_to_string(path).map_err(|error| Mistake::unreadable(path, &error))?;
        Self::parse(path, &text, flow_key, lookup)
    }

    /// As [`Self::read`], from the text of the file. Key files are looked for beside `path`.
    ///
    /// # Errors
    /// [`Mistake`]
    pub fn parse(path: &Path, text: &str, flow_key: [u64; 2], lookup: Lookup<'_>) -> Result<Self, Mistake> {
        let place = Place { path, text };
        let file: File = toml::from_str(text).map_err(|error| place.toml(&error))?;
        let bond = bond(&place, &file)?;
        let hasher = FlowHasher::new(flow_key);
        let mut directory = Directory::new(lookup);
        let part = match file.gateway.role.get_ref() {
            Role::Site => site(&place, &file, bond, hasher, &mut directory)?,
            Role::Hub => hub(&place, &file, bond, hasher)?,
        };
        let mtu = match &part {
            Part::Site { config, .. } => config.inside.mtu,
            Part::Hub { config, .. } => config.inside.mtu,
        };
        Ok(Self {
            tun: tun(&place, &file, mtu)?,
            part,
            control: control(&file),
            state: state(&file),
            http: file.gateway.http,
            mark: file.gateway.mark,
            user: file.gateway.user.clone(),
            seccomp: file.gateway.seccomp,
            flow_key,
            names: directory.into_names(),
            offload: offload(&place, &file)?,
        })
    }
}

fn offload(place: &Place<'_>, file: &File) -> Result<Offload, Mistake> {
    let OffloadTable { tun, send, receive, queues } = &file.offload;
    if let Some(queues) = queues.as_ref().filter(|queues| !(1..=MOST_QUEUES).contains(queues.get_ref())) {
        return Err(place.at(queues.span(), format!("1 to {MOST_QUEUES}")));
    }
    let queues = queues.as_ref().map_or(1, |queues| *queues.get_ref());
    Ok(Offload { tun: *tun, send: *send, receive: *receive, queues })
}

fn control(file: &File) -> PathBuf {
    let own = file.gateway.control.clone();
    own.unwrap_or_else(|| PathBuf::from(format!("/run/ropewalk-gateway/{}.sock", file.gateway.tun.get_ref())))
}

fn state(file: &File) -> PathBuf {
    let own = file.gateway.state.clone();
    own.unwrap_or_else(|| {
        PathBuf::from(format!("/var/lib/ropewalk-gateway/{}.json", file.gateway.tun.get_ref()))
    })
}

fn tun(place: &Place<'_>, file: &File, mtu: u16) -> Result<Tun, Mistake> {
    let name = &file.gateway.tun;
    if !interface_is_good(name.get_ref()) {
        return Err(place.at(name.span(), INTERFACE));
    }
    let (addresses, routes) = (file.gateway.addresses.clone(), file.gateway.routes.clone());
    Ok(Tun { name: name.get_ref().clone(), addresses, routes, mtu })
}

/// The longest inner packet that fits into one of `mtu` octets.
const fn inner(mtu: u16, overhead: u32) -> u16 {
    mtu.saturating_sub(overhead as u16)
}

fn bond(place: &Place<'_>, file: &File) -> Result<Bond, Mistake> {
    let table = &file.bond;
    let scheduler = table.scheduler.read();
    let scheduler = scheduler
        .map_err(|(key, span)| place.at(span, format!("no `{key}`: another kind of scheduler has it")))?;
    let mut bond = Bond::new(file.paths.iter().map(|path| path.get_ref().config()).collect(), scheduler);
    table.set(&mut bond);
    table.resequencer.set(&mut bond.resequencer);
    table.keepalive.set(&mut bond.keepalive);
    Ok(bond)
}

impl PathTable {
    fn config(&self) -> PathConfig {
        let mut config = PathConfig::new(self.name.get_ref(), None);
        self.set(&mut config);
        config
    }
}

fn classes(file: &File) -> [Class; 64] {
    let mut classes = [Class::Normal; 64];
    for rule in &file.bond.classes {
        classes[usize::from(rule.dscp.get()) & 63] = match rule.class {
            ClassName::Normal => Class::Normal,
            ClassName::LowDelay => Class::LowDelay,
            ClassName::Unordered => Class::Unordered,
            ClassName::Duplicated => Class::Duplicated,
            ClassName::DuplicatedUnordered => Class::DuplicatedUnordered,
        };
    }
    classes
}

fn secret(place: &Place<'_>, path: &Spanned<PathBuf>) -> Result<SecretKey, Mistake> {
    let whole = place.path.parent().unwrap_or(Path::new(".")).join(path.get_ref());
    SecretKey::read(&whole).map_err(|error| place.at(path.span(), error.to_string()))
}

fn mtu(place: &Place<'_>, file: &File, inner: u16) -> Result<u16, Mistake> {
    match &file.gateway.mtu {
        Some(mtu) if *mtu.get_ref() > inner || *mtu.get_ref() < LEAST_MTU => {
            Err(place.at(mtu.span(), format!("{LEAST_MTU} to {inner}: what fits through all paths")))
        }
        Some(mtu) => Ok(*mtu.get_ref()),
        None => Ok(inner),
    }
}

/// The longest inner packet that fits through every path of a site.
fn fits(place: &Place<'_>, paths: &[Spanned<PathTable>], lines: &[Line]) -> Result<u16, Mistake> {
    let mut least = u16::MAX;
    for (path, line) in paths.iter().zip(lines) {
        let inner = inner(line.mtu, overhead([line.remote]));
        if inner < LEAST_MTU {
            return Err(place.at(path.span(), format!("`mtu` that leaves {LEAST_MTU} octets, not {inner}")));
        }
        least = least.min(inner);
    }
    Ok(least)
}

/// Checks names of paths. A hub does not understand an offer with another kind of name.
fn check_names<'a>(
    place: &Place<'_>,
    names: impl IntoIterator<Item = &'a Spanned<String>>,
) -> Result<(), Mistake> {
    let bad = names.into_iter().find(|name| !name_is_good(name.get_ref()));
    bad.map_or(Ok(()), |name| Err(place.at(name.span(), NAME)))
}

fn site(
    place: &Place<'_>,
    file: &File,
    mut bond: Bond,
    hasher: FlowHasher,
    directory: &mut Directory<'_>,
) -> Result<Part, Mistake> {
    let hub = file
        .hub
        .as_ref()
        .ok_or_else(|| place.missing("hub", "a table [hub] with its key, psk and address"))?;
    if file.paths.is_empty() {
        return Err(place.missing("paths", "one table [[paths]] at least"));
    }
    check_names(place, file.paths.iter().map(|path| &path.get_ref().name))?;
    let lines = lines(place, file, hub, directory)?;
    bond.overhead = overhead(lines.iter().map(|line| line.remote));
    check(place, file, &bond)?;
    let fits = fits(place, &file.paths, &lines)?;
    let inside = Inside { classes: classes(file), hasher, mtu: mtu(place, file, fits)? };
    let paths = lines
        .iter()
        .enumerate()
        .map(|(socket, line)| SitePath { way: Way::new(socket, line.remote), mtu: line.mtu });
    let config = SiteConfig {
        secret: secret(place, &file.gateway.key)?,
        hub: hub
            .key
            .get_ref()
            .parse()
            .map_err(|_| place.at(hub.key.span(), "a public key: 44 characters of base64"))?,
        psk: secret(place, &hub.psk)?,
        bond,
        paths: paths.collect(),
        inside,
        has_aes: has_aes(),
    };
    Ok(Part::Site { config: Box::new(config), lines })
}

fn lines(
    place: &Place<'_>,
    file: &File,
    hub: &HubTable,
    directory: &mut Directory<'_>,
) -> Result<Vec<Line>, Mistake> {
    let mut lines = Vec::new();
    for spanned in &file.paths {
        let path = spanned.get_ref();
        let endpoint = path.remote.as_ref().or(hub.address.as_ref());
        let endpoint =
            endpoint.ok_or_else(|| place.at(spanned.span(), "`remote` here, or `address` in [hub]"))?;
        let remote = directory.address(endpoint.get_ref(), path.address);
        let remote = remote.map_err(|expected| place.at(endpoint.span(), expected))?;
        let any = if remote.is_ipv4() { "0.0.0.0" } else { "::" };
        let address = path.address.unwrap_or_else(|| any.parse().expect("an address"));
        if address.is_ipv4() != remote.is_ipv4() {
            return Err(place.at(spanned.span(), "`address` and the hub's of the same family"));
        }
        lines.push(line(path, address, remote, endpoint.get_ref()));
    }
    Ok(lines)
}

fn line(path: &PathTable, address: IpAddr, remote: SocketAddr, endpoint: &Endpoint) -> Line {
    Line {
        host: endpoint.name().map(str::to_owned),
        name: path.name.get_ref().clone(),
        interface: path.interface.clone(),
        local: SocketAddr::new(address, path.port),
        remote,
        mtu: path.mtu,
    }
}

/// Octets that a packet costs on a path beside its own. The longest IP header of the addresses
/// counts.
fn overhead(addresses: impl IntoIterator<Item = SocketAddr>) -> u32 {
    let is_v6 = addresses.into_iter().any(|address| address.is_ipv6());
    (UDP + OVERHEAD) as u32 + CompactHeader::LEN + if is_v6 { 40 } else { 20 }
}

/// Checks a bond. A mistake is told at its key.
fn check(place: &Place<'_>, file: &File, bond: &Bond) -> Result<(), Mistake> {
    let Err(error) = bond.validate() else { return Ok(()) };
    Err(match span(file, &error) {
        Some(span) => place.at(span, error.expected()),
        None if error.key() == "paths" => place.missing("paths", error.expected()),
        None => place.missing(&format!("bond.{}", error.key()), error.expected()),
    })
}

/// The place of the key that a bond refuses. If a path does not have the key, the place of the
/// path.
fn span(file: &File, error: &ConfigError) -> Option<std::ops::Range<usize>> {
    let bond = &file.bond;
    match error.key().split_once('.') {
        None => bond.span(error.key()),
        Some(("scheduler", key)) => bond.scheduler.place(key),
        Some(("resequencer", key)) => bond.resequencer.span(key),
        Some(("keepalive", key)) => bond.keepalive.span(key),
        Some(_) => file.paths.iter().enumerate().find_map(|(place, path)| {
            let table = path.get_ref();
            let own = error.key().strip_prefix(&format!("paths.{}.", table.name.get_ref()));
            let key = own.or_else(|| error.key().strip_prefix(&format!("paths[{place}].")))?;
            let name = (key == "name").then(|| table.name.span());
            Some(name.or_else(|| table.span(key)).unwrap_or_else(|| path.span()))
        }),
    }
}

fn hub(place: &Place<'_>, file: &File, mut bond: Bond, hasher: FlowHasher) -> Result<Part, Mistake> {
    if let Some(path) = file.paths.first() {
        return Err(place.at(path.span(), "no paths: a hub takes those of its sites"));
    }
    let listen = file.gateway.listen.clone();
    if listen.is_empty() {
        return Err(
            place.missing("gateway.listen", "addresses with ports where it listens, as [\"0.0.0.0:4500\"]")
        );
    }
    bond.overhead = overhead(listen.iter().copied());
    if !(1..=MOST_SITES).contains(&file.sites.len()) {
        return Err(place.missing("sites", format!("one table [[sites]] at least, and at most {MOST_SITES}")));
    }
    let (mut keys, mut names, mut sites) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    let mut prefixes = Prefixes::default();
    for spanned in &file.sites {
        let member = member(place, spanned)?;
        check_site(place, file, spanned.get_ref(), &bond)?;
        if !keys.insert(member.key) || !names.insert(member.name.clone()) {
            return Err(place.at(spanned.span(), "a name and a key that no other site has"));
        }
        let twice = member.prefixes.iter().find(|prefix| prefixes.insert(**prefix, sites.len()).is_some());
        if let Some(prefix) = twice {
            let what = format!("prefixes that are nowhere else: {prefix} is there twice");
            return Err(place.at(spanned.span(), what));
        }
        sites.push(member);
    }
    let inside =
        Inside { classes: classes(file), hasher, mtu: mtu(place, file, inner(1500, bond.overhead))? };
    let secret = secret(place, &file.gateway.key)?;
    let config = HubConfig { secret, sites, bond, inside, has_aes: has_aes() };
    Ok(Part::Hub { config: Box::new(config), listen })
}

/// Checks what can be judged of a site before it asks for a session. Only then does the hub learn
/// of its paths and their costs.
fn check_site(place: &Place<'_>, file: &File, site: &SiteTable, bond: &Bond) -> Result<(), Mistake> {
    check_names(place, site.paths.iter().map(|path| &path.get_ref().name))?;
    let mut names = BTreeSet::new();
    if let Some(twice) = site.paths.iter().find(|path| !names.insert(path.get_ref().name.get_ref())) {
        return Err(place.at(twice.get_ref().name.span(), "a name that no other path of this site has"));
    }
    check_bond_of(place, file, bond, None)?;
    site.paths.iter().try_for_each(|path| check_bond_of(place, file, bond, Some(path)))
}

/// Checks the bond of a site, and one path of its.
fn check_bond_of(
    place: &Place<'_>,
    file: &File,
    bond: &Bond,
    path: Option<&Spanned<SitePathTable>>,
) -> Result<(), Mistake> {
    let own = path.map(|path| path.get_ref().config(None));
    let Err(error) = check_alone(bond, own.as_ref()) else { return Ok(()) };
    let of_path = path.and_then(|path| {
        let table = path.get_ref();
        let key = error.key().strip_prefix(&format!("paths.{}.", table.name.get_ref()))?;
        Some(table.span(key).unwrap_or_else(|| path.span()))
    });
    match of_path.or_else(|| span(file, &error)) {
        Some(span) => Err(place.at(span, error.expected())),
        None => Err(place.missing(&format!("bond.{}", error.key()), error.expected())),
    }
}

impl SitePathTable {
    fn config(&self, cost: Option<u32>) -> PathConfig {
        let mut config = PathConfig::new(self.name.get_ref(), cost);
        self.set(&mut config);
        config
    }
}

fn member(place: &Place<'_>, spanned: &Spanned<SiteTable>) -> Result<Member, Mistake> {
    let site = spanned.get_ref();
    let key = site.key.get_ref().parse();
    if site.prefixes.is_empty() {
        return Err(place.at(spanned.span(), "`prefixes`: the inner addresses of the site"));
    }
    if let Some((path, cost)) = site.paths.iter().find_map(|path| Some((path, path.get_ref().span("cost")?)))
    {
        let name = path.get_ref().name.get_ref();
        return Err(place.at(cost, format!("no `cost`: the site tells that of its path `{name}`")));
    }
    Ok(Member {
        paths: site.paths.iter().map(|path| path.get_ref().config(None)).collect(),
        name: site.name.clone(),
        key: key.map_err(|_| place.at(site.key.span(), "a public key: 44 characters of base64"))?,
        psk: secret(place, &site.psk)?,
        prefixes: site.prefixes.clone(),
    })
}

/// Has this CPU instructions for AES?
pub fn has_aes() -> bool {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    return std::arch::is_x86_feature_detected!("aes") && std::arch::is_x86_feature_detected!("pclmulqdq");
    #[cfg(target_arch = "aarch64")]
    return std::arch::is_aarch64_feature_detected!("aes");
    #[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
    return false;
}

const _: () = assert!(MAX_PATHS == 8, "docs/gateway-protocol.md says that an offer has 1 to 8 paths");

#[cfg(test)]
mod tests;
