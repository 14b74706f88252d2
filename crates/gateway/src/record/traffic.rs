//! What went through the tunnel, flow by flow: a time and a length of each packet.

use crate::packet::Header;
use ropewalk_units::{Duration, Instant};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::IpAddr;

/// So many flows stand by themselves, those with the most octets. The others of a direction are one flow.
pub(super) const FLOWS: usize = 100;
/// Octets of the headers of IPv4 and UDP, which a simulated datagram has beside its payload.
const HEADERS: usize = 28;

/// From where a packet came.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Side {
    /// From the recorded gateway's inside.
    Here,
    /// From the other gateway's.
    There,
}

/// What tells flows apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Key {
    side: Side,
    source: IpAddr,
    destination: IpAddr,
    protocol: u8,
    /// Both ports, or zeros.
    ports: [u8; 4],
    dscp: u8,
}

impl Key {
    fn read(side: Side, octets: &[u8]) -> Option<Self> {
        let header = Header::read(octets)?;
        let ports = octets.get(header.transport_at..).and_then(|rest| rest.first_chunk::<4>());
        Some(Self {
            side,
            source: header.source,
            destination: header.destination,
            protocol: header.protocol,
            ports: *ports
                .filter(|_| header.has_ports && matches!(header.protocol, 6 | 17))
                .unwrap_or(&[0; 4]),
            dscp: header.dscp,
        })
    }
}

/// One flow's packets.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub(super) side: Side,
    pub(super) dscp: u8,
    /// What it was.
    pub(super) was: String,
    /// Times from the first entry of the record, and octets of the packets.
    packets: Vec<(Duration, usize)>,
}

impl Flow {
    pub(super) fn packets(&self) -> usize {
        self.packets.len()
    }

    pub(super) fn octets(&self) -> usize {
        self.packets.iter().map(|(_, octets)| octets).sum()
    }

    /// A line for each datagram: µs, a comma, octets of payload. Longer ones than `most` are cut to it.
    pub(super) fn lines(&self, most: usize) -> String {
        self.packets.iter().fold(String::new(), |mut text, (after, octets)| {
            let payload = octets.saturating_sub(HEADERS).clamp(1, most);
            let _ = writeln!(text, "{},{payload}", after.as_nanos() / 1000);
            text
        })
    }
}

/// All flows of a record.
#[derive(Debug)]
pub(super) struct Traffic {
    began_at: Instant,
    flows: BTreeMap<Key, Vec<(Duration, usize)>>,
}

impl Traffic {
    pub(super) const fn new(began_at: Instant) -> Self {
        Self { began_at, flows: BTreeMap::new() }
    }

    /// Notes a packet. What is no IP packet does not go through the tunnel.
    pub(super) fn note(&mut self, now: Instant, side: Side, octets: &[u8]) {
        if let Some(key) = Key::read(side, octets) {
            let after = now.saturating_since(self.began_at);
            self.flows.entry(key).or_default().push((after, octets.len()));
        }
    }

    /// The flows, those with the most octets first; behind them what is left, as one flow of each direction.
    pub(super) fn into_flows(self) -> Vec<Flow> {
        let mut flows = self.flows.into_iter().map(|(key, packets)| named(key, packets)).collect::<Vec<_>>();
        // The order of the keys stays among equals.
        flows.sort_by_key(|flow| std::cmp::Reverse(flow.octets()));
        let rest = flows.split_off(flows.len().min(FLOWS));
        flows.extend([Side::Here, Side::There].into_iter().filter_map(|side| merged(&rest, side)));
        flows
    }
}

fn named(key: Key, packets: Vec<(Duration, usize)>) -> Flow {
    let [a, b, c, d] = key.ports;
    let (from, to) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    let protocol = match key.protocol {
        6 => "TCP".to_owned(),
        17 => "UDP".to_owned(),
        number => format!("protocol {number}"),
    };
    let was = match key.ports {
        [0, 0, 0, 0] => format!("{protocol} from {} to {}", key.source, key.destination),
        _ => format!("{protocol} from {} port {from} to {} port {to}", key.source, key.destination),
    };
    Flow { side: key.side, dscp: key.dscp, was, packets }
}

fn merged(rest: &[Flow], side: Side) -> Option<Flow> {
    let rest = rest.iter().filter(|flow| flow.side == side);
    let count = rest.clone().count();
    let mut packets = rest.flat_map(|flow| flow.packets.iter().copied()).collect::<Vec<_>>();
    packets.sort_by_key(|(after, _)| *after);
    (count > 0).then(|| Flow { side, dscp: 0, was: format!("{count} small flows"), packets })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(port: u8, octets: usize) -> Vec<u8> {
        let mut packet = vec![0; octets];
        packet[0] = 0x45;
        packet[2..4].copy_from_slice(&(octets as u16).to_be_bytes());
        packet[9] = 17;
        packet[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
        packet[20..24].copy_from_slice(&[0, 7, 0, port]);
        packet
    }

    fn at(micros: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(micros)
    }

    #[test]
    fn packets_of_a_flow_stand_in_its_lines() {
        let mut traffic = Traffic::new(at(1000));
        traffic.note(at(1000), Side::Here, &packet(1, 128));
        traffic.note(at(1500), Side::Here, &packet(2, 28));
        traffic.note(at(3000), Side::Here, &packet(1, 1500));
        traffic.note(at(3001), Side::There, &packet(1, 60));
        traffic.note(at(3001), Side::There, b"no packet");
        let flows = traffic.into_flows();
        let lines = flows.iter().map(|flow| (flow.side, flow.lines(1400))).collect::<Vec<_>>();
        let lines = lines.iter().map(|(side, lines)| (*side, lines.as_str())).collect::<Vec<_>>();
        assert_eq!(
            lines,
            [(Side::Here, "0,100\n2000,1400\n"), (Side::There, "2001,32\n"), (Side::Here, "500,1\n")]
        );
        assert_eq!(flows[0].was, "UDP from 10.0.0.1 port 7 to 10.0.0.2 port 1");
    }

    #[test]
    fn small_flows_beyond_the_limit_are_one() {
        let mut traffic = Traffic::new(at(0));
        for port in 0..FLOWS as u8 + 3 {
            traffic.note(at(u64::from(port)), Side::Here, &packet(port, 2000 - usize::from(port)));
        }
        let flows = traffic.into_flows();
        assert_eq!(flows.len(), FLOWS + 1);
        let last = flows.last().expect("there are some");
        assert_eq!((last.was.as_str(), last.packets()), ("3 small flows", 3));
    }
}
