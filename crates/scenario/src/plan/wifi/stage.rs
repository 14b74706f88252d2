//! A network with everything placed: what a seed makes of the plan.

use super::error::WifiError;
use super::{EndPlan, ErrorPlan, LayoutPlan, MobilityPlan, StationPlan, WifiPlan, config};
use crate::schema::wifi::StationTable;
use crate::watch::Watch;
use ropewalk_sim::{Stream, Streams};
use ropewalk_units::Instant;
use ropewalk_wifi::mobility::{
    GaussMarkov, GaussMarkovTrajectory, MobilityError, RandomWaypoint, Start, Trajectory, WaypointTrajectory,
};
use ropewalk_wifi::position::Position;
use ropewalk_wifi::{
    ConfigError, MacConfig, Network, NetworkConfig, RadioConfig, RouteConfig, RouteId, StationConfig,
    StationId,
};
use std::collections::BTreeSet;

/// Stations and routes at the beginning.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Scene {
    /// Stations with their positions and channels.
    pub stations: Vec<StationConfig>,
    /// The ways of the routes, in the order of [`WifiPlan::routes`].
    pub routes: Vec<RouteConfig>,
    /// How many deployments were drawn; 0 when nothing is drawn.
    pub draws: u64,
}

/// A network ready to run.
pub struct Stage {
    /// The network, its routes added.
    pub network: Network,
    /// Identities of the routes, in the order of [`WifiPlan::routes`].
    pub routes: Vec<RouteId>,
    /// The entries of each route, there and back.
    pub entries: Vec<[u32; 2]>,
    /// The radios on channels with broadcasts, by channel, then in the order of the stations.
    pub ports: Vec<BroadcastPort>,
    /// How each station moves.
    pub trajectories: Vec<Trajectory>,
    /// Where everything is.
    pub scene: Scene,
}

/// A broadcast's packets carry their sender's number in a port's 16 bits.
const MOST_STATIONS: u32 = 1 << 16;

/// The broadcast port of a radio.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BroadcastPort {
    /// The station's identity.
    pub station: StationId,
    /// Its name.
    pub name: String,
    /// The radio's channel.
    pub channel: u8,
    /// The port's entry.
    pub entry: u32,
}

impl WifiPlan {
    /// Places everything for a seed.
    ///
    /// # Errors
    /// When nothing of what is drawn meets the conditions, a route cannot be, or `watch` stops the drawing.
    pub fn stage(&self, seed: u64, watch: &Watch<'_>) -> Result<Stage, WifiError> {
        let streams = Streams::new(seed);
        let (stations, draws) = self.all_stations(seed, watch)?;
        let mut trajectories = Vec::new();
        let mut configs = Vec::new();
        for station in &stations {
            let mut trajectory = self.trajectory(station, &streams)?;
            let mac = self.mac_of(station);
            let radio = |&channel: &u8| RadioConfig { channel, mac: mac.clone(), power_dbm: station.power };
            configs.push(StationConfig {
                name: station.name.clone(),
                position: trajectory.position(Instant::ZERO),
                radios: station.channels.iter().map(radio).collect(),
            });
            trajectories.push(trajectory);
        }
        let mut config = NetworkConfig {
            propagation: self.propagation.clone(),
            propagation_delay: self.keys.propagation_delay,
            recapture: self.keys.recapture,
            stations: configs,
        };
        let mut network = Network::new(&config, &streams).map_err(|error| self.refused(&error))?;
        self.set_errors(&mut network)?;
        let mut scene = Scene { stations: std::mem::take(&mut config.stations), routes: Vec::new(), draws };
        let (mut routes, mut entries) = (Vec::new(), Vec::new());
        for plan in &self.routes {
            let route = plan.resolve(&network, seed)?;
            let key = || format!("wifi.routes.{}.via", plan.name);
            let expected = "stations within range of each other";
            let (id, pair) =
                network.add_route(&route).map_err(|error| WifiError::new(key(), error.problem, expected))?;
            routes.push(id);
            entries.push(pair);
            scene.routes.push(route);
        }
        self.check_errors(&network)?;
        let ports = self.broadcast_ports(&mut network)?;
        Ok(Stage { network, routes, entries, ports, trajectories, scene })
    }

    /// The MAC of a station's radios: the network's, but for what it says itself.
    fn mac_of(&self, station: &StationPlan) -> MacConfig {
        let own = self.rates.iter().find(|(name, _)| *name == station.name);
        let rate = own.map_or(&self.mac.rate, |(_, rate)| rate);
        MacConfig { rate: rate.clone(), ..self.mac.clone() }
    }

    /// A port for each radio on a channel with broadcasts: all that can hear them.
    fn broadcast_ports(&self, network: &mut Network) -> Result<Vec<BroadcastPort>, WifiError> {
        let mut channels: Vec<u8> = self.broadcasts.iter().map(|broadcast| broadcast.channel).collect();
        channels.sort_unstable();
        channels.dedup();
        if !channels.is_empty() && network.stations() > MOST_STATIONS {
            let message = format!("{} stations are too many for broadcasts", network.stations());
            return Err(WifiError::new("wifi.broadcasts", message, format!("at most {MOST_STATIONS}")));
        }
        let mut ports = Vec::new();
        for channel in channels {
            for station in (0..network.stations()).map(StationId) {
                if network.channels(station).any(|own| own == channel) {
                    let entry = network.add_broadcast(station, channel);
                    let entry = entry
                        .map_err(|error| WifiError::new("wifi.broadcasts", error.problem, "a channel"))?;
                    let name = network.name(station).to_owned();
                    ports.push(BroadcastPort { station, name, channel, entry });
                }
            }
        }
        Ok(ports)
    }

    /// The named stations, then those of the deployment.
    fn all_stations(&self, seed: u64, watch: &Watch<'_>) -> Result<(Vec<StationPlan>, u64), WifiError> {
        let mut stations = self.stations.clone();
        let Some(deployment) = &self.deployment else { return Ok((stations, 0)) };
        let (placed, draws) = deployment.place(seed, watch)?;
        let typical = StationTable::default().read(self.keys.channels.clone(), self.keys.mobility.clone());
        stations.extend(placed.into_iter().map(|(name, at)| {
            let position = Some(Position::new(at.x, at.y));
            StationPlan { name, position, ..typical.clone() }
        }));
        match second(&stations) {
            Some(name) => Err(self.named_twice(name)),
            None => Ok((stations, draws)),
        }
    }

    /// Two stations have one name, of which at least one is of the deployment.
    fn named_twice(&self, name: &str) -> WifiError {
        let is_end = |end: &EndPlan| end.node == name;
        let end = self.deployment.as_ref().and_then(|deployment| {
            let ends = [("source", &deployment.keys.source), ("destination", &deployment.keys.destination)];
            ends.into_iter().find(|(_, end)| is_end(end))
        });
        match end {
            Some((end, _)) => WifiError::new(
                format!("wifi.deployment.{end}.node"),
                format!("another station of the deployment is called `{name}` too"),
                "a host or router whose name no other station has",
            ),
            None => WifiError::new(
                format!("wifi.stations.{name}"),
                format!("the deployment has a station `{name}` too"),
                "a name of its own",
            ),
        }
    }

    fn trajectory(&self, station: &StationPlan, streams: &Streams) -> Result<Trajectory, WifiError> {
        let scripted = self.movement.as_ref().and_then(|file| {
            let node = file.stations.iter().position(|name| *name == station.name)?;
            file.movement.trajectory(node as u32)
        });
        if let Some(trajectory) = scripted {
            return Ok(Trajectory::Scripted(trajectory));
        }
        let stream = streams.stream(&format!("wifi/{}/mobility", station.name));
        moving(station, stream).map_err(|error| self.refused_mobility(station, &error))
    }

    fn set_errors(&self, network: &mut Network) -> Result<(), WifiError> {
        for plan in &self.errors {
            let (Some(from), Some(to)) = (network.station(&plan.from), network.station(&plan.to)) else {
                let message = format!("there is no link from `{}` to `{}`", plan.from, plan.to);
                return Err(WifiError::new(plan.key.clone(), message, "stations of the deployment"));
            };
            for &channel in &plan.channels {
                network
                    .set_frame_errors(from, to, channel, plan.errors.clone(), Instant::ZERO)
                    .map_err(|error| WifiError::new(plan.key.clone(), error.problem, "a channel of both"))?;
            }
        }
        Ok(())
    }

    /// Errors of frames that can never arrive are a mistake, unless the stations move or other draws bring them together.
    fn check_errors(&self, network: &Network) -> Result<(), WifiError> {
        for plan in &self.errors {
            let ErrorPlan { from, to, channels, .. } = plan;
            let may_meet = !(self.stands_still(from) && self.stands_still(to));
            let (Some(a), Some(b)) = (network.station(from), network.station(to)) else { continue };
            let reaches = |&channel: &u8| network.reaches(a, b, channel);
            let why = if channels.is_empty() {
                "they have no common channel".to_owned()
            } else if may_meet || channels.iter().any(reaches) {
                continue;
            } else {
                let distance = network.position(a).distance(network.position(b));
                format!("at {distance:.1} m it is out of range")
            };
            let message = format!("there is no link from `{from}` to `{to}`: {why}");
            let expected = "a station within range, on one channel";
            return Err(WifiError::new(format!("{}.to", plan.key), message, expected));
        }
        Ok(())
    }

    /// Is a station where it is for any seed, all the time?
    fn stands_still(&self, name: &str) -> bool {
        let is_placed = self.stations.iter().any(|station| station.name == name);
        let is_given = || {
            let layout = self.deployment.as_ref().map(|deployment| &deployment.layout);
            matches!(layout, Some(LayoutPlan::Given(_)))
        };
        !self.is_mobile() && (is_placed || is_given())
    }

    /// The network's words, with the file's keys.
    fn refused(&self, error: &ConfigError) -> WifiError {
        let last = error.key.rsplit('.').next().unwrap_or_default();
        let place = error.key.strip_prefix("stations.").and_then(|rest| rest.split_once(".radios["));
        let key = match (place, last) {
            (Some((station, rest)), "channel") => {
                let index = rest.split(']').next().unwrap_or_default();
                let own = self.stations.iter().find(|known| known.name == station);
                match own.filter(|known| known.channels != self.keys.channels) {
                    Some(_) => format!("wifi.stations.{station}.channels[{index}]"),
                    None => format!("wifi.channels[{index}]"),
                }
            }
            (Some(_), "rate") => "wifi.data_rate".to_owned(),
            (Some(_), "control_rate") => "wifi.ack_rate".to_owned(),
            (Some(_), key) => format!("wifi.{key}"),
            (None, "radios") => {
                error.key.replacen("stations.", "wifi.stations.", 1).replace("radios", "channels")
            }
            (None, _) => format!("wifi.{}", error.key),
        };
        let (message, expected) = config::split(&error.problem);
        WifiError::new(key, message, expected)
    }

    fn refused_mobility(&self, station: &StationPlan, error: &MobilityError) -> WifiError {
        let MobilityError { parameter, expected, found } = error;
        let own = self.stations.iter().find(|known| known.name == station.name);
        let base = match own.filter(|known| known.mobility != self.keys.mobility) {
            Some(_) => format!("wifi.stations.{}.mobility", station.name),
            None => "wifi.mobility".to_owned(),
        };
        if let Some((_, axis)) = parameter.split_once("from.") {
            let message = format!(
                "the station `{}` begins at {axis} = {found:.2} m, outside the area in which it moves",
                station.name
            );
            return match own {
                Some(_) => {
                    let key = format!("wifi.stations.{}.position", station.name);
                    WifiError::new(key, message, "a position inside the area")
                }
                None => WifiError::new(format!("{base}.area"), message, "an area that holds the deployment"),
            };
        }
        let key = match *parameter {
            "area.width" | "area.height" => format!("{base}.area"),
            other => format!("{base}.{other}"),
        };
        WifiError::new(key, format!("{found} does not fit here"), *expected)
    }
}

/// A name that a station has and one before it too.
fn second(stations: &[StationPlan]) -> Option<&str> {
    let mut known = BTreeSet::new();
    stations.iter().map(|station| station.name.as_str()).find(|name| !known.insert(*name))
}

fn moving(station: &StationPlan, stream: Stream) -> Result<Trajectory, MobilityError> {
    Ok(match (&station.mobility, station.position) {
        (MobilityPlan::None, position) => Trajectory::Fixed(position.unwrap_or_default()),
        (MobilityPlan::RandomWaypoint(model), from) => {
            let start = match from {
                Some(_) => Start::WarmUp { from, discarded: ropewalk_units::Duration::ZERO },
                None => Start::Stationary,
            };
            Trajectory::Waypoint(WaypointTrajectory::new(RandomWaypoint { start, ..*model }, stream)?)
        }
        (MobilityPlan::GaussMarkov(model), from) => {
            Trajectory::GaussMarkov(GaussMarkovTrajectory::new(GaussMarkov { from, ..*model }, stream)?)
        }
    })
}
