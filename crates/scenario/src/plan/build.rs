//! From the file's tables to the plan, with every check on the way.

use super::bond;
use super::clock;
use super::connection;
use super::link;
use super::route::{self, Topology};
use super::trace::Traces;
use super::wifi;
use super::{ClockPlan, NodeKind, NodePlan, Plan, StripPlan};
use crate::document::Document;
use crate::error::ScenarioError;
use crate::schema::ScenarioFile;
use crate::schema::connection::Stack;
use crate::schema::router::RouterTable;
use crate::watch::Watch;
use ropewalk_units::Duration;
use std::path::Path;

/// Points of the time series that one run may have at most: more is a mistake in a unit.
const MOST_SAMPLES: u64 = 1_000_000;

/// What the steps of the building share.
pub(crate) struct Builder<'a> {
    pub(crate) document: &'a Document,
    pub(crate) file: &'a ScenarioFile,
    /// Trace files are relative to it.
    pub(crate) folder: Option<&'a Path>,
    pub(crate) traces: Traces,
    /// Who waits for it.
    pub(crate) watch: Watch<'a>,
}

impl Builder<'_> {
    /// Checks everything and builds the plan.
    pub(crate) fn build(&mut self) -> Result<Plan, ScenarioError> {
        let (duration, sample_interval) = self.times()?;
        let nodes = self.nodes()?;
        let seed = self.file.scenario.seed.unwrap_or(1);
        let mut links = link::links(self, &nodes)?;
        let (wifi, routes) = wifi::wifi(self, &nodes, links.len(), seed)?;
        links.extend(routes);
        let mut topology = Topology::new(nodes, links);
        let bonds = bond::bonds(self, &topology, wifi.as_ref())?;
        if !bonds.is_empty() {
            let Topology { nodes, mut links, .. } = topology;
            links.extend(bonds);
            topology = Topology::new(nodes, links);
            bond::routes::lay(self, &mut topology)?;
        }
        route::static_routes(self, &mut topology)?;
        let connections = connection::connections(self, &topology, duration)?;
        let Topology { nodes, links, routing, .. } = topology;
        let scenario = &self.file.scenario;
        Ok(Plan {
            name: scenario.name.0.clone(),
            description: scenario.description.clone().unwrap_or_default(),
            duration,
            seed,
            sample_interval,
            nodes,
            links,
            wifi: wifi.map(Box::new),
            routing,
            connections,
        })
    }

    fn times(&self) -> Result<(Duration, Duration), ScenarioError> {
        let scenario = &self.file.scenario;
        let duration = scenario.duration.0;
        if duration.is_zero() {
            return Err(self.wrong("scenario.duration", "the simulation lasts no time", "a time above zero"));
        }
        let interval = scenario.sample_interval.map_or(Duration::from_millis(100), |time| time.0);
        let key = "scenario.sample_interval";
        if interval.is_zero() {
            return Err(self.wrong(key, "the points of the series have no distance", "a time above zero"));
        }
        let samples = duration.as_nanos() / interval.as_nanos();
        if samples > MOST_SAMPLES {
            let message = format!("{duration} in steps of {interval} makes {samples} samples");
            return Err(self.wrong(key, message, format!("an interval with at most {MOST_SAMPLES} samples")));
        }
        Ok((duration, interval))
    }

    fn nodes(&self) -> Result<Vec<NodePlan>, ScenarioError> {
        let mut nodes = Vec::new();
        for (name, host) in &self.file.hosts {
            if host.stack == Some(Stack::Linux) {
                let key = format!("hosts.{}.stack", name.as_str());
                let message = "emulation with the Linux kernel's stack is not supported yet";
                return Err(self.wrong(&key, message, "`ropewalk`"));
            }
            let key = format!("hosts.{}", name.as_str());
            let jitter = clock::jitter(self, &key, host.jitter.as_ref())?;
            let (strips, clock) = (StripPlan::default(), ClockPlan::default());
            nodes.push(NodePlan { name: name.0.clone(), kind: NodeKind::Host, strips, clock, jitter });
        }
        for (name, router) in &self.file.routers {
            if self.file.hosts.contains_key(name) {
                let message = format!("there is a host `{}` already", name.as_str());
                let key = format!("routers.{}", name.as_str());
                return Err(self.document.key_error(&key, message, "a name of its own"));
            }
            nodes.push(self.router(name.as_str(), router)?);
        }
        nodes.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(nodes)
    }

    fn router(&self, name: &str, router: &RouterTable) -> Result<NodePlan, ScenarioError> {
        let key = format!("routers.{name}");
        if router.strips_from.is_some() && router.strips.is_none() {
            let key = format!("{key}.strips_from");
            return Err(self.document.key_error(&key, "nothing is stripped", "a key `strips` beside it"));
        }
        Ok(NodePlan {
            name: name.to_owned(),
            kind: NodeKind::Router,
            strips: StripPlan::new(router),
            clock: clock::clock(self, name, router.clock.as_ref())?,
            jitter: clock::jitter(self, &key, router.jitter.as_ref())?,
        })
    }

    /// A value that cannot be.
    pub(crate) fn wrong(
        &self,
        key: &str,
        message: impl Into<String>,
        expected: impl Into<String>,
    ) -> ScenarioError {
        self.document.value_error(key, message, expected)
    }

    /// A name that nothing has.
    pub(crate) fn unknown<'b>(
        &self,
        key: &str,
        kind: &str,
        name: &str,
        known: impl IntoIterator<Item = &'b str> + Clone,
    ) -> ScenarioError {
        self.document.name_error(key, name, format!("there is no {kind} `{name}`"), known)
    }
}
