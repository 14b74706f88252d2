//! Routes and broadcast ports: how packets enter, and which radio sends them on.

use super::Network;
use crate::config::{ConfigError, RouteConfig, StationId};
use crate::engine::Engine;
use crate::frame::{BROADCAST, MAX_PACKET};
use crate::queue::Queued;
use crate::route::{Entry, Hop, RouteId, Way};
use ropewalk_sim::{DropReason, PacketId};

/// Why a packet is lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lost {
    Retries,
    Queue,
    Lifetime,
    Route,
}

impl Network {
    /// Adds a route. Returns its entries too: in its direction, and back.
    ///
    /// # Errors
    /// The route has fewer than two stations, or one of them twice. A station does not exist, or
    /// has no radio on the channel of its hop. The ends of a hop do not reach each other. There is
    /// neither one channel nor one for each hop.
    pub fn add_route(&mut self, config: &RouteConfig) -> Result<(RouteId, [u32; 2]), ConfigError> {
        let ways = self.ways(config)?;
        let first = self.entries.len() as u32;
        self.entries.extend(ways.map(Entry::new));
        self.routes.push([first, first + 1]);
        Ok((RouteId(self.routes.len() as u32 - 1), [first, first + 1]))
    }

    /// Leads a route over other stations from now on. Its ends must stay the same.
    ///
    /// What is queued goes to the next hop it was queued for; if that is no longer on the route it
    /// is lost there ([`crate::RouteStats::lost_route`]).
    ///
    /// # Errors
    /// As [`Self::add_route`], and when the route would have other ends.
    ///
    /// # Panics
    /// When there is no such route.
    pub fn replace_route(&mut self, route: RouteId, config: &RouteConfig) -> Result<(), ConfigError> {
        let ways = self.ways(config)?;
        let entries = self.routes[route.0 as usize];
        for (entry, way) in entries.into_iter().zip(&ways) {
            if ends(&self.entries[entry as usize].way) != ends(way) {
                return Err(ConfigError::new("route", "a route keeps its ends when it is replaced"));
            }
        }
        for (entry, way) in entries.into_iter().zip(ways) {
            self.entries[entry as usize].way = way;
        }
        Ok(())
    }

    /// The stations of a route as it is now, from one end to the other.
    ///
    /// # Panics
    /// When there is no such route.
    pub fn route_stations(&self, route: RouteId) -> Vec<StationId> {
        let [forward, _] = self.routes[route.0 as usize];
        match &self.entries[forward as usize].way {
            Way::Route { hops, destination } => {
                hops.iter().map(|hop| hop.station).chain([*destination]).map(StationId).collect()
            }
            Way::Broadcast { .. } => Vec::new(),
        }
    }

    /// Adds a broadcast port to a station. What enters is sent once, without an acknowledgement. It
    /// arrives at all stations that hear it and have a broadcast port on the channel too. Returns
    /// its entry, for [`ropewalk_sim::World::attach_medium`].
    ///
    /// # Errors
    /// When the station does not exist, has no radio on the channel, or has such a port already.
    pub fn add_broadcast(&mut self, station: StationId, channel: u8) -> Result<u32, ConfigError> {
        let radio = self.require_radio("broadcast", station, channel)?;
        if self.radios[radio as usize].broadcast_entry.is_some() {
            return Err(ConfigError::new("broadcast", "the radio has a broadcast port already"));
        }
        let entry = self.entries.len() as u32;
        self.entries.push(Entry::new(Way::Broadcast { radio }));
        self.radios[radio as usize].broadcast_entry = Some(entry);
        Ok(entry)
    }

    /// The radio of a station on a channel.
    ///
    /// # Errors
    /// About the key `wanted_by`, if there is no such radio.
    pub(super) fn require_radio(
        &self,
        wanted_by: &'static str,
        station: StationId,
        channel: u8,
    ) -> Result<u32, ConfigError> {
        if station.0 >= self.stations() {
            let problem = format!("there is no station {}; there are {}", station.0, self.stations());
            return Err(ConfigError::new(wanted_by, problem));
        }
        self.radio_on(station.0, channel).ok_or_else(|| {
            let own: Vec<String> = self.channels(station).map(|channel| channel.to_string()).collect();
            let problem = format!(
                "{} has no radio on channel {channel}; its channels: {}",
                self.name(station),
                own.join(", ")
            );
            ConfigError::new(wanted_by, problem)
        })
    }

    /// The way there and the way back.
    fn ways(&self, config: &RouteConfig) -> Result<[Way; 2], ConfigError> {
        let RouteConfig { stations, channels } = config;
        let hops = stations.len().saturating_sub(1);
        if hops == 0 {
            return Err(ConfigError::new("route", "expected two stations or more"));
        }
        if channels.len() != 1 && channels.len() != hops {
            let problem =
                format!("{} channels for {hops} hops; expected one, or one for each", channels.len());
            return Err(ConfigError::new("route", problem));
        }
        let (mut there, mut back) = (Vec::new(), Vec::new());
        for (hop, pair) in stations.windows(2).enumerate() {
            let channel = channels[if channels.len() == 1 { 0 } else { hop }];
            let sender = self.require_radio("route", pair[0], channel)?;
            let receiver = self.require_radio("route", pair[1], channel)?;
            if stations[..=hop].contains(&pair[1]) {
                let problem = format!("{} is on it twice", self.name(pair[1]));
                return Err(ConfigError::new("route", problem));
            }
            self.require_reach(pair[0], pair[1], channel)?;
            there.push(Hop { station: pair[0].0, sender, receiver });
            back.push(Hop { station: pair[1].0, sender: receiver, receiver: sender });
        }
        back.reverse();
        let ends = [stations[hops].0, stations[0].0];
        Ok([
            Way::Route { hops: there, destination: ends[0] },
            Way::Route { hops: back, destination: ends[1] },
        ])
    }

    fn require_reach(&self, a: StationId, b: StationId, channel: u8) -> Result<(), ConfigError> {
        for (from, to) in [(a, b), (b, a)] {
            if !self.reaches(from, to, channel) {
                let distance = self.position(from).distance(self.position(to));
                let rate = self.radio_on(from.0, channel).map(|radio| self.data_rate(radio));
                let range = rate.map_or(0.0, |rate| self.propagation.reception_range(rate));
                let problem = format!(
                    "{} does not receive {} on channel {channel}: they are {distance:.2} m apart, and the range is \
                     {range:.2} m",
                    self.name(to),
                    self.name(from)
                );
                return Err(ConfigError::new("route", problem));
            }
        }
        Ok(())
    }

    /// A node has sent a packet.
    pub(super) fn accept(&mut self, cx: &mut impl Engine, entry: u32, packet: PacketId) {
        let octets = cx.wire_len(packet);
        let way = &mut self.entries[entry as usize];
        way.stats.offered += 1;
        way.stats.offered_bytes += u64::from(octets);
        if octets > MAX_PACKET {
            self.lose(cx, entry, packet, octets, Lost::Queue);
            return;
        }
        let since = cx.now();
        match &way.way {
            Way::Route { hops, .. } => {
                let hop = hops[0];
                self.enqueue(cx, hop.sender, Queued { packet, octets, entry, to: hop.receiver, since });
            }
            Way::Broadcast { radio } => {
                let radio = *radio;
                self.enqueue(cx, radio, Queued { packet, octets, entry, to: BROADCAST, since });
            }
        }
    }

    /// A packet has come to a station: it is at its end, or goes on.
    pub(super) fn forward(&mut self, cx: &mut impl Engine, station: u32, queued: Queued) {
        let Queued { packet, octets, entry, .. } = queued;
        let way = &mut self.entries[entry as usize];
        if way.ends_at(station) {
            way.stats.delivered += 1;
            way.stats.delivered_bytes += u64::from(octets);
            cx.deliver(entry, packet);
        } else if let Some(hop) = way.hop_from(station) {
            self.enqueue(cx, hop.sender, Queued { to: hop.receiver, since: cx.now(), ..queued });
        } else {
            self.lose(cx, entry, packet, octets, Lost::Route);
        }
    }

    fn enqueue(&mut self, cx: &mut impl Engine, index: u32, queued: Queued) {
        if self.radios[index as usize].current.is_none() {
            let rate = self.first_rate(cx.now(), index, queued.to);
            let radio = &mut self.radios[index as usize];
            radio.serve(queued, rate);
            radio.request(index, cx);
            return;
        }
        let radio = &mut self.radios[index as usize];
        if !radio.queue.push(queued) {
            radio.stats.drops_queue += 1;
            self.lose(cx, queued.entry, queued.packet, queued.octets, Lost::Queue);
        }
    }

    pub(super) fn lose(
        &mut self,
        cx: &mut impl Engine,
        entry: u32,
        packet: PacketId,
        octets: u32,
        reason: Lost,
    ) {
        let way = &mut self.entries[entry as usize];
        way.lost_bytes += u64::from(octets);
        let (count, as_drop) = match reason {
            Lost::Retries => (&mut way.stats.lost_retries, DropReason::Loss),
            Lost::Queue => (&mut way.stats.lost_queue, DropReason::QueueFull),
            Lost::Lifetime => (&mut way.stats.lost_lifetime, DropReason::Aqm),
            Lost::Route => (&mut way.stats.lost_route, DropReason::Loss),
        };
        *count += 1;
        cx.drop_packet(entry, packet, as_drop);
    }
}

/// The stations at which a way begins and ends.
fn ends(way: &Way) -> Option<(u32, u32)> {
    match way {
        Way::Route { hops, destination } => Some((hops.first()?.station, *destination)),
        Way::Broadcast { .. } => None,
    }
}
