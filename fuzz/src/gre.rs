//! Two ends of a GRE tunnel over lines that do what the input says. Packets come out in their order, none twice and none that was not
//! sent, and few wait. Who is on the way may send anything: then only the memory is bounded.

use ropewalk_gateway::gre::{Bond, BondConfig};
use ropewalk_units::{Duration, Instant};

/// Datagrams that are on their way at the most: what is sent beyond is lost.
const MOST_FLYING: usize = 64;
/// Packets that may wait for others.
const MOST_WAITING: usize = 8;
/// After so long without a packet the numbers may begin anew.
const SILENCE: Duration = Duration::from_secs(3);

/// Plays what the octets say.
pub fn run(octets: &[u8]) {
    let mut world = World::new();
    for step in octets.chunks_exact(4).take(2000) {
        world.step([step[0], step[1], step[2], step[3]]);
        world.look();
    }
}

struct World {
    now: Instant,
    heard_at: Instant,
    ends: [Bond; 2],
    wire: Vec<Vec<u8>>,
    number: u32,
    /// The last that came out, in this run of numbers.
    last: Option<u32>,
    delivered: u64,
    /// Nobody has sent anything beside the tunnel's end.
    is_honest: bool,
}

fn packet(number: u32) -> Vec<u8> {
    let mut packet = vec![0x45, 0, 0, 24, 0, 0, 0, 0, 64, 59, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    packet.extend(number.to_be_bytes());
    packet
}

impl World {
    fn new() -> Self {
        let timer = Duration::from_millis(50);
        let config = BondConfig { key: 7, weights: vec![3, 1], timer, most: MOST_WAITING, mtu: 1400 };
        Self {
            now: Instant::ZERO,
            heard_at: Instant::ZERO,
            ends: [Bond::new(&config), Bond::new(&config)],
            wire: Vec::new(),
            number: 0,
            last: None,
            delivered: 0,
            is_honest: true,
        }
    }

    fn step(&mut self, [what, place, value, with]: [u8; 4]) {
        match what % 8 {
            0..=2 => self.send(),
            3 | 4 => {
                if let Some(datagram) = self.take(place) {
                    self.deliver(&datagram);
                }
            }
            5 => drop(self.take(place)),
            6 => {
                self.now += Duration::from_millis(u64::from(place) * u64::from(value) / 16);
                self.ends[1].handle_timeout(self.now);
            }
            _ => self.forge(place, value, with),
        }
    }

    fn send(&mut self) {
        let mut out = Vec::new();
        let path = self.ends[0].handle_packet(&mut packet(self.number), &mut out).expect("it is IPv4");
        assert!(path < 2);
        self.number += 1;
        if self.wire.len() < MOST_FLYING {
            self.wire.push(out);
        }
    }

    fn take(&mut self, place: u8) -> Option<Vec<u8>> {
        let place = usize::from(place) % self.wire.len().max(1);
        (place < self.wire.len()).then(|| self.wire.remove(place))
    }

    fn deliver(&mut self, datagram: &[u8]) {
        if self.now.saturating_since(self.heard_at) >= SILENCE {
            self.last = None;
        }
        self.heard_at = self.now;
        let taken = self.ends[1].handle_datagram(self.now, datagram);
        assert!(!self.is_honest || taken.is_ok(), "{taken:?}");
    }

    /// Somebody changes an octet of a copy.
    fn forge(&mut self, place: u8, value: u8, with: u8) {
        let Some(datagram) = self.wire.get(usize::from(place) % self.wire.len().max(1)) else { return };
        let mut copy = datagram[..datagram.len().min(1 + usize::from(with))].to_vec();
        let at = usize::from(value) % copy.len();
        copy[at] ^= with | 1;
        // What is taken may have any number.
        self.is_honest &= self.ends[1].handle_datagram(self.now, &copy).is_err();
    }

    fn look(&mut self) {
        while let Some(packet) = self.ends[1].poll_deliver() {
            self.delivered += 1;
            if self.is_honest {
                let number = packet.last_chunk().copied().map(u32::from_be_bytes).expect("it has a number");
                assert_eq!(packet, self::packet(number), "as it was");
                assert!(number < self.number, "sent by nobody");
                assert!(self.last.is_none_or(|last| last < number), "{number} after {:?}", self.last);
                self.last = Some(number);
            }
        }
        let counts = self.ends[1].counts();
        let waiting = counts.received - counts.late - self.delivered;
        assert!(waiting <= MOST_WAITING as u64, "{waiting} wait");
        assert_eq!(waiting == 0, self.ends[1].poll_timeout() == Instant::MAX, "who waits has a timer");
    }
}
