//! A wireless network as a medium of the world.

mod errors;
mod exchange;
mod hearing;
mod rates;
mod receive;
mod routing;
mod transmit;
mod watch;

use crate::air::Air;
use crate::config::{
    self, ConfigError, MacConfig, NetworkConfig, Ns2Rules, RateControl, StationConfig, StationId,
};
use crate::engine::Engine;
use crate::errors::FrameErrorProcess;
use crate::monitor::{Collision, FrameRecord};
use crate::phy::Rate;
use crate::position::Position;
use crate::propagation::{Channel, Curves, Fading, Propagation};
use crate::radio::Radio;
use crate::route::{Entry, RouteId};
use crate::sniff::Sniffed;
use crate::stats::{HopStats, RadioStats, RouteStats};
use crate::token::Token;
use crate::topology::{Site, Topology};
use ropewalk_sim::{LinkStats, Medium, MediumContext, Packet, PacketId, Streams, Tap};
use ropewalk_units::Instant;
use std::ops::Range;

/// Stations with their radios, and the routes over them: IEEE 802.11 DCF as a [`Medium`] of the
/// world.
///
/// A route is seen by the world as one link between its two ends: connect it with
/// [`ropewalk_sim::World::connect_medium`] and the entries that [`Self::add_route`] returns. Relays
/// forward inside.
pub struct Network {
    propagation: Propagation,
    has_delay: bool,
    recapture: bool,
    stations: Vec<Station>,
    positions: Vec<Position>,
    radios: Vec<Radio>,
    topology: Topology,
    air: Air,
    entries: Vec<Entry>,
    /// The two entries of each route.
    routes: Vec<[u32; 2]>,
    errors: Vec<FrameErrorProcess>,
    fading: Fading,
    /// The curves of frames that survive noise, if that is random.
    curves: Option<Curves>,
    /// The frames that were on the air, while they are recorded.
    frames: Option<Vec<FrameRecord>>,
    /// The frames that were lost to others' signals, while they are recorded.
    collisions: Option<Vec<Collision>>,
    /// Every frame for a capture, while there is one.
    sniffed: Option<Vec<Sniffed>>,
    ns2: Ns2Rules,
    streams: Streams,
}

struct Station {
    name: String,
    radios: Range<u32>,
}

impl Network {
    /// The network of a configuration, silent at time zero.
    ///
    /// # Errors
    /// When the configuration contradicts itself or the standard.
    pub fn new(config: &NetworkConfig, streams: &Streams) -> Result<Self, ConfigError> {
        config::check(config)?;
        let names: Vec<&str> = config.stations.iter().map(|station| station.name.as_str()).collect();
        let mut network = Self {
            topology: Topology::new(&config.propagation, streams, &names),
            propagation: config.propagation.clone(),
            has_delay: config.propagation_delay,
            recapture: config.recapture,
            stations: Vec::new(),
            positions: Vec::new(),
            radios: Vec::new(),
            air: Air::default(),
            entries: Vec::new(),
            routes: Vec::new(),
            errors: Vec::new(),
            fading: config.propagation.fading(),
            curves: config.propagation.curves(),
            frames: None,
            collisions: None,
            sniffed: None,
            ns2: Ns2Rules::default(),
            streams: *streams,
        };
        for station in &config.stations {
            network.add_station(station, streams)?;
        }
        network.rebuild();
        Ok(network)
    }

    fn add_station(&mut self, station: &StationConfig, streams: &Streams) -> Result<(), ConfigError> {
        let first = self.radios.len() as u32;
        for radio in &station.radios {
            let channel = Channel::new(radio.mac.standard, radio.channel)
                .map_err(|unknown| ConfigError::new("channel", unknown.to_string()))?;
            let stream = streams.stream(&format!("wifi/{}/{}/backoff", station.name, radio.channel));
            let mut made = Radio::new(self.stations.len() as u32, channel, radio.mac.clone(), stream);
            if let (Some(power), Propagation::LogDistance(model)) = (radio.power_dbm, &self.propagation) {
                made.gain_db = power - model.power_dbm;
            }
            if self.fading != Fading::None || self.curves.is_some() {
                let name = format!("wifi/{}/{}/reception", station.name, radio.channel);
                made.luck = Some(Box::new(streams.stream(&name)));
            }
            self.radios.push(made);
        }
        self.stations.push(Station { name: station.name.clone(), radios: first..self.radios.len() as u32 });
        self.positions.push(station.position);
        Ok(())
    }

    /// Departs from the standard where ns-2 does, from now on and by these rules.
    pub fn follow_ns2(&mut self, rules: Ns2Rules) {
        self.ns2 = rules;
    }

    /// The station of a name.
    pub fn station(&self, name: &str) -> Option<StationId> {
        self.stations.iter().position(|station| station.name == name).map(|index| StationId(index as u32))
    }

    /// How many stations there are.
    pub fn stations(&self) -> u32 {
        self.stations.len() as u32
    }

    /// A station's name.
    ///
    /// # Panics
    /// When there is no such station.
    pub fn name(&self, station: StationId) -> &str {
        &self.stations[station.0 as usize].name
    }

    /// Where a station is.
    ///
    /// # Panics
    /// When there is no such station.
    pub fn position(&self, station: StationId) -> Position {
        self.positions[station.0 as usize]
    }

    /// Moves stations. Frames on the air are still heard where they were heard when they began.
    ///
    /// # Panics
    /// When there is no such station.
    pub fn set_positions(&mut self, moved: &[(StationId, Position)]) {
        for transmission in self.air.under_way() {
            let heard_by = || self.topology.of(transmission.radio).into();
            transmission.neighbours.get_or_insert_with(heard_by);
        }
        for &(station, position) in moved {
            self.positions[station.0 as usize] = position;
        }
        self.rebuild();
    }

    fn rebuild(&mut self) {
        let sites: Vec<Site> = self
            .radios
            .iter()
            .map(|radio| Site { station: radio.station, channel: radio.channel, gain_db: radio.gain_db })
            .collect();
        self.topology.rebuild(&self.propagation, &self.positions, &sites, self.has_delay);
    }

    /// Can a station receive another's frames on a channel, as they stand now and without
    /// interference, at the rate the other sends data at?
    ///
    /// # Panics
    /// When there is no such station.
    pub fn reaches(&self, from: StationId, to: StationId, channel: u8) -> bool {
        let (Some(sender), Some(receiver)) = (self.radio_on(from.0, channel), self.radio_on(to.0, channel))
        else {
            return false;
        };
        let rate = self.data_rate(sender);
        self.topology.reaches(&self.propagation, sender, receiver, rate)
    }

    /// The stations that a transmission of a station on a channel disturbs, as they stand now:
    /// those with a radio that senses it or, on [`crate::propagation::Disk`], loses frames by it.
    /// Channels that overlap count. None when it has no radio there.
    ///
    /// # Panics
    /// When there is no such station.
    pub fn disturbed(&self, station: StationId, channel: u8) -> Vec<StationId> {
        let Some(radio) = self.radio_on(station.0, channel) else { return Vec::new() };
        let is_disk = matches!(self.propagation, crate::propagation::Propagation::Disk(_));
        let matters = self.topology.of(radio).iter().filter(|neighbour| neighbour.is_sensed || is_disk);
        let mut stations: Vec<StationId> =
            matters.map(|neighbour| StationId(self.radios[neighbour.radio as usize].station)).collect();
        stations.sort_unstable();
        stations.dedup();
        stations.retain(|&disturbed| disturbed != station);
        stations
    }

    /// What has happened to the packets of a route: in its direction, and back.
    ///
    /// # Panics
    /// When there is no such route.
    pub fn route_stats(&self, route: RouteId) -> [RouteStats; 2] {
        self.routes[route.0 as usize].map(|entry| self.entries[entry as usize].view())
    }

    /// What has happened to the packets of an entry.
    ///
    /// # Panics
    /// When there is no such entry.
    pub fn entry_stats(&self, entry: u32) -> RouteStats {
        self.entries[entry as usize].view()
    }

    /// What the radio of a station on a channel has done by `now`; none when it has no such radio.
    ///
    /// # Panics
    /// When there is no such station.
    pub fn radio_stats(&self, station: StationId, channel: u8, now: Instant) -> Option<RadioStats> {
        let radio = &self.radios[self.radio_on(station.0, channel)? as usize];
        let queued = radio.queue.len() as u32 + u32::from(radio.current.is_some());
        Some(RadioStats { busy: radio.carrier.busy(now), queued, ..radio.stats })
    }

    /// What became of the frames of a station on a channel, by the station they were for, in the
    /// order of the first ones.
    ///
    /// # Panics
    /// When there is no such station.
    pub fn hop_stats(&self, from: StationId, channel: u8) -> Vec<(StationId, HopStats)> {
        let Some(radio) = self.radio_on(from.0, channel) else { return Vec::new() };
        let hops = &self.radios[radio as usize].hops;
        hops.iter().map(|&(to, stats)| (StationId(self.radios[to as usize].station), stats)).collect()
    }

    /// The channels a station has radios on, in the order of its configuration.
    ///
    /// # Panics
    /// When there is no such station.
    pub fn channels(&self, station: StationId) -> impl Iterator<Item = u8> {
        let range = self.stations[station.0 as usize].radios.clone();
        range.map(|radio| self.radios[radio as usize].channel.number())
    }

    fn radio_on(&self, station: u32, channel: u8) -> Option<u32> {
        let mut radios = self.stations[station as usize].radios.clone();
        radios.find(|&radio| self.radios[radio as usize].channel.number() == channel)
    }

    /// The highest rate at which a radio of one station may send on a channel and another station
    /// receives it, as they stand and without interference; `None` when it receives nothing.
    ///
    /// # Panics
    /// When one of them does not exist.
    pub fn best_rate(&self, from: StationId, to: StationId, channel: u8) -> Option<Rate> {
        let (sender, receiver) = (self.radio_on(from.0, channel)?, self.radio_on(to.0, channel)?);
        let MacConfig { standard, rate, .. } = &self.radios[sender as usize].mac;
        let received = |&rate: &Rate| self.topology.reaches(&self.propagation, sender, receiver, rate);
        match rate {
            RateControl::Fixed(rate) => Some(*rate).filter(received),
            RateControl::Minstrel { rates } => {
                let usable = rates.intersection(standard.rates());
                usable.iter().filter(received).max_by_key(|rate| rate.bits_per_sec())
            }
        }
    }

    /// The rate that a link must carry: the fixed one, or the slowest of rate control.
    fn data_rate(&self, radio: u32) -> Rate {
        let MacConfig { standard, rate, .. } = &self.radios[radio as usize].mac;
        match rate {
            RateControl::Fixed(rate) => *rate,
            RateControl::Minstrel { rates } => {
                rates.intersection(standard.rates()).iter().next().unwrap_or(standard.lowest_rate())
            }
        }
    }

    #[inline]
    fn handle(&mut self, cx: &mut impl Engine, token: Token) {
        match token {
            Token::Access(radio) => {
                if self.radios[radio as usize].is_granted(radio, cx) {
                    self.send_current(cx, radio);
                }
            }
            Token::Sifs(radio) => self.send_after_sifs(cx, radio),
            Token::Timeout(radio) => self.handle_timeout(cx, radio),
            Token::NavReset(radio) => self.reset_nav(cx, radio),
            Token::End(transmission) => self.end_transmission(cx, transmission),
            Token::Reach(transmission, neighbour) => self.reach(cx, transmission, neighbour),
            Token::Leave(transmission, neighbour) => self.leave(cx, transmission, neighbour),
        }
    }
}

impl<P: Packet> Medium<P> for Network {
    const ACTIVE: bool = true;

    fn offer<T: Tap<P>>(&mut self, context: &mut MediumContext<'_, P, T>, entry: u32, packet: PacketId) {
        self.accept(context, entry, packet);
    }

    #[inline(always)]
    fn handle_timer<T: Tap<P>>(&mut self, context: &mut MediumContext<'_, P, T>, token: u64) {
        self.handle(context, token.into());
    }

    /// The counters of one direction of a route. `transmitted_packets` and its octets count
    /// attempts on all hops, `busy` is their time on the air. There is no capacity, because the
    /// medium is shared.
    fn stats(&self, entry: u32, _now: Instant) -> LinkStats {
        let stats = self.entry_stats(entry);
        LinkStats {
            offered: stats.offered,
            duplicates: stats.duplicates,
            transmitted_packets: stats.attempts,
            transmitted_bytes: stats.attempted_bytes,
            delivered: stats.delivered,
            drops_queue: stats.lost_queue + stats.lost_lifetime,
            drops_loss: stats.lost_retries + stats.lost_route,
            queued: stats.queued,
            queued_bytes: stats.queued_bytes,
            busy: stats.airtime,
            ..LinkStats::default()
        }
    }
}
