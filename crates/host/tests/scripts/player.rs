//! Plays a script against a host.

use crate::words::{Act, Line, Step, Where, lines};
use crate::world::{MTU, PEER, PORT, SUBJECT, World};
use ropewalk_testnet::words::{flags, number, pair};
use ropewalk_units::{Dsn, Duration, Instant, Seq};
use ropewalk_wire::read::{Icmp, IpPacket, TcpPacket};
use ropewalk_wire::{Ecn, Flags, IpHeader, PacketHeader, SackBlocks, Segment, Timestamps};

/// The peer's initial sequence number: near the wrap, so that most scripts cross it.
const IRS: Seq = Seq::new(u32::MAX - 500);
/// The peer's port when it opens.
const PEER_PORT: u16 = 40_000;
/// The first timers are so many round trips long at the most: SRTT + 4 RTTVAR, where RTTVAR is half
/// of SRTT (RFC 6298 §2.2).
const TIMER: u64 = 3;
/// Octets behind an IP header that an ICMP message quotes (RFC 792).
const QUOTED: usize = 8;

/// The octet at a place of either stream: places that differ by one have different octets.
pub(crate) fn octet(place: u64) -> u8 {
    (place % 251) as u8
}

fn octets(from: u64, len: usize) -> Vec<u8> {
    (from..).map(octet).take(len).collect()
}

/// A script on its way.
pub(crate) struct Player<'w, W> {
    world: &'w mut W,
    /// The time of the last line.
    now: Instant,
    /// How late a line was done at the worst. Round trips are longer by that than the script says,
    /// and timers depend on them.
    lag: Duration,
    /// The host's initial sequence number.
    iss: Option<Seq>,
    /// The host's first TSval.
    stamp: Option<u32>,
    /// The host's port, and the peer's.
    ports: (u16, u16),
    written: u64,
    read: u64,
    /// What was seen so far.
    log: String,
}

impl<'w, W: World> Player<'w, W> {
    /// Plays the lines that hold in `place`.
    ///
    /// # Errors
    /// The first line that does not hold, and what went before.
    pub(crate) fn play(world: &'w mut W, script: &str, place: Where) -> Result<(), String> {
        let now = world.now();
        let ports = (PORT, PEER_PORT);
        let mut player = Self {
            world,
            now,
            lag: Duration::ZERO,
            iss: None,
            stamp: None,
            ports,
            written: 0,
            read: 0,
            log: String::new(),
        };
        let wanted = |line: &Line<'_>| line.place == Where::Everywhere || line.place == place;
        for line in lines(script).iter().filter(|line| wanted(line)) {
            player.line(line).map_err(|why| format!("{}\n{}: {why}", player.log, line.text))?;
            player.log += &format!("\n  {}", line.text);
        }
        Ok(())
    }

    fn line(&mut self, line: &Line<'_>) -> Result<(), String> {
        match &line.step {
            Step::Leaves(words) => return self.leaves(line.after, words),
            Step::Silence => {
                if line.after.is_zero() {
                    return Err("silence takes time".to_owned());
                }
                return self.pass(line.after);
            }
            _ => self.pass(line.after)?,
        }
        match &line.step {
            Step::Arrives(words) => {
                let packet = self.packet(words);
                self.world.inject(&packet);
            }
            Step::TooBig { mtu, from } => {
                let packet = self.too_big(*mtu, *from);
                self.world.inject(&packet);
            }
            Step::Sees(told) => {
                let seen = self.world.told();
                if seen != *told {
                    return Err(format!("it was told {seen:?}"));
                }
            }
            Step::Act(act) => self.act(*act)?,
            Step::Leaves(_) | Step::Silence => {}
        }
        let done = self.world.now();
        self.lag = self.lag.max(done.saturating_since(self.now));
        self.now = self.now.max(done);
        Ok(())
    }

    /// Lets time pass in silence.
    fn pass(&mut self, time: Duration) -> Result<(), String> {
        let due = self.now + time;
        if let Some((at, packet)) = self.world.next_packet(due) {
            return Err(format!("before, {}", self.describe(at, &packet)));
        }
        self.now = due;
        Ok(())
    }

    fn act(&mut self, act: Act) -> Result<(), String> {
        match act {
            Act::Write(len) => {
                let taken = self.world.write(&octets(self.written, len));
                self.written += taken as u64;
                (taken == len).then_some(()).ok_or_else(|| format!("{taken} octets were taken"))
            }
            Act::Read(len) => {
                let seen = self.world.read(len);
                let wanted = octets(self.read, len);
                self.read += len as u64;
                (seen == wanted).then_some(()).ok_or_else(|| format!("{} octets were read", seen.len()))
            }
            Act::Connect => {
                self.ports = (0, PORT);
                self.world.act(act)
            }
            _ => self.world.act(act),
        }
    }

    /// The next packet must be this one, and leave at this time.
    fn leaves(&mut self, after: Duration, words: &[&str]) -> Result<(), String> {
        let due = self.now + after;
        let tolerance = self.world.tolerance(after);
        let late = if after.is_zero() { tolerance.late } else { tolerance.late + self.lag * TIMER };
        let Some((at, octets)) = self.world.next_packet(due + late) else {
            return Err("nothing left".to_owned());
        };
        let found = self.describe(at, &octets);
        if at + tolerance.early < due || at > due + late {
            return Err(format!("at another time {found}"));
        }
        if !after.is_zero() {
            self.now = at;
        }
        if words.contains(&"new") {
            self.iss = None;
        }
        self.learn(&octets);
        self.compare(&octets, words).map_err(|field| format!("{field} of what was expected; {found}"))
    }

    /// The numbers of the host's first SYN.
    fn learn(&mut self, octets: &[u8]) {
        let Ok(packet) = IpPacket::read(octets).and_then(|ip| TcpPacket::read(&ip)) else { return };
        let segment = packet.segment(Dsn::new(0));
        if segment.flags.contains(Flags::SYN) && self.iss.is_none() {
            self.iss = Some(segment.seq);
            self.ports.0 = packet.header.source_port;
        }
        if let Some(stamp) = segment.options.timestamps {
            self.stamp.get_or_insert(stamp.value);
        }
    }

    fn iss(&self) -> Seq {
        self.iss.unwrap_or_default()
    }

    /// Is the packet what the words say? Otherwise the field that is not.
    fn compare(&self, octets: &[u8], words: &[&str]) -> Result<(), String> {
        let ip = IpPacket::read(octets).map_err(|why| why.to_string())?;
        let packet = TcpPacket::read(&ip).map_err(|why| why.to_string())?;
        if packet.checksum_holds(&ip) != Some(true) || !ip.checksum_holds() {
            return Err("checksum".to_owned());
        }
        if (packet.header.source_port, packet.header.destination_port) != self.ports {
            return Err("ports".to_owned());
        }
        let found = packet.segment(Dsn::new(0));
        let wanted = self.segment(words, self.iss(), IRS);
        let is = |holds: bool, field: &str| if holds { Ok(()) } else { Err(field.to_owned()) };
        let compared = |flags: Flags| flags.bits() & !Flags::PSH.bits();
        is(compared(found.flags) == compared(wanted.flags), "flags")?;
        is((found.seq, found.end()) == (wanted.seq, wanted.end()), "sequence numbers")?;
        if found.payload.len > 0 {
            let from = u64::from((found.seq - 1).since(self.iss()));
            is(packet.payload == self::octets(from, packet.payload.len()), "octets")?;
        }
        let (options, push) = (&found.options, found.flags.contains(Flags::PSH));
        for (index, word) in words.iter().enumerate() {
            let holds = match *word {
                "ack" => found.ack == wanted.ack,
                "win" => found.window == wanted.window,
                "mss" => options.mss == wanted.options.mss,
                "wscale" => options.window_scale == wanted.options.window_scale,
                "nowscale" => options.window_scale.is_none(),
                "sackok" => options.sack_permitted,
                "nosackok" => !options.sack_permitted,
                "sack" => options.sack == wanted.options.sack,
                "nosack" => options.sack.is_empty(),
                "stamped" => options.timestamps.is_some(),
                "nots" => options.timestamps.is_none(),
                "ecr" => {
                    options.timestamps.map(|stamp| stamp.echo) == words.get(index + 1).map(|e| number(e))
                }
                "push" => push,
                "nopush" => !push,
                "ect" => found.ecn == Ecn::Ect0,
                "notect" => found.ecn == Ecn::NotEct,
                _ => continue,
            };
            is(holds, word)?;
        }
        Ok(())
    }

    /// A segment in words: its sequence numbers count from `seq`, acknowledgement and SACK blocks
    /// from `ack`.
    fn segment(&self, words: &[&str], seq: Seq, ack: Seq) -> Segment {
        let mut segment = Segment { window: 60_000, flags: flags(words[0]), ..Segment::default() };
        let (from, to) = pair(words[1], ':');
        let controls = segment.sequence_len();
        segment.seq = seq + from;
        segment.payload.len = to.wrapping_sub(from) - controls;
        segment.payload.offset = u64::from(from.max(1) - 1);
        let mut fields = words[2..].iter().copied();
        while let Some(field) = fields.next() {
            let mut value = || fields.next().unwrap_or_else(|| panic!("{field} without a value"));
            match field {
                "ack" => segment.ack = ack + number::<u32>(value()),
                "win" => segment.window = number(value()),
                "mss" => segment.options.mss = Some(number(value())),
                "wscale" => segment.options.window_scale = Some(number(value())),
                "sackok" => segment.options.sack_permitted = true,
                "sack" => {
                    let mut blocks = SackBlocks::EMPTY;
                    for block in value().split(',') {
                        let (left, right) = pair(block, '-');
                        blocks.push(ack + left, ack + right);
                    }
                    segment.options.sack = blocks;
                }
                "ts" => {
                    let (value, echo) = pair(value(), '/');
                    let echo = self.stamp.map_or(0, |stamp| stamp.wrapping_add(echo));
                    segment.options.timestamps = Some(Timestamps { value, echo });
                }
                "ce" => segment.ecn = Ecn::Ce,
                "ecr" => drop(value()),
                "new" | "nowscale" | "nosackok" | "nosack" | "stamped" | "nots" | "push" | "nopush"
                | "ect" | "notect" => {}
                _ => panic!("unknown field {field}"),
            }
        }
        segment
    }

    fn header(&self) -> PacketHeader {
        PacketHeader {
            source: PEER.into(),
            destination: SUBJECT.into(),
            source_port: self.ports.1,
            destination_port: self.ports.0,
            identification: 1,
            ttl: 64,
            dscp: 0,
        }
    }

    /// A packet of the peer's.
    fn packet(&self, words: &[&str]) -> Vec<u8> {
        let segment = self.segment(words, IRS, self.iss());
        let data = octets(segment.payload.offset, segment.payload.len as usize);
        let mut out = Vec::new();
        self.header().emit_segment_with(&segment, &data, &mut out).expect("a segment of the script");
        out
    }

    /// A router says that a full segment of the host's, which began at `from`, was too long for it.
    fn too_big(&self, mtu: u32, from: u32) -> Vec<u8> {
        let own = self.header();
        let header = PacketHeader {
            source: own.destination,
            destination: own.source,
            source_port: own.destination_port,
            destination_port: own.source_port,
            ..own
        };
        let segment = Segment { seq: self.iss() + from, flags: Flags::ACK, ..Segment::default() };
        let data = vec![0; usize::from(MTU) - (header.ip_len() + Segment::HEADER) as usize];
        let mut lost = Vec::new();
        header.emit_segment_with(&segment, &data, &mut lost).expect("a packet of the host's");
        lost.truncate(header.ip_len() as usize + QUOTED);
        let ip = IpHeader {
            source: PEER.into(),
            destination: SUBJECT.into(),
            dscp: 0,
            ecn: Ecn::NotEct,
            ttl: 64,
            identification: 1,
            dont_fragment: false,
            flow_label: 0,
        };
        let mut out = Vec::new();
        Icmp::PacketTooBig { mtu, quoted: &lost }.emit(&ip, &mut out).expect("a message");
        out
    }

    fn describe(&self, at: Instant, octets: &[u8]) -> String {
        let ip = IpPacket::read(octets);
        let Ok(packet) = ip.and_then(|ip| TcpPacket::read(&ip)) else {
            return format!("leaves {octets:?}");
        };
        let segment = packet.segment(Dsn::new(0));
        let (from, options) = (segment.seq.since(self.iss()), &segment.options);
        let sack = options.sack.as_slice().iter().map(|(l, r)| (l.since(IRS), r.since(IRS)));
        format!(
            "after {:.1} ms leaves {:?} {from}:{} ack {} win {} mss {:?} wscale {:?} sackok {} sack {:?} ts {:?} {:?}",
            at.saturating_since(self.now).as_secs_f64() * 1e3,
            segment.flags,
            from.wrapping_add(segment.sequence_len()),
            segment.ack.since(IRS),
            segment.window,
            options.mss,
            options.window_scale,
            options.sack_permitted,
            sack.collect::<Vec<_>>(),
            options.timestamps,
            segment.ecn,
        )
    }
}
