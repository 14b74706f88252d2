//! The attacker on the path, without a key.

use super::seal::Key;
use super::{PATHS, Packet, config, control, header, ms, start};
use ropewalk_adversary::{Random, Source};
use ropewalk_bonding::{Class, Datagram, Endpoint, FlowKey, PathId, SchedulerConfig};
use ropewalk_units::Instant;
use std::collections::{BTreeMap, BTreeSet};

/// The number of flows. Each has its own bucket.
const FLOWS: u32 = 4;
/// Two of the flows ask for order. One does not, and one is sent on all paths without order.
const CLASSES: [Class; FLOWS as usize] =
    [Class::Normal, Class::Normal, Class::Unordered, Class::DuplicatedUnordered];
/// Datagrams that the attacker remembers.
const MEMORY: usize = 4_000;

/// What the attacker does.
#[derive(Clone, Copy)]
struct Attack {
    /// One datagram in this many is interfered with.
    one_in: u64,
    /// Datagrams of its own, for each that it sees.
    own: u64,
}

/// Two gateways, with the attacker between them.
struct Site {
    ends: [Endpoint<Packet>; 2],
    key: Key,
    random: Random,
    attack: Attack,
    /// Datagrams on their way: when they arrive, and their number; the end, the path and the
    /// octets.
    under_way: BTreeMap<(Instant, u64), (usize, PathId, Vec<u8>)>,
    sent: u64,
    /// Datagrams that each gateway itself has sent.
    own: [u64; 2],
    seen: Vec<(usize, Vec<u8>)>,
    /// Datagrams that passed the seal.
    opened: u64,
    /// Handed in at end 0, by flow; and what came out at end 1.
    handed_in: [u32; FLOWS as usize],
    came: [BTreeSet<u32>; FLOWS as usize],
    last: [Option<u32>; FLOWS as usize],
    depth: u32,
}

impl Site {
    fn new(seed: u64, scheduler: SchedulerConfig, attack: Attack) -> Self {
        let mut config = config(scheduler);
        config.resequencer.max_packets = 256;
        let end = || Endpoint::new(config.clone(), start()).expect("a valid configuration");
        let mut random = Random::new(seed);
        Self {
            ends: [end(), end()],
            key: Key(random.next()),
            random,
            attack,
            under_way: BTreeMap::new(),
            sent: 0,
            own: [0; 2],
            seen: Vec::with_capacity(MEMORY),
            opened: 0,
            handed_in: [0; FLOWS as usize],
            came: Default::default(),
            last: [None; FLOWS as usize],
            depth: 0,
        }
    }

    fn send(&mut self, at: Instant, to: usize, path: PathId, octets: Vec<u8>) {
        self.sent += 1;
        self.under_way.insert((at, self.sent), (to, path, octets));
    }

    /// A gateway's datagram meets the attacker.
    fn meet(&mut self, now: Instant, to: usize, path: PathId, octets: Vec<u8>) {
        let usual = now + ms(5 + 10 * u64::from(path.0));
        if self.seen.len() < MEMORY {
            self.seen.push((to, octets.clone()));
        } else {
            let place = self.random.below(MEMORY as u64) as usize;
            self.seen[place] = (to, octets.clone());
        }
        for _ in 0..self.attack.own {
            let (to, octets) = self.invent();
            let path = PathId(self.random.below(u64::from(PATHS)) as u8);
            let at = now + ms(self.random.below(30));
            self.send(at, to, path, octets);
        }
        if !self.random.one_in(self.attack.one_in) {
            return self.send(usual, to, path, octets);
        }
        let later = usual + ms(self.random.below(400));
        match self.random.below(6) {
            // Kept for good.
            0 => {}
            1 => self.send(later, to, path, octets),
            2 => {
                self.send(usual, to, path, octets.clone());
                self.send(later, to, path, octets);
            }
            3 => self.send(usual, to, PathId((path.0 + 1) % PATHS), octets),
            4 => {
                let len = self.random.below(octets.len() as u64) as usize;
                self.send(usual, to, path, octets[..len].to_vec());
            }
            _ => {
                let mut octets = octets;
                let place = self.random.below(octets.len() as u64) as usize;
                octets[place] ^= 1 << self.random.below(8);
                self.send(usual, to, path, octets);
            }
        }
    }

    /// A datagram of the attacker's own: one that it has seen, one of the right format, or random
    /// octets.
    fn invent(&mut self) -> (usize, Vec<u8>) {
        let to = self.random.below(2) as usize;
        let centre = self.handed_in.iter().sum();
        match self.random.below(4) {
            0 => {
                let len = self.random.below(64);
                (to, (0..len).map(|_| self.random.next() as u8).collect())
            }
            1 => {
                let packet = Packet { flow: self.random.below(u64::from(FLOWS)) as u32, number: centre };
                (to, Key(self.random.next()).seal(&Datagram::Data(header(&mut self.random, centre), packet)))
            }
            2 => (to, Key(self.random.next()).seal(&Datagram::Control(control(&mut self.random, centre)))),
            _ => {
                let place = self.random.below(self.seen.len() as u64) as usize;
                self.seen[place].clone()
            }
        }
    }

    /// Runs everything that happens up to a time.
    fn run(&mut self, until: Instant) {
        loop {
            let timer = self.ends.iter().filter_map(|end| end.poll_timeout().map(|(at, _)| at)).min();
            let arrival = self.under_way.keys().next().map(|&(at, _)| at);
            let Some(now) = timer.into_iter().chain(arrival).min().filter(|&at| at <= until) else { break };
            while let Some(entry) = self.under_way.first_entry().filter(|entry| entry.key().0 <= now) {
                let (to, path, octets) = entry.remove();
                if let Some(datagram) = self.key.open(&octets) {
                    self.opened += 1;
                    // A datagram that is refused came before, or came too late.
                    let _ = self.ends[to].handle_datagram(now, path, datagram);
                }
            }
            self.ends.iter_mut().for_each(|end| end.handle_timeout(now));
            self.poll(now);
        }
    }

    fn poll(&mut self, now: Instant) {
        for end in 0..2 {
            while let Some((path, datagram)) = self.ends[end].poll_transmit(now) {
                self.own[end] += 1;
                let octets = self.key.seal(&datagram);
                self.meet(now, 1 - end, path, octets);
            }
            while self.ends[end].poll_event().is_some() {}
        }
        self.depth = self.depth.max(self.ends[1].resequencer().depth_packets);
        while let Some(packet) = self.ends[1].poll_deliver(now) {
            self.note(packet);
        }
        assert_eq!(self.ends[0].poll_deliver(now), None, "nothing was sent to end 0");
    }

    fn note(&mut self, Packet { flow, number }: Packet) {
        let place = flow as usize;
        assert!(number < self.handed_in[place], "flow {flow}: {number} was never handed in");
        assert!(self.came[place].insert(number), "flow {flow}: {number} came twice");
        let last = self.last[place].replace(number);
        if CLASSES[place].is_ordered() {
            assert!(last.is_none_or(|last| last < number), "flow {flow}: {number} after {last:?}");
        }
    }

    /// Hands in a packet of each flow every millisecond: 45 Mbit/s.
    fn hand_in(&mut self, from: Instant, millis: u64) -> Instant {
        for place in 0..millis {
            let now = from + ms(place);
            self.run(now);
            for flow in 0..FLOWS {
                let number = self.handed_in[flow as usize];
                self.handed_in[flow as usize] += 1;
                let key = FlowKey { hash: flow, class: CLASSES[flow as usize], ..FlowKey::default() };
                self.ends[0].handle_packet(now, Packet { flow, number }, key);
            }
            self.poll(now);
        }
        from + ms(millis)
    }
}

const SCHEDULERS: [fn() -> SchedulerConfig; 3] = [
    || SchedulerConfig::RateAware,
    || SchedulerConfig::CostFirst(ropewalk_bonding::CostFirstConfig::default()),
    || SchedulerConfig::Redundant,
];

pub(crate) fn invents_and_repeats_nothing() {
    for seed in 0..12 {
        let attack = Attack { one_in: [3, 10, 100][seed as usize % 3], own: 1 };
        let mut site = Site::new(seed, SCHEDULERS[seed as usize % 3](), attack);
        let end = site.hand_in(start(), 1_500);
        site.run(end + ms(3_000));
        let came: usize = site.came.iter().map(BTreeSet::len).sum();
        assert!(came > 500, "seed {seed}: {came} packets came");
        assert!(site.depth <= 256, "seed {seed}: {} packets waited", site.depth);
        assert_eq!(site.ends[1].resequencer().depth_packets, 0, "seed {seed}: nothing waits for ever");
    }
}

/// The attacker repeats what honest gateways send. It makes them send at most one datagram for
/// each.
pub(crate) fn makes_nobody_send_more() {
    for seed in 0..4 {
        let sends = |own: u64| {
            let mut site = Site::new(seed, SchedulerConfig::RateAware, Attack { one_in: u64::MAX, own });
            let end = site.hand_in(start(), 1_000);
            site.run(end + ms(1_000));
            (site.own, site.opened)
        };
        let ((quiet, _), (attacked, opened)) = (sends(0), sends(4));
        let replayed = opened.saturating_sub(attacked.iter().sum());
        let more: u64 = attacked.iter().zip(quiet).map(|(now, before)| now.saturating_sub(before)).sum();
        println!("seed {seed}: {quiet:?} datagrams, under attack {attacked:?}, {replayed} replayed");
        assert!(replayed > 1_000, "seed {seed}: {replayed} replayed");
        // A replayed keepalive is answered, and data that come are reported.
        assert!(more <= replayed, "seed {seed}: {more} more for {replayed} replayed");
    }
}
