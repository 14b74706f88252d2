//! The wireless network of a scenario: what its stage is built from, for any seed.

mod broadcasts;
mod config;
mod deployment;
mod drawn;
mod error;
pub(crate) mod errors;
mod explicit;
pub(crate) mod mobility;
pub(crate) mod routes;
mod stage;

pub use crate::schema::wifi::{BroadcastPlan, EndPlan, MobilityPlan, StationPlan};
pub use deployment::{DeploymentPlan, LayoutPlan};
pub use error::WifiError;
pub use errors::ErrorPlan;
pub(crate) use explicit::explicit;
pub use mobility::MovementPlan;
pub use routes::{Algorithm, FindMetric, FindPlan, WayPlan, WirelessRoutePlan};
pub use stage::{BroadcastPort, Scene, Stage};

use super::context::{Context, both, every};
use super::{Carrier, LinkPlan, NodeIndex, NodePlan, link};
use crate::error::ScenarioError;
use crate::schema::quantity::Name;
use crate::schema::wifi::{PropagationTable, StandardName, WifiKeys, WifiTable};
use ropewalk_units::Duration;
use ropewalk_wifi::phy::Standard;
use ropewalk_wifi::propagation::Propagation;
use ropewalk_wifi::{MacConfig, RateControl};

/// A wireless network.
#[derive(Clone, PartialEq, Debug)]
pub struct WifiPlan {
    /// The keys of the network beside its tables, with what the defaults come to.
    pub(crate) keys: WifiKeys,
    /// Physical layer and MAC of every radio.
    pub mac: MacConfig,
    /// Who chooses the rate of data frames of the stations that say so themselves.
    pub rates: Vec<(String, RateControl)>,
    /// How signals fade, and what becomes of frames that overlap.
    pub propagation: Propagation,
    /// Stations by name, those of the deployment not among them.
    pub stations: Vec<StationPlan>,
    /// Stations that are drawn, or come from a file.
    pub deployment: Option<DeploymentPlan>,
    /// Movements from a file.
    pub movement: Option<MovementPlan>,
    /// Routes by name: the wireless links of the plan, in this order.
    pub routes: Vec<WirelessRoutePlan>,
    /// Frames that fail although nothing interferes.
    pub errors: Vec<ErrorPlan>,
    /// What stations tell all that hear them, by name.
    pub broadcasts: Vec<BroadcastPlan>,
    /// What this comes to with the plan's own seed.
    pub scene: Scene,
}

impl WifiPlan {
    /// Does any station move?
    pub fn is_mobile(&self) -> bool {
        self.movement.is_some()
            || self.stations.iter().any(|station| station.mobility != MobilityPlan::None)
            || (self.deployment.is_some() && self.keys.mobility != MobilityPlan::None)
    }

    /// The channels of a station by its name; none when there is no such station.
    pub(super) fn channels_of(&self, name: &str) -> Option<&[u8]> {
        let known = self.stations.iter().find(|station| station.name == name);
        let deployed = || self.deployment.as_ref().filter(|deployment| deployment.may_have(name));
        known
            .map(|station| station.channels.as_slice())
            .or_else(|| deployed().map(|_| self.keys.channels.as_slice()))
    }
}

/// The wireless network of the file, and its routes as links behind `first` others.
pub(super) fn wifi(
    context: &Context<'_>,
    nodes: &[NodePlan],
    first: usize,
    seed: u64,
) -> Result<(Option<WifiPlan>, Vec<LinkPlan>), ScenarioError> {
    let Some(table) = &context.file.wifi else { return Ok((None, Vec::new())) };
    let mut keys = table.read(vec![default_channel(table)]);
    let mac = config::mac(context, table, &mut keys)?;
    if keys.channels.is_empty() {
        return Err(context.wrong("wifi.channels", "stations would have no radio", "at least one channel"));
    }
    let propagation = config::propagation(context, &mac, &mut keys)?;
    let intervals =
        [("update_interval", Some(keys.update_interval)), ("route_interval", keys.route_interval)];
    let (_, ((deployment, movement), (stations, rates))) = both(
        every(intervals.map(|(key, given)| check_interval(context, key, given))),
        both(
            both(
                deployment::deployment(context, table, nodes, &propagation, &mac),
                mobility::movement(context, table),
            ),
            both(stations(context, table, &keys), own_rates(context, table, mac.standard)),
        ),
    )?;
    let mut plan = WifiPlan {
        deployment,
        movement,
        stations,
        rates,
        routes: Vec::new(),
        errors: Vec::new(),
        broadcasts: Vec::new(),
        scene: Scene::default(),
        keys,
        mac,
        propagation,
    };
    if plan.stations.is_empty() && plan.deployment.is_none() {
        let expected = "tables `[wifi.stations.NAME]`, or `[wifi.deployment]`";
        return Err(context.misplaced("wifi", "this network has no station", expected));
    }
    let (routes, (errors, broadcasts)) = both(
        routes::routes(context, &plan, table, nodes),
        both(errors::errors(context, &plan, table), broadcasts::broadcasts(context, &plan, table)),
    )?;
    plan = WifiPlan { routes, errors, broadcasts, ..plan };
    let links = links(context, table, &plan, nodes, first)?;
    if plan.deployment.is_some() {
        // To draw stations may take minutes: too long if there is a mistake already.
        context.settled()?;
    }
    let stage = plan.stage(seed, &context.watch).map_err(|error| refused(context, error))?;
    plan.scene = stage.scene;
    Ok((Some(plan), links))
}

fn refused(context: &Context<'_>, error: WifiError) -> ScenarioError {
    context.wrong(&error.key, error.message, error.expected)
}

fn default_channel(table: &WifiTable) -> u8 {
    match table.standard {
        Some(StandardName::A) => 36,
        None | Some(StandardName::B | StandardName::G) => 1,
    }
}

fn check_interval(context: &Context<'_>, key: &str, given: Option<Duration>) -> Result<(), ScenarioError> {
    const LEAST: Duration = Duration::from_millis(1);
    match given {
        Some(interval) if interval < LEAST => {
            let message = format!("{interval} is too short to do something that often");
            Err(context.wrong(&format!("wifi.{key}"), message, format!("at least {LEAST}")))
        }
        _ => Ok(()),
    }
}

fn stations(
    context: &Context<'_>,
    table: &WifiTable,
    keys: &WifiKeys,
) -> Result<Vec<StationPlan>, ScenarioError> {
    let is_scripted = |name: &Name| table.movement.as_ref().is_some_and(|file| file.stations.contains(name));
    every(table.stations.iter().map(|(name, station)| {
        let key = |part: &str| format!("wifi.stations.{}.{part}", name.as_str());
        let plan = station.read(keys.channels.clone(), keys.mobility.clone());
        let is_moving = plan.mobility != MobilityPlan::None || is_scripted(name);
        if plan.position.is_none() && !is_moving {
            let message = "the key `position` is missing: the station does not move";
            return Err(context.misplaced(&key("position"), message, "a key `position`"));
        }
        if plan.power.is_some() && matches!(table.propagation, PropagationTable::Disk(_)) {
            let message = "on disks powers play no part";
            return Err(context.misplaced(&key("power"), message, "another propagation, or no key `power`"));
        }
        if plan.position.is_some() && is_scripted(name) {
            let message = "the movement file says where it begins";
            return Err(context.misplaced(&key("position"), message, "no key `position` here"));
        }
        Ok(StationPlan { name: name.0.clone(), ..plan })
    }))
}

/// The rates that stations have of their own.
fn own_rates(
    context: &Context<'_>,
    table: &WifiTable,
    standard: Standard,
) -> Result<Vec<(String, RateControl)>, ScenarioError> {
    every(table.stations.iter().filter_map(|(name, station)| {
        let key = format!("wifi.stations.{}.data_rate", name.as_str());
        let control = config::rate_control(context, &key, standard, station.data_rate?);
        Some(control.map(|control| (name.0.clone(), control)))
    }))
}

fn links(
    context: &Context<'_>,
    table: &WifiTable,
    plan: &WifiPlan,
    nodes: &[NodePlan],
    first: usize,
) -> Result<Vec<LinkPlan>, ScenarioError> {
    every(plan.routes.iter().zip(&table.routes).enumerate().map(|(index, (route, (name, given)))| {
        let base = format!("wifi.routes.{}", name.as_str());
        if context.file.links.contains_key(name) {
            let message = format!("there is a link `{}` already", name.as_str());
            return Err(context.misplaced(&base, message, "a name of its own"));
        }
        let end = |name: &str| nodes.iter().position(|node| node.name == name).unwrap_or_default();
        let ends: [NodeIndex; 2] = [end(&route.from), end(&route.to)];
        let mtu = link::checked_mtu(context, &base, given.read().mtu)?;
        if mtu > ropewalk_wifi::MAX_PACKET {
            let message = format!("no 802.11 frame carries {mtu} octets");
            let expected = format!("at most {}", ropewalk_wifi::MAX_PACKET);
            return Err(context.wrong(&format!("{base}.mtu"), message, expected));
        }
        Ok(LinkPlan {
            name: route.name.clone(),
            ends,
            addresses: context.address_family().of_link(first + index),
            mtu,
            carrier: Carrier::Wireless(index),
        })
    }))
}
