//! Time in worlds with radio: stations that move, and routes that are looked for anew.

use super::broadcasts;
use super::packet::Packet;
use super::simulation::Simulation;
use crate::outcome::{BroadcastRow, EventPlace, EventRow, HopRow, RadioRow, RouteChangeRow, RouteRow};
use crate::plan::wifi::{Scene, Stage, WayPlan};
use crate::plan::{EventKind, EventKinds, WifiPlan};
use ropewalk_sim::{Medium, NoMedium, Tap};
use ropewalk_units::{Duration, Instant};
use ropewalk_wifi::mobility::Trajectory;
use ropewalk_wifi::position::Position;
use ropewalk_wifi::{Collision, FrameKind, Network, RouteConfig, RouteId, Sniffed, StationId};

/// What a run does to its medium while time passes, and what it tells of it.
pub(super) trait MediumDriver<M: Medium<Packet>> {
    /// When it wants to be called next.
    fn next(&self) -> Option<Instant> {
        None
    }

    /// That time has come.
    fn step<T: Tap<Packet>>(&mut self, _simulation: &mut Simulation<T, M>) {}

    /// Rows of the frames between stations, at the end.
    fn hops<T: Tap<Packet>>(&self, _simulation: &Simulation<T, M>) -> Vec<HopRow> {
        Vec::new()
    }

    /// From now on notes what [`Self::events`] tells.
    fn watch<T: Tap<Packet>>(&mut self, _simulation: &mut Simulation<T, M>) {}

    /// Collisions and moves since the last call, as far as they are wanted.
    fn events<T: Tap<Packet>>(&mut self, _simulation: &mut Simulation<T, M>) -> Vec<EventRow> {
        Vec::new()
    }

    /// From now on writes frames down for [`Self::frames`].
    fn sniff<T: Tap<Packet>>(&mut self, _simulation: &mut Simulation<T, M>) {}

    /// The frames since the last call.
    fn frames<T: Tap<Packet>>(&mut self, _simulation: &mut Simulation<T, M>) -> Vec<Sniffed> {
        Vec::new()
    }

    /// Rows of the radios at the end.
    fn radios<T: Tap<Packet>>(&self, _simulation: &Simulation<T, M>) -> Vec<RadioRow> {
        Vec::new()
    }

    /// Rows of who heard whose broadcasts.
    fn broadcasts<T: Tap<Packet>>(&self, _simulation: &Simulation<T, M>) -> Vec<BroadcastRow> {
        Vec::new()
    }

    /// What became of the routes, and each way they took.
    fn routes(&mut self, _end: Instant) -> (Vec<RouteRow>, Vec<RouteChangeRow>) {
        Default::default()
    }
}

/// There is no medium.
pub(super) struct Wired;

impl MediumDriver<NoMedium> for Wired {}

/// Moves stations and finds routes.
pub(super) struct WirelessDriver<'a> {
    plan: &'a WifiPlan,
    seed: u64,
    trajectories: Vec<Trajectory>,
    names: Vec<String>,
    routes: Vec<Watched>,
    changes: Vec<RouteChangeRow>,
    next_move: Option<Instant>,
    next_search: Option<Instant>,
    /// What is noted.
    kinds: EventKinds,
    moves: Vec<EventRow>,
}

/// A route under observation.
struct Watched {
    id: RouteId,
    way: RouteConfig,
    /// Since when it takes this way.
    since: Instant,
    /// Time in which a hop of it was out of range, up to `seen`.
    broken: Duration,
    state: RouteState,
    first_broken: Option<Instant>,
    seen: Instant,
}

/// Whether the stations of a route reach their neighbours on it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RouteState {
    Whole,
    /// A hop is out of range.
    Broken,
}

impl<'a> WirelessDriver<'a> {
    /// Of a stage, whose network is in the world already.
    pub(super) fn new(plan: &'a WifiPlan, seed: u64, stage: &mut Stage, kinds: EventKinds) -> Self {
        let Scene { stations, routes, .. } = std::mem::take(&mut stage.scene);
        let watch = |(way, &id): (RouteConfig, &RouteId)| Watched {
            id,
            way,
            since: Instant::ZERO,
            broken: Duration::ZERO,
            state: RouteState::Whole,
            first_broken: None,
            seen: Instant::ZERO,
        };
        let is_mobile = plan.is_mobile();
        let is_found = plan.routes.iter().any(|route| matches!(route.way, WayPlan::Find(_)));
        let after = |interval: Duration| Instant::ZERO + interval;
        Self {
            plan,
            seed,
            trajectories: std::mem::take(&mut stage.trajectories),
            names: stations.into_iter().map(|station| station.name).collect(),
            routes: routes.into_iter().zip(&stage.routes).map(watch).collect(),
            changes: Vec::new(),
            next_move: is_mobile.then(|| after(plan.keys.update_interval)),
            kinds,
            moves: Vec::new(),
            next_search: plan.keys.route_interval.filter(|_| is_mobile && is_found).map(after),
        }
    }

    fn move_stations<T: Tap<Packet>>(&mut self, now: Instant, simulation: &mut Simulation<T, Network>) {
        let mut moved: Vec<(StationId, Position)> = Vec::new();
        for (station, trajectory) in (0u32..).map(StationId).zip(&mut self.trajectories) {
            if !trajectory.is_fixed() {
                moved.push((station, trajectory.position(now)));
            }
        }
        if self.kinds.contains(EventKind::Movement) {
            let network = simulation.world.medium();
            self.moves.extend(moved.iter().map(|&(station, at)| movement(network, now, station, at)));
        }
        simulation.world.touch_medium(|network, _| network.set_positions(&moved));
        let network = simulation.world.medium();
        for route in &mut self.routes {
            route.observe(now, state_of(network, &route.way));
        }
    }

    fn find_routes<T: Tap<Packet>>(&mut self, now: Instant, simulation: &mut Simulation<T, Network>) {
        for index in 0..self.routes.len() {
            let plan = &self.plan.routes[index];
            if let WayPlan::Via(_) = plan.way {
                continue;
            }
            // Without any route the old one stays: its ends cannot know better.
            let Ok(way) = plan.resolve(simulation.world.medium(), self.seed) else { continue };
            if way == self.routes[index].way {
                continue;
            }
            let id = self.routes[index].id;
            let replaced = simulation.world.touch_medium(|network, _| network.replace_route(id, &way));
            if replaced.is_ok() {
                let old = std::mem::replace(&mut self.routes[index].way, way);
                let since = std::mem::replace(&mut self.routes[index].since, now);
                self.routes[index].observe(now, RouteState::Whole);
                self.changes.push(self.change(index, &old, since, Some(now)));
            }
        }
    }

    fn change(
        &self,
        index: usize,
        way: &RouteConfig,
        since: Instant,
        until: Option<Instant>,
    ) -> RouteChangeRow {
        RouteChangeRow {
            name: self.plan.routes[index].name.clone(),
            from: since,
            until,
            hops: way.stations.len() as u32 - 1,
            stations: self.stations(way),
        }
    }

    fn stations(&self, way: &RouteConfig) -> String {
        let names: Vec<&str> = way.stations.iter().map(|id| self.names[id.0 as usize].as_str()).collect();
        names.join(" ")
    }
}

impl Watched {
    fn observe(&mut self, now: Instant, state: RouteState) {
        if self.state == RouteState::Broken {
            self.broken += now - self.seen;
        }
        (self.seen, self.state) = (now, state);
        if state == RouteState::Broken {
            self.first_broken.get_or_insert(now);
        }
    }
}

/// A station's first row among the radios, or that of one channel.
fn radio_row(network: &Network, station: StationId, channel: Option<u8>) -> u32 {
    let before = (0..station.0).map(|other| network.channels(StationId(other)).count()).sum::<usize>();
    let own = network.channels(station).position(|own| channel.is_none_or(|channel| channel == own));
    (before + own.unwrap_or_default()) as u32
}

fn movement(network: &Network, now: Instant, station: StationId, position: Position) -> EventRow {
    EventRow {
        place: EventPlace::Station(radio_row(network, station, None)),
        position: Some(position),
        ..EventRow::new(now, EventKind::Movement, "moved")
    }
}

fn lost(network: &Network, collision: &Collision) -> EventRow {
    let Collision { at, station, channel, from, kind, is_addressed } = *collision;
    let frame = match kind {
        FrameKind::Rts => "an RTS",
        FrameKind::Cts => "a CTS",
        FrameKind::Data => "a data frame",
        FrameKind::Ack => "an ACK",
    };
    let whose = if is_addressed { "for it" } else { "for another" };
    let why =
        format!("{frame} of {} on channel {channel}, {whose}: others were on the air", network.name(from));
    EventRow {
        place: EventPlace::Station(radio_row(network, station, Some(channel))),
        position: Some(network.position(station)),
        ..EventRow::new(at, EventKind::Collision, "collision")
    }
    .because(why)
}

/// Whole if all neighbours on a way reach each other, in both directions.
fn state_of(network: &Network, way: &RouteConfig) -> RouteState {
    let holds = way.stations.windows(2).enumerate().all(|(hop, pair)| {
        let channel = way.channels[hop.min(way.channels.len() - 1)];
        network.reaches(pair[0], pair[1], channel) && network.reaches(pair[1], pair[0], channel)
    });
    if holds { RouteState::Whole } else { RouteState::Broken }
}

impl MediumDriver<Network> for WirelessDriver<'_> {
    fn next(&self) -> Option<Instant> {
        self.next_move.into_iter().chain(self.next_search).min()
    }

    fn step<T: Tap<Packet>>(&mut self, simulation: &mut Simulation<T, Network>) {
        let now = simulation.world.now();
        if self.next_move.is_some_and(|at| at <= now) {
            self.move_stations(now, simulation);
            self.next_move = Some(now + self.plan.keys.update_interval);
        }
        if let (Some(at), Some(interval)) = (self.next_search, self.plan.keys.route_interval)
            && at <= now
        {
            self.find_routes(now, simulation);
            self.next_search = Some(now + interval);
        }
    }

    fn hops<T: Tap<Packet>>(&self, simulation: &Simulation<T, Network>) -> Vec<HopRow> {
        let network = simulation.world.medium();
        let stations = (0..network.stations()).map(StationId);
        let radios = stations.flat_map(|from| network.channels(from).map(move |channel| (from, channel)));
        let name = |station| network.name(station).to_owned();
        radios
            .flat_map(|(from, channel)| {
                let hops = network.hop_stats(from, channel).into_iter();
                hops.map(move |(to, stats)| HopRow { from: name(from), to: name(to), channel, stats })
            })
            .collect()
    }

    fn watch<T: Tap<Packet>>(&mut self, simulation: &mut Simulation<T, Network>) {
        if self.kinds.contains(EventKind::Collision) {
            simulation.world.touch_medium(|network, _| network.watch_collisions());
        }
        if self.kinds.contains(EventKind::Movement) {
            let network = simulation.world.medium();
            let all = (0..network.stations()).map(StationId);
            self.moves.extend(all.map(|one| movement(network, Instant::ZERO, one, network.position(one))));
        }
    }

    fn events<T: Tap<Packet>>(&mut self, simulation: &mut Simulation<T, Network>) -> Vec<EventRow> {
        let collisions: Vec<Collision> =
            simulation.world.touch_medium(|network, _| network.drain_collisions().collect());
        let network = simulation.world.medium();
        let mut rows = std::mem::take(&mut self.moves);
        rows.extend(collisions.iter().map(|collision| lost(network, collision)));
        rows
    }

    fn sniff<T: Tap<Packet>>(&mut self, simulation: &mut Simulation<T, Network>) {
        simulation.world.touch_medium(|network, _| network.sniff());
    }

    fn frames<T: Tap<Packet>>(&mut self, simulation: &mut Simulation<T, Network>) -> Vec<Sniffed> {
        simulation.world.touch_medium(|network, _| network.drain_sniffed().collect())
    }

    fn radios<T: Tap<Packet>>(&self, simulation: &Simulation<T, Network>) -> Vec<RadioRow> {
        let (network, now) = (simulation.world.medium(), simulation.world.now());
        let stations = (0..network.stations()).map(StationId);
        let of = |station: StationId| {
            network.channels(station).filter_map(move |channel| {
                let stats = network.radio_stats(station, channel, now)?;
                let position = network.position(station);
                Some(RadioRow { station: network.name(station).to_owned(), channel, position, stats })
            })
        };
        stations.flat_map(of).collect()
    }

    fn broadcasts<T: Tap<Packet>>(&self, simulation: &Simulation<T, Network>) -> Vec<BroadcastRow> {
        broadcasts::rows(self.plan, simulation)
    }

    fn routes(&mut self, end: Instant) -> (Vec<RouteRow>, Vec<RouteChangeRow>) {
        let mut rows = Vec::new();
        let mut changes = std::mem::take(&mut self.changes);
        for index in 0..self.routes.len() {
            let state = self.routes[index].state;
            self.routes[index].observe(end, state);
            let route = &self.routes[index];
            let last = self.change(index, &route.way, route.since, None);
            let of_route = changes.iter().filter(|row| row.name == last.name);
            let (count, first) = (of_route.clone().count() as u64, of_route.clone().next().unwrap_or(&last));
            let ended = of_route.filter_map(|row| Some((row.until? - row.from).as_secs_f64()));
            rows.push(RouteRow {
                name: last.name.clone(),
                hops: first.hops,
                stations: first.stations.clone(),
                changes: count,
                mean_duration_s: (count > 0).then(|| ended.sum::<f64>() / count as f64),
                broken_s: route.broken.as_secs_f64(),
                first_broken_s: route.first_broken.map(|at| (at - Instant::ZERO).as_secs_f64()),
            });
            changes.push(last);
        }
        changes.sort_by(|a, b| (a.from, &a.name).cmp(&(b.from, &b.name)));
        (rows, changes)
    }
}
