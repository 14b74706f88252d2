//! Plays a record again, and checks that the same comes out.

use super::scenario::{RecordedScenario, Seen};
use super::way::way_octets;
use super::{DIGEST, Kind, MAGIC, Tally};
use crate::bond::{Core, Entropy, PastSpendings, PathRow, Way};
use crate::config::{Config, Names, Part};
use ropewalk_units::{Duration, Instant};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::net::{Ipv6Addr, SocketAddr};
use std::rc::Rc;

/// Why a record cannot be played.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Unreplayable {
    /// It is no record, or one of another version.
    #[error("no record of a gateway, or one of another version")]
    Magic,
    /// No entry begins at this octet.
    #[error("octet {0} of the record: no entry begins there")]
    Entry(usize),
    /// It is a hub's. A hub has many bonds.
    #[error("a hub's record: only a site's becomes a scenario, since a hub has many bonds")]
    Hub,
    /// There was no session in it.
    #[error("no session has begun in the record: it shows no lines")]
    NoSession,
    /// The configuration cannot be read, or its bond cannot be made.
    #[error("the configuration: {0}")]
    Config(String),
    /// Something else came out.
    #[error("{what} at {at_ns} ns, entry {entry}: other octets than in the record")]
    Differs {
        /// `datagrams` or `packets`.
        what: &'static str,
        /// When, by the clock of the record.
        at_ns: u64,
        /// Which entry.
        entry: u64,
    },
}

/// What was played.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Replayed {
    /// Entries.
    pub entries: u64,
    /// Packets of the inside.
    pub packets: u64,
    /// Datagrams that came.
    pub datagrams: u64,
    /// Datagrams that were made, each with the recorded octets.
    pub sent: u64,
    /// Packets that came out, likewise.
    pub delivered: u64,
    /// Seconds from the first entry to the last.
    pub seconds: f64,
    /// Octets behind the last whole entry, which were not played.
    pub cut_off: usize,
}

struct Entry<'a> {
    at: usize,
    kind: Kind,
    now: Instant,
    octets: &'a [u8],
}

/// The entries of a record, and the octets behind them: of one that was cut off, for example by a full disk.
fn entries(record: &[u8]) -> Result<(Vec<Entry<'_>>, usize), Unreplayable> {
    let mut rest = record.strip_prefix(&MAGIC).ok_or(Unreplayable::Magic)?;
    let mut all = Vec::new();
    while let Some((head, behind)) = rest.split_first_chunk::<13>() {
        let at = record.len() - rest.len();
        let kind = Kind::read(head[0]).ok_or(Unreplayable::Entry(at))?;
        let number = |octets: &[u8]| octets.iter().fold(0u64, |sum, octet| sum << 8 | u64::from(*octet));
        let (now, len) = (Instant::from_nanos(number(&head[1..9])), number(&head[9..]) as usize);
        let Some((octets, next)) = behind.split_at_checked(len) else { break };
        all.push(Entry { at, kind, now, octets });
        rest = next;
    }
    Ok((all, rest.len()))
}

/// Gives what was drawn, in its order; zeros when there is no more.
fn entropy(entries: &[Entry<'_>]) -> Entropy {
    let drawn = entries.iter().filter(|entry| entry.kind == Kind::Drawn);
    let drawn = drawn.flat_map(|entry| entry.octets.iter().copied()).collect::<VecDeque<u8>>();
    let drawn = Rc::new(RefCell::new(drawn));
    Box::new(move |octets| {
        let mut drawn = drawn.borrow_mut();
        octets.iter_mut().for_each(|octet| *octet = drawn.pop_front().unwrap_or(0));
    })
}

fn way(octets: &[u8]) -> Option<(Way, &[u8])> {
    let (head, datagram) = octets.split_first_chunk::<20>()?;
    let address = Ipv6Addr::from(*head[4..].first_chunk::<16>()?);
    let port = u16::from_be_bytes([head[2], head[3]]);
    let socket = usize::from(u16::from_be_bytes([head[0], head[1]]));
    let to = SocketAddr::new(address.to_ipv4_mapped().map_or(address.into(), Into::into), port);
    Some((Way::new(socket, to), datagram))
}

/// What names stood for. `None`: the entry is not understood.
fn names(entries: &[Entry<'_>]) -> Option<Names> {
    let entry = entries.iter().find(|entry| entry.kind == Kind::Names);
    entry.map_or(Some(Names::new()), |entry| serde_json::from_slice(entry.octets).ok())
}

/// Plays a record. `config` reads the configuration of the run, with the key of the hash that names
/// flows, and with the addresses that names of hosts stood for.
///
/// # Errors
/// [`Unreplayable`]
pub fn replay(
    record: &[u8],
    config: impl FnOnce([u64; 2], &Names) -> Result<Config, String>,
) -> Result<Replayed, Unreplayable> {
    play(record, config, |_, _| Ok(None)).map(|(replayed, _)| replayed)
}

/// Plays a site's record, and makes a scenario of what is seen meanwhile.
///
/// # Errors
/// [`Unreplayable`]
pub fn replay_to_scenario(
    record: &[u8],
    config: impl FnOnce([u64; 2], &Names) -> Result<Config, String>,
) -> Result<(Replayed, RecordedScenario), Unreplayable> {
    let seen = |part: &Part, began_at| match part {
        Part::Site { config, .. } => Ok(Some(Seen::new(&config.bond, &config.inside, began_at))),
        Part::Hub { .. } => Err(Unreplayable::Hub),
    };
    let (replayed, seen) = play(record, config, seen)?;
    let seen = seen.filter(Seen::has_lines).ok_or(Unreplayable::NoSession)?;
    Ok((replayed, seen.scenario(replayed.seconds)))
}

fn play(
    record: &[u8],
    config: impl FnOnce([u64; 2], &Names) -> Result<Config, String>,
    seen: impl FnOnce(&Part, Instant) -> Result<Option<Seen>, Unreplayable>,
) -> Result<(Replayed, Option<Seen>), Unreplayable> {
    let (entries, cut_off) = entries(record)?;
    let first = entries.first().filter(|entry| entry.kind == Kind::FlowKey && entry.octets.len() == 16);
    let first = first.ok_or(Unreplayable::Magic)?;
    let half = |octets: &[u8]| octets.iter().fold(0, |sum, octet| sum << 8 | u64::from(*octet));
    let key = [half(&first.octets[..8]), half(&first.octets[8..])];
    let names = names(&entries).ok_or(Unreplayable::Entry(0))?;
    let config = config(key, &names).map_err(Unreplayable::Config)?;
    let entropy = entropy(&entries);
    let seen = seen(&config.part, first.now)?;
    let core = match config.part {
        Part::Site { config, .. } => Core::site(*config, entropy, first.now)
            .map_err(|error| Unreplayable::Config(error.to_string()))?,
        Part::Hub { config, .. } => Core::hub(*config, entropy, first.now),
    };
    let mut player =
        Player { core, out: Vec::new(), replayed: Replayed { cut_off, ..Replayed::default() }, seen };
    for entry in &entries {
        player.play(entry)?;
        player.replayed.entries += 1;
    }
    let last = entries.last().map_or(first.now, |entry| entry.now);
    player.replayed.seconds = last.saturating_since(first.now).as_secs_f64();
    Ok((player.replayed, player.seen))
}

struct Player {
    core: Core,
    out: Vec<u8>,
    replayed: Replayed,
    /// What is noted meanwhile, if anything is.
    seen: Option<Seen>,
}

impl Player {
    fn play(&mut self, entry: &Entry<'_>) -> Result<(), Unreplayable> {
        let (now, malformed) = (entry.now, || Unreplayable::Entry(entry.at));
        match entry.kind {
            Kind::FlowKey | Kind::Names | Kind::Drawn => {}
            Kind::Packet => {
                self.replayed.packets += 1;
                if let Some(seen) = &mut self.seen {
                    seen.offered(now, entry.octets);
                }
                self.core.handle_packet(now, &mut entry.octets.to_vec());
            }
            Kind::Datagram => {
                let (way, datagram) = way(entry.octets).ok_or_else(malformed)?;
                self.replayed.datagrams += 1;
                self.core.handle_datagram(now, way, &mut datagram.to_vec());
            }
            Kind::Timeout => self.core.handle_timeout(now),
            Kind::Sent => {
                let digest = self.send(now);
                self.compare("datagrams", entry, digest)?;
            }
            Kind::Delivered => {
                let digest = self.deliver(now);
                self.compare("packets", entry, digest)?;
            }
            Kind::Change => {
                let rows: Vec<PathRow> = serde_json::from_slice(entry.octets).map_err(|_| malformed())?;
                self.core.set_paths(now, &rows).map_err(|_| malformed())?;
            }
            Kind::SiteChange => {
                let change = serde_json::from_slice(entry.octets).map_err(|_| malformed())?;
                self.core.set_site_path(now, &change).map_err(|_| malformed())?;
            }
            Kind::Found => {
                let found: Vec<_> = serde_json::from_slice(entry.octets).map_err(|_| malformed())?;
                self.core.handle_addresses(now, &found);
            }
            Kind::Spent => {
                let (paths, ago_ns) = serde_json::from_slice(entry.octets).map_err(|_| malformed())?;
                self.core.resume_spendings(now, &PastSpendings { paths, ago: Duration::from_nanos(ago_ns) });
            }
            Kind::End => self.core.end(now),
        }
        if let Some(seen) = &mut self.seen {
            seen.look(now, &self.core);
        }
        Ok(())
    }

    fn send(&mut self, now: Instant) -> Option<[u8; DIGEST]> {
        let mut tally = Tally::default();
        while let Some(way) = self.core.poll_transmit(now, &mut self.out) {
            tally.add(&way_octets(way));
            tally.add(&self.out);
            self.replayed.sent += 1;
        }
        tally.take()
    }

    fn deliver(&mut self, now: Instant) -> Option<[u8; DIGEST]> {
        let mut tally = Tally::default();
        while let Some(packet) = self.core.poll_deliver(now) {
            tally.add(packet.octets());
            self.replayed.delivered += 1;
            if let Some(seen) = &mut self.seen {
                seen.delivered(now, packet.octets());
            }
        }
        while self.core.poll_notice().is_some() {}
        tally.take()
    }

    fn compare(
        &self,
        what: &'static str,
        entry: &Entry<'_>,
        digest: Option<[u8; DIGEST]>,
    ) -> Result<(), Unreplayable> {
        if entry.octets == digest.unwrap_or_default() {
            return Ok(());
        }
        Err(Unreplayable::Differs { what, at_ns: entry.now.as_nanos(), entry: self.replayed.entries })
    }
}
