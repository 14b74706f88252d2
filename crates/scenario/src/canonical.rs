//! One text for one meaning: every default written out, units normalised, keys sorted. Its hash names the
//! scenario in every result.

use crate::plan::bond;
use crate::plan::wifi;
use crate::plan::{
    Application, ChangePlan, CommandPlan, ConnectionPlan, LinkPlan, NodeIndex, NodeKind, NodePlan, Plan,
    Protocol,
};
use crate::scenario::Scenario;
use crate::schema::application::{
    ApplicationTable, BulkTable, ConstantRateTable, FramesTable, OnOffTable, RecordedTable,
    RequestResponseTable,
};
use crate::schema::bond::BondTable;
use crate::schema::connection::{CommandTable, ConnectionKeys, ConnectionTable, HostKeys, HostTable};
use crate::schema::endpoints::{HostNames, Names};
use crate::schema::link::{ChangeTable, Direction, DirectionTable, LinkKeys, LinkTable};
use crate::schema::mptcp::MptcpTable;
use crate::schema::quantity::{Name, Time};
use crate::schema::router::{RouterKeys, RouterStack, RouterTable};
use crate::schema::table::full;
use crate::schema::tcp::TcpTable;
use crate::schema::wifi::WifiTable;
use crate::schema::{ScenarioFile, ScenarioTable};
use ropewalk_sim::{Change, Trace};
use ropewalk_units::{Duration, Instant};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// What a connection's keys may name. Where routes lead does not matter here.
fn names(plan: &Plan, connection: &ConnectionPlan) -> Names {
    let host = |node: NodeIndex| {
        let end = |link: &&LinkPlan| link.ends.iter().position(|end| *end == node);
        let interface = |link: &LinkPlan| Some((link.name.clone(), link.addresses[end(&link)?]));
        let interfaces = plan.links.iter().filter_map(interface).collect();
        HostNames { name: plan.nodes[node].name.clone(), interfaces, routed: Vec::new() }
    };
    let paths = connection.paths.iter().map(|path| path.name.clone()).collect();
    Names { paths, client: host(connection.source), server: host(connection.destination) }
}

impl Scenario {
    /// The scenario as JSON with every default explicit: two files that mean the same give the same text. Trace
    /// files stand in it by the hash of their content.
    pub fn canonical_json(&self) -> String {
        self.canonical().to_string()
    }

    /// 16 hexadecimal digits that name the scenario: of the SHA-256 of its canonical JSON without the seed and
    /// the description.
    pub fn hash(&self) -> String {
        let mut canonical = self.canonical();
        if let Some(scenario) = canonical.get_mut("scenario").and_then(Value::as_object_mut) {
            scenario.remove("seed");
            scenario.remove("description");
        }
        let digest = Sha256::digest(canonical.to_string().as_bytes());
        digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }

    pub(crate) fn canonical(&self) -> Value {
        let file = serde_json::to_value(self.explicit()).unwrap_or_default();
        let mut canonical = tidy(file);
        if let Some(top) = canonical.as_object_mut() {
            // Every connection has its own, whole.
            top.remove("tcp");
            top.remove("mptcp");
        }
        self.hash_traces(&mut canonical);
        self.hash_wifi(&mut canonical);
        self.hash_recorded(&mut canonical);
        canonical
    }

    fn hash_traces(&self, canonical: &mut Value) {
        let links = canonical.get_mut("links").and_then(Value::as_object_mut);
        for link in links.into_iter().flat_map(Map::values_mut) {
            let Some(link) = link.as_object_mut() else { continue };
            let changes = link.remove("changes");
            for table in link.values_mut() {
                self.hash_trace(table);
            }
            if let Some(Value::Array(mut changes)) = changes {
                changes.iter_mut().for_each(|change| self.hash_trace(change));
                link.insert("changes".into(), Value::Array(changes));
            }
        }
    }

    fn hash_wifi(&self, canonical: &mut Value) {
        for path in ["/wifi/deployment/layout", "/wifi/movement"] {
            if let Some(table) = canonical.pointer_mut(path) {
                self.hash_file(table, "file");
            }
        }
    }

    fn hash_recorded(&self, canonical: &mut Value) {
        let connections = canonical.get_mut("connections").and_then(Value::as_object_mut);
        for connection in connections.into_iter().flat_map(Map::values_mut) {
            if let Some(application) = connection.get_mut("application") {
                self.hash_file(application, "file");
            }
        }
    }

    fn hash_trace(&self, table: &mut Value) {
        self.hash_file(table, "trace");
    }

    fn hash_file(&self, table: &mut Value, key: &str) {
        if let Some(Value::String(name)) = table.get_mut(key)
            && let Some(hash) = self.files.hash(name)
        {
            *name = format!("sha256:{hash}");
        }
    }

    /// The file that would say everything.
    fn explicit(&self) -> Option<ScenarioFile> {
        let plan = &self.plan;
        let hosts = plan.nodes.iter().filter(|node| node.kind == NodeKind::Host);
        let routers = plan.nodes.iter().filter(|node| node.kind == NodeKind::Router);
        let name = |node: &NodePlan| Name(node.name.clone());
        Some(ScenarioFile {
            scenario: ScenarioTable::show(&plan.settings)?,
            tcp: TcpTable::default(),
            mptcp: MptcpTable::default(),
            topology: None,
            hosts: hosts.filter_map(|node| Some((name(node), host(node)?))).collect(),
            routers: routers.filter_map(|node| Some((name(node), router(node)?))).collect(),
            links: plan.links.iter().filter_map(|link| self.link(link)).collect(),
            wifi: self.wifi(),
            bonds: plan.links.iter().filter_map(|link| self.bond(link)).collect(),
            routes: self.file.routes.clone(),
            connections: self.connections(),
        })
    }

    fn ends(&self, link: &LinkPlan) -> [String; 2] {
        link.ends.map(|end| self.plan.nodes[end].name.clone())
    }

    fn link(&self, link: &LinkPlan) -> Option<(Name, LinkTable)> {
        let wire = link.wire()?;
        let name = |trace: &Trace| self.files.name(trace).map(str::to_owned);
        let direction = |config| DirectionTable::explicit(config, name);
        // A trace goes when a rate comes: the change to the rate says both.
        let said = |plan: &&ChangePlan| plan.change != Change::Trace(None);
        let change = |plan: &ChangePlan| {
            let direction = [Direction::Forward, Direction::Backward][plan.direction];
            ChangeTable::explicit(Time(plan.at - Instant::ZERO), direction, &plan.change, name)
        };
        let [forward, backward] = wire.directions.each_ref().map(direction).map(Some);
        let changes = wire.changes.iter().filter(said).map(change).collect();
        let keys = LinkTable::show(&LinkKeys { between: self.ends(link), mtu: link.mtu })?;
        Some((Name(link.name.clone()), LinkTable { forward, backward, changes, ..keys }))
    }

    fn wifi(&self) -> Option<WifiTable> {
        wifi::explicit(self.file.wifi.as_ref()?, self.plan.wifi.as_ref()?)
    }

    fn bond(&self, link: &LinkPlan) -> Option<(Name, BondTable)> {
        let bond = link.bond()?;
        let table = bond::config::explicit(self.ends(link), bond, &self.plan.links)?;
        Some((Name(link.name.clone()), table))
    }

    fn connections(&self) -> std::collections::BTreeMap<Name, ConnectionTable> {
        let mut tables = std::collections::BTreeMap::new();
        for connection in &self.plan.connections {
            let name = Name(connection.group.clone());
            if let (false, Some(table)) = (tables.contains_key(&name), self.file.connections.get(&name)) {
                tables.insert(name, self.connection(connection, table));
            }
        }
        tables
    }

    fn connection(&self, plan: &ConnectionPlan, table: &ConnectionTable) -> ConnectionTable {
        let names = names(&self.plan, plan);
        let (tcp, mptcp) = match &plan.protocol {
            Protocol::Tcp(config) => (Some(TcpTable::explicit(config)), None),
            Protocol::Udp => (None, None),
            Protocol::Mptcp(config) => {
                (Some(TcpTable::explicit(&config.tcp)), Some(MptcpTable::explicit(config, &names)))
            }
        };
        let full = full::<ConnectionKeys, _>(table);
        let flows_both_ways = matches!(plan.application, Application::RequestResponse(_));
        let start = || table.start.unwrap_or(Time(Duration::ZERO));
        ConnectionTable {
            paths: Some(names.paths.into_iter().map(Name).collect()),
            starts: Some(table.starts.clone().unwrap_or_else(|| vec![start()])),
            application: application(&plan.application),
            data: full.data.filter(|_| !flows_both_ways),
            tcp,
            mptcp,
            ..full
        }
    }
}

fn host(node: &NodePlan) -> Option<HostTable> {
    let command = |plan: &CommandPlan| Some((Name(plan.name.clone()), CommandTable::show(plan)?));
    let commands = node.commands.iter().filter_map(command).collect::<BTreeMap<_, _>>();
    let keys = HostKeys { stack: node.stack, jitter: node.jitter.said(), offloads: node.offloads };
    let table = HostTable::show(&keys)?;
    let offloads = table.offloads.filter(|on| *on);
    Some(HostTable { commands: (!commands.is_empty()).then_some(commands), offloads, ..table })
}

fn router(node: &NodePlan) -> Option<RouterTable> {
    let table = RouterTable::show(&RouterKeys {
        stack: node.forwarding,
        strips: node.strips.options,
        strips_from: node.strips.from,
        ecmp: node.ecmp,
        clock: node.clock.said(),
        jitter: node.jitter.said(),
    })?;
    let strips_from = table.strips_from.filter(|_| !node.strips.is_idle());
    let ecmp = table.ecmp.filter(|on| *on);
    let stack = table.stack.filter(|stack| *stack != RouterStack::Ropewalk);
    Some(RouterTable { strips_from, ecmp, stack, ..table })
}

/// Without nulls, with the keys of every object in order.
fn tidy(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut pairs: Vec<(String, Value)> =
                object.into_iter().filter(|(_, value)| !value.is_null()).collect();
            pairs.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(pairs.into_iter().map(|(key, value)| (key, tidy(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(tidy).collect()),
        other => other,
    }
}

fn application(application: &Application) -> Option<ApplicationTable> {
    Some(match application {
        Application::Bulk(bulk) => ApplicationTable::Bulk(BulkTable::show(bulk)?),
        Application::ConstantRate(paced) => ApplicationTable::ConstantRate(ConstantRateTable::show(paced)?),
        Application::OnOff(paced) => ApplicationTable::OnOff(OnOffTable::show(paced)?),
        Application::RequestResponse(exchanges) => {
            ApplicationTable::RequestResponse(RequestResponseTable::show(exchanges)?)
        }
        Application::Frames(frames) => ApplicationTable::Frames(FramesTable::show(frames)?),
        Application::Recorded(recorded) => ApplicationTable::Recorded(RecordedTable::show(&recorded.source)?),
    })
}
