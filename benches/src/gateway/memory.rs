//! What a hub with many sites needs.

use crate::{Bar, Value};
use ropewalk_adversary::{Random, Source};
use ropewalk_bonding::{Class, Config, PathConfig, SchedulerConfig};
use ropewalk_gateway::bond::{Entropy, Hub, HubConfig, Inside, Member, Path, Site, SiteConfig, Way};
use ropewalk_gateway::key::SecretKey;
use ropewalk_gateway::packet::FlowHasher;
use ropewalk_units::{Duration as Time, Instant};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

const SITES: u8 = 200;

fn bond() -> Config {
    let paths = vec![PathConfig::new("dsl", Some(1)), PathConfig::new("lte", Some(2))];
    Config { overhead: 65, ..Config::new(paths, SchedulerConfig::RateAware) }
}

fn entropy(seed: u8) -> Entropy {
    let mut random = Random::new(u64::from(seed));
    Box::new(move |octets| octets.iter_mut().for_each(|octet| *octet = random.next() as u8))
}

fn inside() -> Inside {
    Inside { classes: [Class::Normal; 64], hasher: FlowHasher::new([1, 2]), mtu: 1400 }
}

fn resident_mb() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

fn hub() -> Hub {
    let member = |number: u8| Member {
        name: format!("site{number}"),
        key: SecretKey([number + 1; 32]).public(),
        psk: SecretKey([9; 32]),
        prefixes: vec![format!("10.0.{number}.0/24").parse().expect("a prefix")],
        paths: Vec::new(),
    };
    let config = HubConfig {
        secret: SecretKey([250; 32]),
        sites: (0..SITES).map(member).collect(),
        bond: bond(),
        inside: inside(),
        has_aes: true,
    };
    Hub::new(config, entropy(0), Instant::ZERO)
}

fn site(number: u8, to: SocketAddr) -> Site {
    let path = |socket| Path { way: Way::new(socket, to), mtu: 1500 };
    let config = SiteConfig {
        secret: SecretKey([number + 1; 32]),
        hub: SecretKey([250; 32]).public(),
        psk: SecretKey([9; 32]),
        bond: bond(),
        paths: vec![path(0), path(1)],
        inside: inside(),
        has_aes: true,
    };
    Site::new(config, entropy(number + 1), Instant::ZERO).expect("a bond")
}

/// A packet of 1400 octets.
fn packet(number: u8) -> Vec<u8> {
    let mut octets = vec![0x45, 0, 5, 120, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, number, 5, 10, 200, 0, 1];
    octets.resize(1400, 0);
    octets
}

/// What the hub has grown by, when each site has sent for a while: the sites come one after the other, and go.
pub(crate) fn two_hundred(_: Duration) -> io::Result<Vec<Value>> {
    let to = SocketAddr::from(([203, 0, 113, 1], 4500));
    let before = resident_mb();
    let mut hub = hub();
    for number in 0..SITES {
        talk(&mut hub, number, to);
    }
    let sessions = hub.status(Instant::ZERO).iter().filter(|(_, status)| status.is_some()).count();
    let grown = resident_mb() - before;
    drop(hub);
    Ok(vec![
        Value::new("sessions", sessions as f64, Bar::Least(f64::from(SITES))),
        Value::new("MB", grown, Bar::Most(100.0)),
    ])
}

fn talk(hub: &mut Hub, number: u8, to: SocketAddr) {
    let (mut site, mut out) = (site(number, to), Vec::new());
    for round in 0..80u64 {
        // One after the other: the hub would ask for cookies, if all asked in one second.
        let now = Instant::ZERO + Time::from_millis(u64::from(number) * 800 + round * 10);
        site.handle_timeout(now);
        hub.handle_timeout(now);
        if round > 10 {
            (0..8).for_each(|_| site.handle_packet(now, &mut packet(number)));
        }
        while let Some(way) = site.poll_transmit(now, &mut out) {
            let from = SocketAddr::from(([192, 0, 2, number], 1000 + way.socket as u16));
            hub.handle_datagram(now, Way::new(0, from), &mut out);
        }
        while let Some(way) = hub.poll_transmit(now, &mut out) {
            if way.to.ip() == SocketAddr::from(([192, 0, 2, number], 0)).ip() {
                let socket = usize::from(way.to.port() - 1000);
                site.handle_datagram(now, Way::new(socket, to), &mut out);
            }
        }
        while hub.poll_deliver(now).is_some() {}
    }
}
