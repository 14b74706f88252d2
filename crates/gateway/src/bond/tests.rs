//! Sites and a hub over lines that lose, delay, copy and change datagrams.

mod changes;
mod moved;

use super::{Hub, HubConfig, Inside, Member, Notice, PastSpendings, Path, Reason, Site, SiteConfig, Way};
use crate::key::SecretKey;
use crate::packet::{FlowHasher, Packet};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use ropewalk_bonding::{Class, Config, PathConfig, SchedulerConfig};
use ropewalk_units::{Duration, Instant};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

fn config() -> Config {
    config_with(SchedulerConfig::RateAware)
}

fn config_with(scheduler: SchedulerConfig) -> Config {
    let paths = vec![PathConfig::new("dsl", Some(1)), PathConfig::new("lte", Some(2))];
    Config { overhead: 65, ..Config::new(paths, scheduler) }
}

fn inside() -> Inside {
    Inside { classes: [Class::Normal; 64], hasher: FlowHasher::new([1, 2]), mtu: 1400 }
}

fn entropy(seed: u64) -> super::Entropy {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    Box::new(move |octets| random.fill_bytes(octets))
}

fn hub_address() -> SocketAddr {
    "203.0.113.1:4500".parse().expect("an address")
}

/// A datagram on its way.
#[derive(Clone)]
struct Flying {
    /// `None`: to the hub.
    to: Option<usize>,
    way: Way,
    datagram: Vec<u8>,
}

/// What a line does with a datagram. Returns how many copies arrive.
type Line = Box<dyn FnMut(Instant, &mut Flying) -> usize>;

/// A hub, sites and a delay between them. It is not the test network, because the tests look into
/// sessions and forge datagrams on their way.
struct World {
    now: Instant,
    hub: Hub,
    /// Where the hub is. What is sent to another address is lost.
    hub_at: SocketAddr,
    /// Where it is for second paths, if not there.
    second_at: Option<SocketAddr>,
    /// Where sites have sent something. As a translator of addresses does, theirs let nothing in
    /// from elsewhere.
    asked: BTreeSet<SocketAddr>,
    sites: Vec<Option<Site>>,
    /// The addresses of each site's paths, as the hub sees them.
    addresses: Vec<[SocketAddr; 2]>,
    wire: BTreeMap<(Instant, u64), Flying>,
    number: u64,
    line: Line,
    at_hub: Vec<Packet>,
    at_site: Vec<Vec<Packet>>,
    notices: Vec<(Option<usize>, Notice)>,
}

fn psk() -> SecretKey {
    SecretKey([9; 32])
}

fn site(key: u8, seed: u64, now: Instant) -> Site {
    site_with(key, seed, now, config())
}

fn site_with(key: u8, seed: u64, now: Instant, bond: Config) -> Site {
    let way = |socket| Path { way: Way::new(socket, hub_address()), mtu: 1500 };
    let config = SiteConfig {
        secret: SecretKey([key; 32]),
        hub: SecretKey([200; 32]).public(),
        psk: psk(),
        bond,
        paths: vec![way(0), way(1)],
        inside: inside(),
        has_aes: true,
    };
    Site::new(config, entropy(seed), now).expect("a bond")
}

fn hub(count: u8) -> Hub {
    hub_with(count, Vec::new())
}

fn hub_with(count: u8, paths: Vec<PathConfig>) -> Hub {
    hub_of(count, paths, config())
}

/// A hub with keys of its own for the paths of its sites.
fn hub_of(count: u8, paths: Vec<PathConfig>, bond: Config) -> Hub {
    let member = |number: u8| Member {
        name: format!("site{number}"),
        key: SecretKey([number + 1; 32]).public(),
        psk: psk(),
        prefixes: vec![format!("10.0.{number}.0/24").parse().expect("a prefix")],
        paths: paths.clone(),
    };
    let config = HubConfig {
        secret: SecretKey([200; 32]),
        sites: (0..count).map(member).collect(),
        bond,
        inside: inside(),
        has_aes: true,
    };
    Hub::new(config, entropy(1000), Instant::ZERO)
}

fn address(site: usize, path: u8) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, site as u8 * 8 + path], 1000))
}

impl World {
    /// A hub, and sites with these keys.
    fn new(keys: &[u8]) -> Self {
        let now = Instant::ZERO;
        let sites = keys.iter().zip(0..).map(|(&key, seed)| Some(site(key, seed, now))).collect();
        Self {
            now,
            hub: hub(2),
            hub_at: hub_address(),
            second_at: None,
            asked: BTreeSet::new(),
            sites,
            addresses: (0..keys.len()).map(|site| [address(site, 0), address(site, 1)]).collect(),
            wire: BTreeMap::new(),
            number: 0,
            line: Box::new(|_, _| 1),
            at_hub: Vec::new(),
            at_site: vec![Vec::new(); keys.len()],
            notices: Vec::new(),
        }
    }

    fn fly(&mut self, mut flying: Flying) {
        for copy in 0..(self.line)(self.now, &mut flying) {
            self.number += 1;
            let delay = Duration::from_millis(10 + 15 * flying.way.socket as u64 + copy as u64 * 7);
            self.wire.insert((self.now + delay, self.number), flying.clone());
        }
    }

    /// Where the hub is for a socket.
    fn hub_of(&self, socket: usize) -> SocketAddr {
        self.second_at.filter(|_| socket == 1).unwrap_or(self.hub_at)
    }

    fn poll(&mut self) {
        let (now, mut out) = (self.now, Vec::new());
        while let Some(way) = self.hub.poll_transmit(now, &mut out) {
            let found = self.addresses.iter().enumerate().find_map(|(site, addresses)| {
                addresses.iter().position(|address| *address == way.to).map(|path| (site, path))
            });
            let Some((site, socket)) = found else { continue };
            let way = Way::new(socket, self.hub_of(socket));
            if !self.asked.contains(&way.to) {
                continue;
            }
            self.fly(Flying { to: Some(site), way, datagram: out.clone() });
        }
        self.at_hub.extend(std::iter::from_fn(|| self.hub.poll_deliver(now)));
        self.notices.extend(std::iter::from_fn(|| self.hub.poll_notice()));
        for number in 0..self.sites.len() {
            let Some(mut site) = self.sites[number].take() else { continue };
            while let Some(way) = site.poll_transmit(now, &mut out) {
                self.asked.insert(way.to);
                if way.to != self.hub_of(way.socket) {
                    continue;
                }
                let way = Way::new(way.socket, self.addresses[number][way.socket]);
                self.fly(Flying { to: None, way, datagram: out.clone() });
            }
            self.at_site[number].extend(std::iter::from_fn(|| site.poll_deliver(now)));
            self.notices.extend(std::iter::from_fn(|| site.poll_notice()).map(|notice| (None, notice)));
            self.sites[number] = Some(site);
        }
    }

    fn receive(&mut self, flying: Flying) {
        let Flying { to, way, mut datagram } = flying;
        match to {
            None => {
                let way = Way::new(0, way.to);
                self.hub.handle_datagram(self.now, way, &mut datagram);
            }
            Some(number) => {
                if let Some(site) = &mut self.sites[number] {
                    site.handle_datagram(self.now, way, &mut datagram);
                }
            }
        }
    }

    fn run(&mut self, millis: u64) {
        let end = self.now + Duration::from_millis(millis);
        loop {
            self.poll();
            let sites = self.sites.iter().flatten().map(|site| site.poll_timeout(self.now));
            let timer = sites.min().unwrap_or(Instant::MAX).min(self.hub.poll_timeout(self.now));
            let arrival = self.wire.first_key_value().map_or(Instant::MAX, |((at, _), _)| *at);
            let next = timer.min(arrival);
            if next > end {
                self.now = end;
                return;
            }
            self.now = self.now.max(next);
            while let Some(entry) = self.wire.first_entry().filter(|entry| entry.key().0 <= self.now) {
                let flying = entry.remove();
                self.receive(flying);
            }
            self.hub.handle_timeout(self.now);
            self.sites.iter_mut().flatten().for_each(|site| site.handle_timeout(self.now));
        }
    }

    fn send(&mut self, number: usize, mark: u32) {
        let mut octets = packet([10, 0, number as u8, 5], [10, 200, 0, 1], mark);
        let now = self.now;
        if let Some(site) = &mut self.sites[number] {
            site.handle_packet(now, &mut octets);
        }
    }

    fn has_session(&self, number: usize) -> bool {
        self.sites[number].as_ref().is_some_and(|site| site.status(self.now).is_some())
    }

    fn count(&self, wanted: impl Fn(&Notice) -> bool) -> usize {
        self.notices.iter().filter(|(_, notice)| wanted(notice)).count()
    }
}

fn packet(source: [u8; 4], destination: [u8; 4], mark: u32) -> Vec<u8> {
    let mut octets = vec![0x45, 0, 0, 32, 0, 0, 0, 0, 64, 17, 0, 0];
    octets.extend_from_slice(&source);
    octets.extend_from_slice(&destination);
    octets.extend_from_slice(&[0, 9, 0, 9, 0, 12, 0, 0]);
    octets.extend_from_slice(&mark.to_be_bytes());
    octets
}

fn marks(packets: &[Packet]) -> Vec<u32> {
    let mark = |packet: &Packet| packet.octets().last_chunk().map(|mark| u32::from_be_bytes(*mark));
    packets.iter().filter_map(mark).collect()
}

#[test]
fn packets_go_both_ways_in_order_and_once() {
    let mut world = World::new(&[1]);
    world.run(200);
    for mark in 0..500 {
        world.send(0, mark);
        let mut back = packet([10, 200, 0, 1], [10, 0, 0, 5], mark);
        world.hub.handle_packet(world.now, &mut back);
        world.run(1);
    }
    world.run(200);
    assert_eq!(marks(&world.at_hub), (0..500).collect::<Vec<_>>());
    assert_eq!(marks(&world.at_site[0]).len(), 500, "the hub's copies wait for their site only");
}

/// Octets that each path of the site has spent of its quota.
fn spent(world: &World) -> Vec<u64> {
    let status = world.sites[0].as_ref().and_then(|site| site.status(world.now));
    status.map(|status| status.paths.iter().map(|path| path.quota_spent).collect()).unwrap_or_default()
}

#[test]
fn a_spent_quota_outlives_its_bond() {
    let mut world = World::new(&[1]);
    let limited = |name: &str| PathConfig { quota: Some(1_000_000), ..PathConfig::new(name, None) };
    if let Some(site) = &mut world.sites[0] {
        let bond = Config { paths: vec![limited("dsl"), limited("lte")], ..site.bond().clone() };
        let paths = site.paths().to_vec();
        site.set_paths(world.now, bond, paths).expect("they are good");
    }
    world.run(300);
    for mark in 0..2000 {
        world.send(0, mark);
        world.run(1);
    }
    let before = spent(&world);
    assert!(before.iter().sum::<u64>() > 2000 * 80, "{before:?}");
    if let Some(site) = &mut world.sites[0] {
        let (bond, mut paths) = (site.bond().clone(), site.paths().to_vec());
        paths[1].mtu = 1400;
        site.set_paths(world.now, bond, paths).expect("they are good");
    }
    world.run(300);
    assert_eq!(world.count(|notice| *notice == Notice::Begun) / 2, 2, "a new bond at both ends");
    let after = spent(&world);
    assert!(after.iter().zip(&before).all(|(after, before)| after >= before), "{before:?}, {after:?}");
}

#[test]
fn what_a_process_has_spent_the_next_one_counts_on() {
    let limited = |name: &str| PathConfig { quota: Some(1_000_000), ..PathConfig::new(name, None) };
    let mut world = World::new(&[1]);
    world.hub = hub_with(2, vec![limited("lte")]);
    world.run(300);
    for mark in 0..100 {
        world.send(0, mark);
        world.run(1);
    }
    let noted = world.hub.spendings(world.now);
    let names = noted.iter().map(|one| one.path.as_str()).collect::<Vec<_>>();
    assert_eq!(names, ["lte"], "what has no quota is not noted");
    assert!(noted[0].octets > 100, "{noted:?}");
    let next = |ago| {
        let mut next = World::new(&[1]);
        next.hub = hub_with(2, vec![limited("lte")]);
        let past = PastSpendings { paths: noted.clone(), ago: Duration::from_secs(ago) };
        next.hub.resume_spendings(next.now, &past);
        next
    };
    let mut soon = next(5);
    assert_eq!(soon.hub.spendings(soon.now)[0].octets, noted[0].octets, "also before there is a session");
    soon.run(300);
    assert!(soon.hub.spendings(soon.now)[0].octets > noted[0].octets);
    let late = next(40 * 24 * 3600);
    assert_eq!(late.hub.spendings(late.now)[0].octets, 0, "the month is over");
}

#[test]
fn a_hub_s_own_keys_of_a_path_are_in_its_bond() {
    let mut world = World::new(&[1]);
    world.hub = hub_with(2, vec![PathConfig { quota: Some(1_000_000), ..PathConfig::new("lte", None) }]);
    world.run(300);
    let status = world.hub.status(world.now);
    let bond = status[0].1.as_ref().expect("a session");
    assert_eq!(bond.paths[1].quota, Some(1_000_000));
    assert_eq!(bond.paths[0].quota, None);
}

#[test]
fn the_first_packet_is_bonded_after_one_round_trip() {
    let mut world = World::new(&[1]);
    world.run(25);
    assert!(world.has_session(0), "the shorter path takes 20 ms there and back");
}

#[test]
fn a_site_cannot_send_with_anothers_address() {
    let mut world = World::new(&[1, 2]);
    world.run(200);
    let mut stolen = packet([10, 0, 1, 7], [10, 200, 0, 1], 1);
    let now = world.now;
    world.sites[0].as_mut().expect("it is there").handle_packet(now, &mut stolen);
    world.send(0, 2);
    world.run(100);
    assert_eq!(marks(&world.at_hub), [2]);
    assert_eq!(world.hub.drops().get(Reason::Source), 1);
    let of_sites = |world: &World| {
        world.hub.peer_drops().iter().map(|drops| drops.get(Reason::Source)).collect::<Vec<_>>()
    };
    assert_eq!(of_sites(&world), [1, 0]);
    // The session ends, and another one begins.
    world.sites[0] = Some(site(1, 77, world.now));
    world.run(500);
    assert!(world.has_session(0));
    assert_eq!((of_sites(&world), world.hub.drops().get(Reason::Source)), (vec![1, 0], 1));
}

#[test]
fn keys_change_without_a_loss() {
    let mut world = World::new(&[1]);
    world.run(200);
    for mark in 0..3000 {
        world.send(0, mark);
        world.run(100);
    }
    assert_eq!(marks(&world.at_hub), (0..3000).collect::<Vec<_>>());
    let rekeyed = world.count(|notice| *notice == Notice::Rekeyed);
    assert!((4..=6).contains(&rekeyed), "{rekeyed} in 300 s, both ends");
    assert_eq!(world.count(|notice| *notice == Notice::Begun), 2, "one bond, both ends");
}

#[test]
fn keys_that_are_too_old_seal_no_farewell() {
    for (millis, farewells) in [(170_000, 2), (181_000, 0)] {
        let mut world = World::new(&[1]);
        world.run(200);
        assert!(world.has_session(0));
        world.line = Box::new(|_, _| 0);
        world.run(millis);
        let (now, mut out) = (world.now, Vec::new());
        let site = world.sites[0].as_mut().expect("it is there");
        site.end(now);
        let sealed = std::iter::from_fn(|| site.poll_transmit(now, &mut out)).count();
        assert_eq!(sealed, farewells, "after {millis} ms");
    }
}

#[test]
fn a_path_follows_its_packets_to_another_address() {
    let mut world = World::new(&[1]);
    world.run(200);
    world.addresses[0][1] = "198.51.100.7:7".parse().expect("an address");
    world.run(500);
    let moved =
        |notice: &Notice| matches!(notice, Notice::Roamed { path, from: Some(_), .. } if path == "lte");
    assert_eq!(world.count(moved), 1);
    let mut back = packet([10, 200, 0, 1], [10, 0, 0, 5], 1);
    world.hub.handle_packet(world.now, &mut back);
    world.run(100);
    assert_eq!(marks(&world.at_site[0]), [1]);
}

#[test]
fn a_hub_that_forgets_is_asked_again() {
    let mut world = World::new(&[1]);
    world.run(200);
    world.hub = hub(2);
    world.run(4000);
    world.send(0, 7);
    world.run(100);
    assert_eq!(marks(&world.at_hub), [7]);
    assert_eq!(world.count(|notice| *notice == Notice::Silent), 1);
}

#[test]
fn a_site_that_restarts_is_back_at_once() {
    let mut world = World::new(&[1]);
    world.run(200);
    world.sites[0] = Some(site(1, 77, world.now));
    world.run(100);
    world.send(0, 7);
    world.run(100);
    assert_eq!(marks(&world.at_hub), [7]);
    assert_eq!(world.count(|notice| matches!(notice, Notice::TakenOver { was_alive: true })), 1);
}

#[test]
fn of_two_sites_with_one_key_the_newer_wins_and_the_other_waits() {
    let mut world = World::new(&[1]);
    world.run(500);
    world.sites.push(Some(site(1, 50, world.now)));
    world.addresses.push([address(1, 0), address(1, 1)]);
    world.at_site.push(Vec::new());
    world.run(120_000);
    assert!(!world.has_session(0) && world.has_session(1));
    assert_eq!(world.count(|notice| *notice == Notice::Displaced), 1, "once, not again and again");
    // The newer one stops without a message. The older one gets its place back.
    world.sites[1] = None;
    world.run(40_000);
    assert!(world.has_session(0));
}

#[test]
fn a_replayed_first_message_gains_nothing() {
    let mut world = World::new(&[1]);
    let recorded = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let log = std::rc::Rc::clone(&recorded);
    world.line = Box::new(move |_, flying| {
        log.borrow_mut().push(flying.datagram.clone());
        1
    });
    world.run(200);
    // An attacker on the line could deliver first what is still on its way. That is no replay, so
    // all datagrams arrive before they are repeated.
    let old = recorded.borrow().clone();
    world.run(100);
    let evil = Way::new(0, "198.51.100.66:6".parse().expect("an address"));
    for _ in 0..3 {
        for mut datagram in old.clone() {
            world.hub.handle_datagram(world.now, evil, &mut datagram);
        }
        world.run(50);
    }
    world.send(0, 1);
    world.run(100);
    assert_eq!(marks(&world.at_hub), [1]);
    let stolen = |notice: &Notice| matches!(notice, Notice::Roamed { to, .. } if *to == evil.to);
    assert_eq!(world.count(stolen), 0);
    assert_eq!(world.count(|notice| *notice == Notice::Begun), 2);
}

#[test]
fn strangers_get_no_answer() {
    let mut world = World::new(&[]);
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let way = Way::new(0, "198.51.100.66:6".parse().expect("an address"));
    let mut out = Vec::new();
    for kind in 0..10_000u32 {
        let mut datagram = vec![0; (random.next_u32() % 1300) as usize];
        random.fill_bytes(&mut datagram);
        if let Some(first) = datagram.first_mut() {
            *first = 0x10 | (kind % 6) as u8;
        }
        world.hub.handle_datagram(world.now, way, &mut datagram);
        assert!(world.hub.poll_transmit(world.now, &mut out).is_none());
    }
}

/// Strangers who know the hub's public key ask 250 times in a second, each from another address.
#[test]
fn a_flood_costs_the_hub_little_and_a_site_gets_in_by_a_cookie() {
    let (mut stranger, mut question) = (site(50, 9, Instant::ZERO), Vec::new());
    stranger.handle_timeout(Instant::ZERO);
    assert!(stranger.poll_transmit(Instant::ZERO, &mut question).is_some(), "it asks for a session");
    let mut world = World::new(&[1]);
    world.sites[0] = None;
    let cookies = std::rc::Rc::new(std::cell::Cell::new(0));
    let count = std::rc::Rc::clone(&cookies);
    world.line = Box::new(move |_, flying| {
        count.set(count.get() + u32::from(flying.to.is_some() && flying.datagram[0] == 0x13));
        1
    });
    for number in 0..1000u32 {
        if number == 500 {
            world.sites[0] = Some(site(1, 7, world.now));
        }
        let [_, _, high, low] = number.to_be_bytes();
        let way = Way::new(0, SocketAddr::from(([10, 77, high, low], 5000)));
        world.hub.handle_datagram(world.now, way, &mut question.clone());
        world.run(4);
    }
    assert!(world.has_session(0));
    assert!(cookies.get() > 0, "it was asked for a cookie");
    // Each is a handshake that was computed: a hundred in the first second, and none without a
    // cookie while it goes on.
    let computed = world.hub.drops().get(Reason::UnknownSite);
    assert!(computed <= 100, "{computed} of 1000");
}

#[test]
fn a_question_from_port_zero_gets_no_answer() {
    let (mut site, mut out) = (site(1, 1, Instant::ZERO), Vec::new());
    site.handle_timeout(Instant::ZERO);
    assert!(site.poll_transmit(Instant::ZERO, &mut out).is_some(), "it asks for a session");
    for (port, is_answered) in [(0, false), (6, true)] {
        let mut core = super::Core::Hub(hub(1));
        let way = Way::new(0, SocketAddr::from(([198, 51, 100, 66], port)));
        core.handle_datagram(Instant::ZERO, way, &mut out.clone());
        assert_eq!(core.poll_transmit(Instant::ZERO, &mut Vec::new()).is_some(), is_answered, "{port}");
    }
}

#[test]
fn one_dead_path_keeps_nobody_waiting() {
    let mut world = World::new(&[1]);
    world.line = Box::new(|_, flying| usize::from(flying.way.to != address(0, 0) && flying.way.socket != 0));
    world.run(200);
    assert!(world.has_session(0));
}

/// A UDP packet of `len` octets.
fn long(source: [u8; 4], destination: [u8; 4], len: u16) -> Vec<u8> {
    let mut octets = packet(source, destination, 0);
    octets[2..4].copy_from_slice(&len.to_be_bytes());
    octets.resize(usize::from(len), 0);
    octets
}

#[test]
fn a_path_that_carries_less_is_found_and_who_sends_more_is_told() {
    let mut world = World::new(&[1]);
    // The second line carries IPv4 packets of at most 1400 octets.
    world.line = Box::new(|_, flying| {
        let is_second = flying.way.socket == 1 || flying.way.to == address(0, 1);
        usize::from(!is_second || flying.datagram.len() + 28 <= 1400)
    });
    world.run(60_000);
    let now = world.now;
    let site = world.sites[0].as_mut().expect("it is there");
    let status = site.status(now).expect("a session");
    let hubs = world.hub.status(now).remove(0).1.expect("a session");
    for status in [&status, &hubs] {
        assert_eq!(status.paths[0].mtu, 1500);
        assert!((1397..=1400).contains(&status.paths[1].mtu), "{}", status.paths[1].mtu);
    }
    let fits = status.inner_mtu;
    assert_eq!(fits, site.inner_mtu());
    site.handle_packet(now, &mut long([10, 0, 0, 5], [10, 200, 0, 1], fits));
    site.handle_packet(now, &mut long([10, 0, 0, 5], [10, 200, 0, 1], fits + 1));
    world.hub.handle_packet(now, &mut long([10, 200, 0, 1], [10, 0, 0, 5], hubs.inner_mtu + 1));
    world.run(200);
    let (at_hub, at_site) = (&world.at_hub, &world.at_site[0]);
    assert_eq!(at_hub.iter().map(|packet| packet.octets().len()).max(), Some(usize::from(fits)));
    for (packets, to) in [(at_hub, [10, 200, 0, 1]), (at_site, [10, 0, 0, 5])] {
        let is_told = |packet: &&Packet| packet.octets()[9] == 1 && packet.octets()[16..20] == to;
        let told = packets.iter().find(is_told).expect("its sender is told");
        assert_eq!(told.octets()[20..22], [3, 4]);
    }
}

#[test]
fn a_segment_size_is_what_goes_and_comes_by_every_path() {
    let mut world = World::new(&[1]);
    // Long datagrams are lost only on the way from the hub.
    world.line = Box::new(|_, flying| usize::from(flying.to.is_none() || flying.datagram.len() + 28 <= 1400));
    world.run(60_000);
    let mut syn = packet([10, 0, 0, 5], [10, 200, 0, 1], 0);
    syn[9] = 6;
    syn[2..4].copy_from_slice(&44u16.to_be_bytes());
    syn.truncate(20);
    syn.extend_from_slice(&[0, 9, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0x60, 2, 0, 0, 0, 0, 0, 0, 2, 4, 5, 180]);
    let now = world.now;
    world.sites[0].as_mut().expect("it is there").handle_packet(now, &mut syn);
    world.run(100);
    let hubs = world.hub.status(now).remove(0).1.expect("a session");
    let came = world.at_hub[0].octets();
    assert_eq!(u16::from_be_bytes([came[42], came[43]]), hubs.inner_mtu - 40);
    assert!(hubs.inner_mtu < 1400);
}

#[test]
fn paths_change_and_the_bond_goes_on() {
    let mut world = World::new(&[1]);
    world.run(200);
    let way = Path { way: Way::new(1, hub_address()), mtu: 1500 };
    let bond = Config { paths: vec![PathConfig::new("lte", Some(2))], ..config() };
    let now = world.now;
    world.sites[0].as_mut().expect("it is there").set_paths(now, bond, vec![way]).expect("a bond");
    world.run(200);
    world.send(0, 4);
    world.run(100);
    assert_eq!(marks(&world.at_hub), [4]);
    let status = world.sites[0].as_ref().and_then(|site| site.status(now)).expect("a session");
    assert_eq!(status.paths.len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Lines lose, copy and change datagrams. No packet is invented, and none comes twice. When the
    /// lines are good again, every packet comes.
    #[test]
    fn bad_lines_are_borne(seed: u64, loss in 0u32..40, copies in 0u32..30, changes in 0u32..20) {
        let mut world = World::new(&[1, 2]);
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let end = Instant::ZERO + Duration::from_secs(4);
        world.line = Box::new(move |now, flying| {
            if now >= end {
                return 1;
            }
            let mut is = |percent: u32| random.next_u32() % 100 < percent;
            if is(changes) {
                let place = flying.datagram.len() / 2;
                flying.datagram[place] ^= 1;
            }
            if is(loss) { 0 } else { 1 + usize::from(is(copies)) }
        });
        for mark in 0..400 {
            world.send(0, mark);
            world.send(1, mark + 10_000);
            world.run(10);
        }
        world.run(6000);
        world.at_hub.iter().for_each(|packet| assert_eq!(packet.octets().len(), 32));
        let mut got = marks(&world.at_hub);
        let all = got.len();
        got.sort_unstable();
        got.dedup();
        prop_assert_eq!(got.len(), all, "something came twice");
        prop_assert!(got.iter().all(|mark| mark % 10_000 < 400), "something was invented");
        world.at_hub.clear();
        world.send(0, 1);
        world.send(1, 2);
        world.run(200);
        prop_assert_eq!(world.at_hub.len(), 2);
    }
}
