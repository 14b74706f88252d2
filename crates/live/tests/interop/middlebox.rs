//! What may stand on the way between the kernel and the host: each of these is made for one
//! connection.

use ropewalk_adversary::{Random, Source};
use ropewalk_live::Way;
use ropewalk_units::Instant;
use ropewalk_wire::read::{IpPacket, TcpOption, TcpPacket};
use ropewalk_wire::{Flags, SackBlocks};

/// As [`ropewalk_live::Ports::set_middlebox`] takes it.
pub(crate) type Middlebox = Box<dyn FnMut(Instant, Way, usize, &[u8], &mut Vec<Vec<u8>>)>;

/// Draws events that happen once in `every` times on average.
struct Chance(Random);

impl Chance {
    fn new() -> Self {
        Self(Random::new(1))
    }

    fn comes(&mut self, every: u64) -> bool {
        self.0.one_in(every)
    }
}

/// One packet of `every` is lost.
pub(crate) fn lossy(every: u64) -> Middlebox {
    let mut chance = Chance::new();
    Box::new(move |_, _, _, packet, out| {
        if !chance.comes(every) {
            out.push(packet.to_vec());
        }
    })
}

/// One packet of `every` comes twice.
pub(crate) fn duplicating(every: u64) -> Middlebox {
    let mut chance = Chance::new();
    Box::new(move |_, _, _, packet, out| {
        out.push(packet.to_vec());
        if chance.comes(every) {
            out.push(packet.to_vec());
        }
    })
}

/// One packet of `every` comes behind the next three of its way.
pub(crate) fn reordering(every: u64) -> Middlebox {
    let mut chance = Chance::new();
    let mut late: Vec<(Way, usize, u32, Vec<u8>)> = Vec::new();
    Box::new(move |_, way, port, packet, out| {
        let is_free = !late.iter().any(|held| (held.0, held.1) == (way, port));
        if is_free && chance.comes(every) {
            late.push((way, port, 3, packet.to_vec()));
            return;
        }
        out.push(packet.to_vec());
        for held in late.iter_mut().filter(|held| (held.0, held.1) == (way, port)) {
            held.2 -= 1;
            if held.2 == 0 {
                out.push(std::mem::take(&mut held.3));
            }
        }
        late.retain(|held| held.2 > 0);
    })
}

/// Whatever it is begins once data has passed by this port, and time is counted from there:
/// handshakes are spared.
pub(crate) fn later(port: usize, mut middlebox: Middlebox) -> Middlebox {
    let mut begun = None;
    Box::new(move |now, way, at, packet, out| {
        let carries_data = || read(packet).is_some_and(|(_, tcp)| !tcp.payload.is_empty());
        if begun.is_none() && at == port && carries_data() {
            begun = Some(now);
        }
        match begun {
            Some(begun) => middlebox(Instant::ZERO + (now - begun), way, at, packet, out),
            None => out.push(packet.to_vec()),
        }
    })
}

/// Whatever it is begins once so many octets of data have passed by this port.
pub(crate) fn beyond(port: usize, octets: u64, mut middlebox: Middlebox) -> Middlebox {
    let mut passed = 0;
    Box::new(move |now, way, at, packet, out| {
        if passed > octets {
            return middlebox(now, way, at, packet, out);
        }
        if at == port {
            passed += read(packet).map_or(0, |(_, tcp)| tcp.payload.len() as u64);
        }
        out.push(packet.to_vec());
    })
}

/// Nothing passes by this port from one time to another, in milliseconds.
pub(crate) fn dark(port: usize, from: u64, to: u64) -> Middlebox {
    Box::new(move |now, _, at, packet, out| {
        if at != port || !(from..to).contains(&now.as_millis()) {
            out.push(packet.to_vec());
        }
    })
}

/// What a middlebox sees of a packet's place in its connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sight {
    pub(crate) flags: Flags,
    pub(crate) port: usize,
    /// Octets of data that have passed by this port, this packet's left out.
    pub(crate) passed: u64,
}

impl Sight {
    pub(crate) fn is_syn(self) -> bool {
        self.flags.contains(Flags::SYN) && !self.flags.contains(Flags::ACK)
    }

    pub(crate) fn is_syn_ack(self) -> bool {
        self.flags.contains(Flags::SYN | Flags::ACK)
    }
}

/// Takes Multipath TCP's options from the packets that `which` says.
pub(crate) fn stripping(mut which: impl FnMut(Sight) -> bool + 'static) -> Middlebox {
    let mut passed = Vec::new();
    Box::new(move |_, _, port, packet, out| {
        let Some((ip, tcp)) = read(packet) else { return out.push(packet.to_vec()) };
        passed.resize(passed.len().max(port + 1), 0);
        let strips = which(Sight { flags: tcp.header.flags, port, passed: passed[port] });
        passed[port] += tcp.payload.len() as u64;
        let options = tcp.options().filter(|option| !strips || !matches!(option, TcpOption::Mptcp(_)));
        out.push(write(&ip, &tcp, &options.collect::<Vec<_>>(), tcp.payload, 0));
    })
}

/// Changes one octet of the data on its way by this port, once that many octets have passed; TCP's
/// checksum is right again.
pub(crate) fn changing(port: usize, to: Way, after: u64) -> Middlebox {
    let (mut passed, mut done) = (0, false);
    Box::new(move |_, way, at, packet, out| {
        let Some((ip, tcp)) = read(packet) else { return out.push(packet.to_vec()) };
        if at == port && way == to && !done && !tcp.payload.is_empty() {
            passed += tcp.payload.len() as u64;
            if passed > after {
                done = true;
                let mut payload = tcp.payload.to_vec();
                payload[0] ^= 1;
                return out.push(write(&ip, &tcp, &tcp.options().collect::<Vec<_>>(), &payload, 0));
            }
        }
        out.push(packet.to_vec());
    })
}

/// Resets the connection by this port, once that many octets have passed: one packet to the host
/// becomes a RST.
pub(crate) fn resetting(port: usize, after: u64) -> Middlebox {
    let (mut passed, mut done) = (0, false);
    Box::new(move |_, way, at, packet, out| {
        let Some((ip, mut tcp)) = read(packet) else { return out.push(packet.to_vec()) };
        if at == port && way == Way::In && !done && !tcp.payload.is_empty() {
            passed += tcp.payload.len() as u64;
            if passed > after {
                done = true;
                tcp.header.flags = Flags::RST | Flags::ACK;
                return out.push(write(&ip, &tcp, &[], &[], 0));
            }
        }
        out.push(packet.to_vec());
    })
}

/// Adds `by` to our sequence numbers on every connection, as some firewalls do, and takes it off
/// the numbers that come back.
pub(crate) fn renumbering(by: u32) -> Middlebox {
    Box::new(move |_, way, _, packet, out| {
        let Some((ip, mut tcp)) = read(packet) else { return out.push(packet.to_vec()) };
        let mut options = tcp.options().collect::<Vec<_>>();
        match way {
            Way::Out => tcp.header.seq += by,
            Way::In => {
                tcp.header.ack = tcp.header.ack - by;
                for option in &mut options {
                    if let TcpOption::Sack(blocks) = option {
                        let mut moved = SackBlocks::EMPTY;
                        blocks
                            .as_slice()
                            .iter()
                            .for_each(|(left, right)| moved.push(*left - by, *right - by));
                        *blocks = moved;
                    }
                }
            }
        }
        out.push(write(&ip, &tcp, &options, tcp.payload, 0));
    })
}

/// Cuts every segment of data in two, with all options on both, as segmentation offload does.
pub(crate) fn splitting() -> Middlebox {
    Box::new(move |_, _, _, packet, out| {
        let Some((ip, tcp)) = read(packet) else { return out.push(packet.to_vec()) };
        if tcp.payload.len() < 2 || tcp.header.flags.contains(Flags::SYN) {
            return out.push(packet.to_vec());
        }
        let (first, second) = tcp.payload.split_at(tcp.payload.len() / 2);
        let options = tcp.options().collect::<Vec<_>>();
        let mut head = tcp;
        head.header.flags = Flags::ACK;
        out.push(write(&ip, &head, &options, first, 0));
        out.push(write(&ip, &tcp, &options, second, first.len() as u32));
    })
}

/// Joins two segments of data that follow each other by this port, once in `every` times. The
/// options of the first are kept, those of the second are lost.
pub(crate) fn merging(port: usize, every: u64) -> Middlebox {
    let mut chance = Chance::new();
    let mut held: [Option<Vec<u8>>; 2] = [None, None];
    Box::new(move |_, way, at, packet, out| {
        if at != port {
            return out.push(packet.to_vec());
        }
        let first = held[way as usize].take();
        let holds = first.is_none()
            && read(packet).is_some_and(|(_, tcp)| tcp.payload.len() > 1 && tcp.header.flags == Flags::ACK)
            && chance.comes(every);
        match first {
            None if holds => held[way as usize] = Some(packet.to_vec()),
            None => out.push(packet.to_vec()),
            Some(first) => match merged(&first, packet) {
                Some(merged) => out.push(merged),
                None => out.extend([first, packet.to_vec()]),
            },
        }
    })
}

fn merged(first: &[u8], second: &[u8]) -> Option<Vec<u8>> {
    let ((ip, head), (_, tail)) = (read(first)?, read(second)?);
    let follows = tail.header.seq == head.header.seq + head.payload.len() as u32;
    let plain =
        !tail.payload.is_empty() && !tail.header.flags.intersects(Flags::SYN | Flags::FIN | Flags::RST);
    let octets = [head.payload, tail.payload].concat();
    (follows && plain).then(|| write(&ip, &head, &head.options().collect::<Vec<_>>(), &octets, 0))
}

/// Adds an option of a kind that nobody knows (RFC 6994 keeps 253 for experiments) where there is
/// room.
pub(crate) fn adding_unknown() -> Middlebox {
    Box::new(move |_, _, _, packet, out| {
        let Some((ip, tcp)) = read(packet) else { return out.push(packet.to_vec()) };
        if tcp.options.len() > 36 {
            return out.push(packet.to_vec());
        }
        let mut options = vec![TcpOption::Unknown { kind: 253, body: &[1, 2] }];
        options.extend(tcp.options());
        out.push(write(&ip, &tcp, &options, tcp.payload, 0));
    })
}

/// `None`: another protocol, as the kernel's IPv6 speaks it when an interface comes up.
fn read(packet: &[u8]) -> Option<(IpPacket<'_>, TcpPacket<'_>)> {
    let ip = IpPacket::read(packet).expect("both sides send IP");
    TcpPacket::read(&ip).ok().map(|tcp| (ip, tcp))
}

/// The packet with these options and this data, which begins so many octets behind the segment's
/// own.
fn write(
    ip: &IpPacket<'_>,
    tcp: &TcpPacket<'_>,
    options: &[TcpOption<'_>],
    payload: &[u8],
    behind: u32,
) -> Vec<u8> {
    let mut header = tcp.header;
    header.seq += behind;
    let mut packet = Vec::new();
    header.emit(&ip.header, options, payload, &mut packet).expect("it was a packet before");
    packet
}
