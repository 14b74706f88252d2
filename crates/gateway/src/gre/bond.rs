//! A tunnel over several paths. It chooses the path of each packet, and restores the order of those
//! that arrive.

use super::header::{Header, Malformed, Protocol};
use super::order::Order;
use crate::packet::clamp_mss;
use ropewalk_units::{Duration, Instant};

/// The configuration of a tunnel. The other end has the same key, and may have other weights.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BondConfig {
    /// The key of its packets. It separates tunnels and keeps nobody out.
    pub key: u32,
    /// The weight of each path, above 0. Packets are shared by weight.
    pub weights: Vec<u32>,
    /// How long a packet waits for missing ones before it: OUTOFORDER_TIMER (RFC 2890 §2.2).
    pub timer: Duration,
    /// The most packets that wait: MAX_PERFLOW_BUFFER (RFC 2890 §2.2).
    pub most: usize,
    /// The longest inner packet, in octets: TCP's segments are kept below it.
    pub mtu: u16,
}

/// Why a datagram or a packet was dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Dropped {
    /// Its header is malformed.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// Its key is another tunnel's.
    #[error("its key is another")]
    Key,
    /// From the inside came something that is no IP packet.
    #[error("it is no IP packet")]
    NotIp,
}

/// What a tunnel has counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Packets sent.
    pub sent: u64,
    /// Packets received.
    pub received: u64,
    /// Packets that came after later ones had been delivered, or that came twice.
    pub late: u64,
    /// Missing packets that were given up.
    pub given_up: u64,
    /// Packets and datagrams that were dropped.
    pub dropped: u64,
}

struct Share {
    weight: u32,
    credit: i64,
}

/// A tunnel's end.
pub struct Bond {
    key: u32,
    mtu: u16,
    shares: Vec<Share>,
    next: u32,
    order: Order,
    counts: Counts,
}

impl Bond {
    /// An end that has sent nothing. Its first packet has the number 0 (RFC 2890 §2.2).
    pub fn new(config: &BondConfig) -> Self {
        Self {
            key: config.key,
            mtu: config.mtu,
            shares: config.weights.iter().map(|&weight| Share { weight, credit: 0 }).collect(),
            next: 0,
            order: Order::new(config.timer, config.most),
            counts: Counts::default(),
        }
    }

    /// The path of the next packet. Each path has its share, as evenly as possible.
    fn turn(&mut self) -> usize {
        let whole = self.shares.iter().map(|share| i64::from(share.weight)).sum::<i64>();
        self.shares.iter_mut().for_each(|share| share.credit += i64::from(share.weight));
        let most =
            self.shares.iter().enumerate().max_by_key(|(place, share)| (share.credit, usize::MAX - place));
        let place = most.map_or(0, |(place, _)| place);
        if let Some(share) = self.shares.get_mut(place) {
            share.credit -= whole;
        }
        place
    }

    /// Writes a packet of the inside into `out` as a datagram. Returns the path that it goes by.
    ///
    /// # Errors
    /// It is no IP packet.
    pub fn handle_packet(&mut self, packet: &mut [u8], out: &mut Vec<u8>) -> Result<usize, Dropped> {
        let Some(protocol) = Protocol::of(packet) else {
            self.counts.dropped += 1;
            return Err(Dropped::NotIp);
        };
        clamp_mss(packet, usize::from(self.mtu));
        let header = Header { protocol, key: self.key, sequence: self.next };
        self.next = self.next.wrapping_add(1);
        self.counts.sent += 1;
        out.clear();
        out.extend_from_slice(&header.encode());
        out.extend_from_slice(packet);
        Ok(self.turn())
    }

    /// A datagram of the outside, from its GRE header on.
    ///
    /// # Errors
    /// Why it was dropped.
    pub fn handle_datagram(&mut self, now: Instant, datagram: &[u8]) -> Result<(), Dropped> {
        let taken = Header::decode(datagram).map_err(Dropped::from);
        let taken = taken.and_then(|(header, packet)| {
            if header.key == self.key { Ok((header.sequence, packet)) } else { Err(Dropped::Key) }
        });
        match taken {
            Ok((sequence, packet)) => {
                self.counts.received += 1;
                self.order.handle(now, sequence, packet);
                Ok(())
            }
            Err(dropped) => {
                self.counts.dropped += 1;
                Err(dropped)
            }
        }
    }

    /// When [`Self::handle_timeout`] is to be called.
    pub fn poll_timeout(&self) -> Instant {
        self.order.deadline()
    }

    /// To be called at the time of [`Self::poll_timeout`].
    pub fn handle_timeout(&mut self, now: Instant) {
        self.order.handle_timeout(now);
    }

    /// The next packet for the inside.
    pub fn poll_deliver(&mut self) -> Option<Vec<u8>> {
        self.order.pop()
    }

    /// What it has counted.
    pub fn counts(&self) -> Counts {
        Counts { late: self.order.late, given_up: self.order.given_up, ..self.counts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bond(weights: &[u32]) -> Bond {
        let timer = Duration::from_millis(50);
        Bond::new(&BondConfig { key: 7, weights: weights.to_vec(), timer, most: 100, mtu: 1400 })
    }

    fn packet(mark: u8) -> Vec<u8> {
        vec![0x45, 0, 0, 20, 0, mark, 0, 0, 64, 59, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]
    }

    #[test]
    fn paths_have_their_shares_and_numbers_are_the_tunnel_s() {
        let (mut bond, mut out) = (bond(&[3, 1]), Vec::new());
        let mut paths = Vec::new();
        for number in 0..8u8 {
            paths.push(bond.handle_packet(&mut packet(number), &mut out).expect("it is IPv4"));
            assert_eq!(out[..12], [0x30, 0, 8, 0, 0, 0, 0, 7, 0, 0, 0, number]);
            assert_eq!(out[12..], packet(number));
        }
        assert_eq!(paths, [0, 0, 1, 0, 0, 0, 1, 0]);
        assert_eq!(bond.handle_packet(&mut [0x10], &mut out), Err(Dropped::NotIp));
    }

    #[test]
    fn a_slower_path_costs_no_order() {
        let (mut one, mut other, mut out) = (bond(&[1, 1]), bond(&[1, 1]), Vec::new());
        let mut flying = Vec::new();
        for number in 0..50u64 {
            let path = one.handle_packet(&mut packet(number as u8), &mut out).expect("it is IPv4");
            flying.push((number + 20 * path as u64, out.clone()));
        }
        flying.sort_by_key(|(at, _)| *at);
        for (at, datagram) in &flying {
            let now = Instant::ZERO + Duration::from_millis(*at);
            other.handle_timeout(now);
            other.handle_datagram(now, datagram).expect("it is good");
        }
        let got = std::iter::from_fn(|| other.poll_deliver()).map(|packet| packet[5]).collect::<Vec<_>>();
        assert_eq!(got, (0..50).collect::<Vec<_>>());
        assert_eq!(other.counts(), Counts { received: 50, ..Counts::default() });
        let mut foreign = out.clone();
        foreign[7] = 8;
        assert_eq!(other.handle_datagram(Instant::ZERO, &foreign), Err(Dropped::Key));
    }
}
