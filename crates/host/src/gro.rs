//! Segments of a flow that arrive one behind the other are taken as one (Linux: generic receive
//! offload). The connection looks at its state once for all of them, and acknowledges them
//! together.

use crate::tuple::FourTuple;
use ropewalk_wire::read::{IpPacket, TcpPacket};
use ropewalk_wire::{Flags, IpHeader};

/// Octets of data in one segment, at most. With an IPv6 header and the longest TCP header, they
/// still fit an IP packet.
const MOST: usize = 65_535 - 40 - 60;

/// A segment, and those that continue it.
pub(crate) struct Run<'a> {
    tuple: FourTuple,
    ip: IpHeader,
    first: TcpPacket<'a>,
    /// Octets of data in all segments.
    len: usize,
    /// Flags of all.
    flags: Flags,
    /// Packets in it.
    packets: u64,
}

impl<'a> Run<'a> {
    /// Begins with a segment that others may continue: it has data, and its only flag is ACK.
    /// `None` for other segments.
    pub(crate) fn begin(tuple: FourTuple, ip: &IpPacket<'a>, packet: TcpPacket<'a>) -> Option<Self> {
        let plain = packet.header.flags == Flags::ACK
            && packet.header.urgent == 0
            && packet.header.reserved == 0
            && !packet.payload.is_empty()
            && ip.extensions.is_empty();
        let (len, flags) = (packet.payload.len(), packet.header.flags);
        plain.then_some(Self { tuple, ip: ip.header, first: packet, len, flags, packets: 1 })
    }

    /// Does this segment continue it? It may differ only in its place, and by PSH. A segment that
    /// is longer than the first one does not continue it: the first was then not full.
    pub(crate) fn is_continued_by(&self, tuple: FourTuple, ip: &IpPacket<'_>, next: &TcpPacket<'_>) -> bool {
        let (one, other) = (&self.first.header, &next.header);
        let same_ip =
            (self.ip.ttl, self.ip.dscp, self.ip.ecn) == (ip.header.ttl, ip.header.dscp, ip.header.ecn);
        tuple == self.tuple
            && same_ip
            && ip.extensions.is_empty()
            && self.flags == Flags::ACK
            && (other.flags == Flags::ACK || other.flags == Flags::ACK | Flags::PSH)
            && other.seq == one.seq + self.len as u32
            && (one.ack, one.window, one.reserved, one.urgent)
                == (other.ack, other.window, other.reserved, other.urgent)
            && self.first.options == next.options
            && !next.payload.is_empty()
            && next.payload.len() <= self.first.payload.len()
            && self.len.is_multiple_of(self.first.payload.len())
            && self.len + next.payload.len() <= MOST
    }

    /// Adds a segment. `data` then has the data of all segments.
    pub(crate) fn add(&mut self, next: &TcpPacket<'_>, data: &mut Vec<u8>) {
        if self.packets == 1 {
            data.clear();
            data.extend_from_slice(self.first.payload);
        }
        data.extend_from_slice(next.payload);
        self.len = data.len();
        self.flags |= next.header.flags;
        self.packets += 1;
    }

    /// The flow, all of it as one segment, and how many packets it was. `data` is what
    /// [`Self::add`] has written.
    pub(crate) fn end<'d>(self, data: &'d [u8]) -> (FourTuple, TcpPacket<'d>, u64)
    where
        'a: 'd,
    {
        let mut packet: TcpPacket<'d> = self.first;
        if self.packets > 1 {
            packet.payload = data;
            packet.payload_len = data.len();
            packet.header.flags = self.flags;
        }
        (self.tuple, packet, self.packets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_units::Seq;
    use ropewalk_wire::{Ecn, Options, PacketHeader, Payload, Segment, Timestamps};
    use std::net::{Ipv4Addr, SocketAddr};

    const FULL: u32 = 1000;

    fn end(host: u8) -> SocketAddr {
        SocketAddr::new(Ipv4Addr::new(10, 0, 0, host).into(), 5001)
    }

    fn tuple() -> FourTuple {
        FourTuple { local: end(1), remote: end(2) }
    }

    /// The segment of this number, of full length.
    fn segment(number: u32) -> Segment {
        let options = Options { timestamps: Some(Timestamps { value: 7, echo: 9 }), ..Options::default() };
        let payload = Payload { offset: u64::from(number * FULL), len: FULL };
        let seq = Seq::new(number * FULL);
        Segment {
            seq,
            ack: Seq::new(5),
            flags: Flags::ACK,
            window: 100,
            payload,
            options,
            ..Segment::default()
        }
    }

    fn packet(segment: &Segment, ttl: u8) -> Vec<u8> {
        let header = PacketHeader {
            source: end(2).ip(),
            destination: end(1).ip(),
            source_port: 5001,
            destination_port: 5001,
            identification: 0,
            ttl,
            dscp: 0,
        };
        let mut octets = Vec::new();
        let data = vec![segment.seq.get() as u8; segment.payload.len as usize];
        header.emit_segment_with(segment, &data, &mut octets).expect("a segment");
        octets
    }

    /// How many of these become one segment with the first, how long that is, and whether it has
    /// PSH.
    fn taken(packets: &[Vec<u8>]) -> (u64, usize, Flags) {
        let read = |octets| {
            let ip = IpPacket::read(octets).expect("a packet");
            (ip, TcpPacket::read(&ip).expect("a segment"))
        };
        let (ip, first) = read(&packets[0]);
        let Some(mut run) = Run::begin(tuple(), &ip, first) else { return (0, 0, Flags::NONE) };
        let mut data = Vec::new();
        for octets in &packets[1..] {
            let (ip, next) = read(octets);
            if !run.is_continued_by(tuple(), &ip, &next) {
                break;
            }
            run.add(&next, &mut data);
        }
        let (_, packet, packets) = run.end(&data);
        assert_eq!(packet.payload.len(), packet.payload_len);
        (packets, packet.payload_len, packet.header.flags)
    }

    fn with(number: u32, change: fn(&mut Segment)) -> Vec<u8> {
        let mut segment = segment(number);
        change(&mut segment);
        packet(&segment, 64)
    }

    #[test]
    fn full_segments_become_one_up_to_the_longest_packet() {
        let packets = (0..100).map(|number| packet(&segment(number), 64)).collect::<Vec<_>>();
        assert_eq!(taken(&packets), (65, 65_000, Flags::ACK));
        assert_eq!(taken(&packets[..1]), (1, 1_000, Flags::ACK));
    }

    #[test]
    fn a_short_one_or_one_with_psh_is_the_last() {
        let [first, third] = [0, 2].map(|number| packet(&segment(number), 64));
        let short = with(1, |segment| segment.payload.len = 400);
        let behind = with(1, |segment| {
            segment.seq += 400;
            segment.payload.len = 400;
        });
        assert_eq!(taken(&[first.clone(), short, behind]), (2, 1_400, Flags::ACK));
        let push = with(1, |segment| segment.flags |= Flags::PSH);
        assert_eq!(taken(&[first.clone(), push.clone(), third]), (2, 2_000, Flags::ACK | Flags::PSH));
        assert_eq!(taken(&[push, first]), (0, 0, Flags::NONE), "it is the last of something before");
    }

    #[test]
    fn what_differs_in_more_than_its_place_stays_alone() {
        let first = packet(&segment(0), 64);
        let changes: [fn(&mut Segment); 9] = [
            |segment| segment.seq += 1,
            |segment| segment.ack += 1,
            |segment| segment.window += 1,
            |segment| segment.flags |= Flags::FIN,
            |segment| segment.flags |= Flags::ECE,
            |segment| segment.ecn = Ecn::Ce,
            |segment| segment.payload.len = 1_001,
            |segment| segment.payload.len = 0,
            |segment| segment.options.timestamps = Some(Timestamps { value: 8, echo: 9 }),
        ];
        for (place, change) in changes.into_iter().enumerate() {
            assert_eq!(taken(&[first.clone(), with(1, change)]).0, 1, "change {place}");
        }
        assert_eq!(taken(&[first.clone(), packet(&segment(1), 63)]).0, 1, "it came another way");
        assert_eq!(taken(&[first, packet(&segment(1), 64)]).0, 2);
    }
}
