//! Two sites and their hub over lines that do what the input says. Nothing comes out that was not sent, and nothing twice.

use ropewalk_adversary::{Random, Source};
use ropewalk_bonding::{Class, Config, PathConfig, SchedulerConfig};
use ropewalk_gateway::bond::{Entropy, Hub, HubConfig, Inside, Member, Path, Site, SiteConfig, Way};
use ropewalk_gateway::key::SecretKey;
use ropewalk_gateway::packet::{FlowHasher, Packet};
use ropewalk_units::{Duration, Instant};
use std::collections::BTreeSet;
use std::net::SocketAddr;

fn bond() -> Config {
    let paths = vec![PathConfig::new("dsl", Some(1)), PathConfig::new("lte", Some(2))];
    Config { overhead: 65, ..Config::new(paths, SchedulerConfig::RateAware) }
}

/// Datagrams that are on their way at the most: what is sent beyond is lost.
const MOST: usize = 64;

/// Plays what the octets say.
pub fn run(octets: &[u8]) {
    let mut world = World::new();
    for step in octets.chunks_exact(4).take(2000) {
        world.step([step[0], step[1], step[2], step[3]]);
        world.poll();
    }
}

struct Flying {
    /// `None`: to the hub.
    to: Option<usize>,
    way: Way,
    datagram: Vec<u8>,
}

struct World {
    now: Instant,
    hub: Hub,
    sites: Vec<Site>,
    wire: Vec<Flying>,
    number: u32,
    seed: u64,
    /// What may still come out: at the hub (`None`), or at a site.
    sent: BTreeSet<(Option<usize>, u32)>,
    /// Where the second site's first path comes from.
    port: u16,
}

fn entropy(seed: u64) -> Entropy {
    let mut random = Random::new(seed);
    Box::new(move |octets| octets.iter_mut().for_each(|octet| *octet = random.next() as u8))
}

fn inside() -> Inside {
    Inside { classes: [Class::Normal; 64], hasher: FlowHasher::new([1, 2]), mtu: 1400 }
}

fn hub_address() -> SocketAddr {
    SocketAddr::from(([203, 0, 113, 1], 4500))
}

fn site(number: u8, seed: u64, now: Instant) -> Site {
    let path = |socket| Path { way: Way::new(socket, hub_address()), mtu: 1500 };
    let config = SiteConfig {
        secret: SecretKey([number + 1; 32]),
        hub: SecretKey([200; 32]).public(),
        psk: SecretKey([9; 32]),
        bond: bond(),
        paths: vec![path(0), path(1)],
        inside: inside(),
        has_aes: true,
    };
    Site::new(config, entropy(seed), now).expect("a bond")
}

fn hub(seed: u64, now: Instant) -> Hub {
    let member = |number: u8| Member {
        name: format!("site{number}"),
        key: SecretKey([number + 1; 32]).public(),
        psk: SecretKey([9; 32]),
        prefixes: vec![format!("10.0.{number}.0/24").parse().expect("a prefix")],
        paths: Vec::new(),
    };
    let config = HubConfig {
        secret: SecretKey([200; 32]),
        sites: (0..2).map(member).collect(),
        bond: bond(),
        inside: inside(),
        has_aes: true,
    };
    Hub::new(config, entropy(seed), now)
}

/// A UDP packet that carries a number.
fn packet(source: [u8; 4], destination: [u8; 4], number: u32) -> Vec<u8> {
    let mut octets = vec![0x45, 0, 0, 32, 0, 0, 0, 0, 64, 17, 0, 0];
    octets.extend_from_slice(&source);
    octets.extend_from_slice(&destination);
    octets.extend_from_slice(&[0, 9, 0, 9, 0, 12, 0, 0]);
    octets.extend_from_slice(&number.to_be_bytes());
    octets
}

fn number_of(packet: &Packet) -> u32 {
    assert_eq!(packet.octets().len(), 32, "no packet is of another length");
    packet.octets().last_chunk().map_or(0, |number| u32::from_be_bytes(*number))
}

impl World {
    fn new() -> Self {
        let now = Instant::ZERO;
        Self {
            now,
            hub: hub(1000, now),
            sites: vec![site(0, 1, now), site(1, 2, now)],
            wire: Vec::new(),
            number: 0,
            seed: 3,
            sent: BTreeSet::new(),
            port: 1000,
        }
    }

    fn step(&mut self, [operation, a, b, c]: [u8; 4]) {
        let which = usize::from(a) % 2;
        match operation % 14 {
            0 | 1 => self.send(which),
            2 => self.send_back(which),
            3 | 4 => self.deliver_all(),
            5 => self.deliver(usize::from(a)),
            6 => drop(self.take(usize::from(a))),
            7 => self.duplicate(usize::from(a)),
            8 => self.change(usize::from(a), b, c),
            9 => self.pass(Duration::from_millis(1 + u64::from(a) * u64::from(b) / 8)),
            10 => self.invent(&[a, b, c]),
            11 => self.port = u16::from(a) << 8 | u16::from(b),
            12 if b < 64 => self.restart_site(which),
            13 if b < 16 => self.restart_hub(),
            _ => self.pass(Duration::from_millis(20)),
        }
    }

    fn send(&mut self, site: usize) {
        self.number += 1;
        let mut octets = packet([10, 0, site as u8, 5], [10, 200, 0, 1], self.number);
        self.sent.insert((None, self.number));
        self.sites[site].handle_packet(self.now, &mut octets);
    }

    fn send_back(&mut self, site: usize) {
        self.number += 1;
        let mut octets = packet([10, 200, 0, 1], [10, 0, site as u8, 5], self.number);
        self.sent.insert((Some(site), self.number));
        self.hub.handle_packet(self.now, &mut octets);
    }

    fn take(&mut self, place: usize) -> Option<Flying> {
        let count = self.wire.len();
        (count > 0).then(|| self.wire.remove(place % count))
    }

    fn deliver(&mut self, place: usize) {
        let Some(flying) = self.take(place) else { return };
        self.receive(&flying);
    }

    fn receive(&mut self, flying: &Flying) {
        let mut datagram = flying.datagram.clone();
        match flying.to {
            None => self.hub.handle_datagram(self.now, flying.way, &mut datagram),
            Some(site) => self.sites[site].handle_datagram(self.now, flying.way, &mut datagram),
        }
    }

    fn deliver_all(&mut self) {
        self.pass(Duration::from_millis(10));
        for flying in std::mem::take(&mut self.wire) {
            self.receive(&flying);
        }
    }

    fn duplicate(&mut self, place: usize) {
        let Some(flying) = self.take(place) else { return };
        self.receive(&flying);
        self.receive(&flying);
    }

    fn change(&mut self, place: usize, at: u8, how: u8) {
        let Some(mut flying) = self.take(place) else { return };
        let len = flying.datagram.len();
        if how < 64 {
            flying.datagram.truncate(usize::from(at) % (len + 1));
        } else if len > 0 {
            flying.datagram[usize::from(at) % len] ^= how;
        }
        self.receive(&flying);
    }

    fn invent(&mut self, octets: &[u8]) {
        let mut datagram = octets.repeat(30);
        datagram[0] = 0x10 | octets[0] & 7;
        let stranger = SocketAddr::from(([198, 51, 100, 1], 7));
        self.hub.handle_datagram(self.now, Way::new(0, stranger), &mut datagram);
        self.sites[0].handle_datagram(self.now, Way::new(0, hub_address()), &mut datagram);
    }

    fn restart_site(&mut self, which: usize) {
        self.seed += 1;
        self.sites[which] = site(which as u8, self.seed, self.now);
    }

    fn restart_hub(&mut self) {
        self.seed += 1;
        self.hub = hub(self.seed, self.now);
    }

    /// Time goes on; timers are due. Somebody who asks to be called at once again and again would be found here.
    fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        for _ in 0..100_000 {
            let sites = self.sites.iter().map(|site| site.poll_timeout(self.now)).min();
            let next = sites.unwrap_or(Instant::MAX).min(self.hub.poll_timeout(self.now));
            if next > end {
                self.now = end;
                return;
            }
            self.now = self.now.max(next);
            self.hub.handle_timeout(self.now);
            self.sites.iter_mut().for_each(|site| site.handle_timeout(self.now));
            self.poll();
        }
        panic!("a timer does not let time pass");
    }

    fn address(&self, site: usize, socket: usize) -> SocketAddr {
        let port = if (site, socket) == (1, 0) { self.port } else { 1000 };
        SocketAddr::from(([192, 0, 2, (site * 8 + socket) as u8], port))
    }

    fn fly(&mut self, flying: Flying) {
        if self.wire.len() < MOST {
            self.wire.push(flying);
        }
    }

    fn poll(&mut self) {
        let mut out = Vec::new();
        while let Some(way) = self.hub.poll_transmit(self.now, &mut out) {
            let all = (0..2).flat_map(|site| [(site, 0), (site, 1)]);
            let found = all.into_iter().find(|&(site, socket)| self.address(site, socket) == way.to);
            if let Some((site, socket)) = found {
                let way = Way::new(socket, hub_address());
                self.fly(Flying { to: Some(site), way, datagram: out.clone() });
            }
        }
        for site in 0..self.sites.len() {
            while let Some(way) = self.sites[site].poll_transmit(self.now, &mut out) {
                let way = Way::new(0, self.address(site, way.socket));
                self.fly(Flying { to: None, way, datagram: out.clone() });
            }
            while let Some(packet) = self.sites[site].poll_deliver(self.now) {
                self.came(Some(site), &packet);
            }
            while self.sites[site].poll_notice().is_some() {}
        }
        while let Some(packet) = self.hub.poll_deliver(self.now) {
            self.came(None, &packet);
        }
        while self.hub.poll_notice().is_some() {}
    }

    fn came(&mut self, at: Option<usize>, packet: &Packet) {
        let number = number_of(packet);
        assert!(self.sent.remove(&(at, number)), "packet {number} was invented, or came twice");
    }
}
