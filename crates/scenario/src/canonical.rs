//! One text for one meaning: every default written out, units normalised, keys sorted. Its hash names the
//! scenario in every result.

use crate::plan::bond;
use crate::plan::files::FileHashes;
use crate::plan::wifi;
use crate::plan::{
    Application, ChangePlan, ConnectionPlan, DataDirection, LinkPlan, NodeIndex, NodeKind, NodePlan, Plan,
    Protocol,
};
use crate::scenario::Scenario;
use crate::schema::bond::BondTable;
use crate::schema::connection::{
    ApplicationTable, BulkTable, ConnectionTable, ConstantRateTable, DataTable, HostTable, OnOffTable,
    ProtocolName, RateChangeTable, RequestResponseTable, Stack,
};
use crate::schema::endpoints::{HostNames, Names};
use crate::schema::link::{
    BernoulliTable, ChangeTable, CodelTable, Direction, DirectionTable, DropTailTable, ExactTable,
    ExponentialTable, FqCodelTable, GilbertElliottTable, JitterTable, LinkState, LinkTable, LossTable,
    NoKeys, NormalTable, QueueTable, RedTable, UniformTable, WanderTable,
};
use crate::schema::mptcp::MptcpTable;
use crate::schema::quantity::{BitRate, Chance, Limit, Name, Size, Time};
use crate::schema::router::RouterTable;
use crate::schema::tcp::TcpTable;
use crate::schema::wifi::WifiTable;
use crate::schema::{ScenarioFile, ScenarioTable};
use ropewalk_sim::{Change, CodelConfig, DirectionConfig, Jitter, Loss, Queue, Trace};
use ropewalk_units::{Bytes, Duration, Instant, Probability};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// What a connection's keys may name. Nobody asks where routes lead.
fn names(plan: &Plan, connection: &ConnectionPlan) -> Names {
    let host = |node: NodeIndex| {
        let end = |link: &&LinkPlan| link.ends.iter().position(|end| *end == node);
        let interface = |link: &LinkPlan| Some((link.name.clone(), link.addresses[end(&link)?].into()));
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
    fn explicit(&self) -> ScenarioFile {
        let plan = &self.plan;
        let hosts = plan.nodes.iter().filter(|node| node.kind == NodeKind::Host);
        let routers = plan.nodes.iter().filter(|node| node.kind == NodeKind::Router);
        let host =
            |node: &NodePlan| HostTable { stack: Some(Stack::Ropewalk), jitter: node.jitter.explicit() };
        let router = |node: &NodePlan| RouterTable {
            clock: node.clock.explicit(),
            jitter: node.jitter.explicit(),
            ..node.strips.explicit()
        };
        ScenarioFile {
            scenario: ScenarioTable {
                name: Name(plan.name.clone()),
                description: Some(plan.description.clone()),
                duration: Time(plan.duration),
                seed: Some(plan.seed),
                sample_interval: Some(Time(plan.sample_interval)),
            },
            tcp: TcpTable::default(),
            mptcp: MptcpTable::default(),
            hosts: hosts.map(|node| (Name(node.name.clone()), host(node))).collect(),
            routers: routers.map(|node| (Name(node.name.clone()), router(node))).collect(),
            links: plan.links.iter().filter_map(|link| self.link(link)).collect(),
            wifi: self.wifi(),
            bonds: plan.links.iter().filter_map(|link| self.bond(link)).collect(),
            routes: self.file.routes.clone(),
            connections: self.connections(),
        }
    }

    fn ends(&self, link: &LinkPlan) -> [Name; 2] {
        link.ends.map(|end| Name(self.plan.nodes[end].name.clone()))
    }

    fn link(&self, link: &LinkPlan) -> Option<(Name, LinkTable)> {
        let wire = link.wire()?;
        let one = |index: usize| Some(direction(&wire.directions[index], &self.files));
        // A trace goes when a rate comes: the change to the rate says both.
        let said = |plan: &&ChangePlan| plan.change != Change::Trace(None);
        let changed = |plan: &ChangePlan| change(plan, &self.files);
        let table = LinkTable {
            between: self.ends(link),
            mtu: Some(link.mtu),
            forward: one(0),
            backward: one(1),
            changes: wire.changes.iter().filter(said).map(changed).collect(),
            rate: None,
            trace: None,
            delay: None,
            jitter: None,
            reorder: None,
            queue: None,
            loss: None,
            duplicate: None,
        };
        Some((Name(link.name.clone()), table))
    }

    fn wifi(&self) -> Option<WifiTable> {
        Some(wifi::explicit(self.file.wifi.as_ref()?, self.plan.wifi.as_ref()?))
    }

    fn bond(&self, link: &LinkPlan) -> Option<(Name, BondTable)> {
        let bond = link.bond()?;
        let table = bond::config::explicit(self.ends(link), bond, &self.plan.links);
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
        let (protocol, tcp, mptcp) = match &plan.protocol {
            Protocol::Tcp(config) => (ProtocolName::Tcp, Some(TcpTable::explicit(config)), None),
            Protocol::Udp => (ProtocolName::Udp, None, None),
            Protocol::Mptcp(config) => (
                ProtocolName::Mptcp,
                Some(TcpTable::explicit(&config.tcp)),
                Some(MptcpTable::explicit(config, &names)),
            ),
        };
        let data = match (&plan.application, plan.data) {
            (Application::RequestResponse { .. }, _) => None,
            (_, DataDirection::Forward) => Some(DataTable::Forward),
            (_, DataDirection::Backward) => Some(DataTable::Backward),
        };
        let zero = Time(Duration::ZERO);
        ConnectionTable {
            protocol: Some(protocol),
            from: table.from.clone(),
            to: table.to.clone(),
            paths: Some(names.paths.into_iter().map(Name).collect()),
            start: None,
            starts: Some(table.starts.clone().unwrap_or_else(|| vec![table.start.unwrap_or(zero)])),
            count: Some(table.count.unwrap_or(1)),
            spread: Some(table.spread.unwrap_or(zero)),
            application: Some(application(&plan.application)),
            data,
            dscp: Some(plan.dscp),
            tcp,
            mptcp,
        }
    }
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

fn trace_name(trace: &Trace, files: &FileHashes) -> Option<String> {
    files.name(trace).map(str::to_owned)
}

fn direction(config: &DirectionConfig, files: &FileHashes) -> DirectionTable {
    DirectionTable {
        rate: config.trace.is_none().then_some(BitRate(config.rate)),
        trace: config.trace.as_ref().and_then(|trace| trace_name(trace, files)),
        delay: Some(Time(config.delay)),
        jitter: Some(jitter(config.jitter)),
        reorder: Some(config.reorder),
        queue: Some(queue(&config.queue)),
        loss: Some(loss(&config.loss)),
        duplicate: Some(Chance(config.duplicate)),
    }
}

fn change(plan: &ChangePlan, files: &FileHashes) -> ChangeTable {
    let mut table = ChangeTable {
        at: Time(plan.at - Instant::ZERO),
        direction: Some([Direction::Forward, Direction::Backward][plan.direction]),
        state: None,
        rate: None,
        trace: None,
        delay: None,
        jitter: None,
        reorder: None,
        duplicate: None,
        loss: None,
        queue: None,
    };
    match &plan.change {
        Change::Rate(rate) => table.rate = Some(BitRate(*rate)),
        Change::Trace(trace) => table.trace = trace.as_ref().and_then(|trace| trace_name(trace, files)),
        Change::Reorder(reorder) => table.reorder = Some(*reorder),
        Change::Duplicate(probability) => table.duplicate = Some(Chance(*probability)),
        Change::Delay(delay) => table.delay = Some(Time(*delay)),
        Change::Jitter(config) => table.jitter = Some(jitter(*config)),
        Change::Loss(config) => table.loss = Some(loss(config)),
        Change::Queue(config) => table.queue = Some(queue(config)),
        Change::Down => table.state = Some(LinkState::Down),
        Change::Up => table.state = Some(LinkState::Up),
    }
    table
}

fn jitter(config: Jitter) -> JitterTable {
    match config {
        Jitter::None => JitterTable::None(NoKeys {}),
        Jitter::Uniform(max) => JitterTable::Uniform(UniformTable { max: Time(max) }),
        Jitter::Normal(deviation) => JitterTable::Normal(NormalTable { deviation: Time(deviation) }),
        Jitter::Exponential(mean) => JitterTable::Exponential(ExponentialTable { mean: Time(mean) }),
        Jitter::Wander { max, interval } => {
            JitterTable::Wander(WanderTable { max: Time(max), interval: Some(Time(interval)) })
        }
    }
}

fn loss(config: &Loss) -> LossTable {
    match config {
        Loss::None => LossTable::None(NoKeys {}),
        Loss::Bernoulli(probability) => {
            LossTable::Bernoulli(BernoulliTable { probability: Chance(*probability) })
        }
        Loss::BitErrors(probability) => {
            LossTable::BitErrors(BernoulliTable { probability: Chance(*probability) })
        }
        Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
            LossTable::GilbertElliott(GilbertElliottTable {
                good_to_bad: Chance(*good_to_bad),
                bad_to_good: Chance(*bad_to_good),
                loss_good: Some(Chance(*loss_good)),
                loss_bad: Some(Chance(*loss_bad)),
            })
        }
        Loss::Exact(packets) => {
            let packets = packets.iter().map(|&number| i64::try_from(number).unwrap_or(i64::MAX)).collect();
            LossTable::Exact(ExactTable { packets })
        }
    }
}

fn queue(config: &Queue) -> QueueTable {
    match config {
        Queue::DropTail { limit, mark_above } => {
            QueueTable::DropTail(DropTailTable { limit: Some(Limit(*limit)), mark_above: *mark_above })
        }
        Queue::Red { limit, red } => QueueTable::Red(RedTable {
            limit: Some(Limit(*limit)),
            min_threshold: Some(red.min_threshold),
            max_threshold: Some(red.max_threshold),
            max_probability: Probability::new(red.max_probability).map(Chance),
            weight: Some(red.weight),
            ecn: Some(red.ecn),
        }),
        Queue::Codel { limit, codel } => QueueTable::Codel(codel_table(Limit(*limit), codel)),
        Queue::FqCodel { limit, fq_codel } => {
            let CodelTable { limit, target, interval, ecn } = codel_table(Limit(*limit), &fq_codel.codel);
            QueueTable::FqCodel(FqCodelTable {
                limit,
                target,
                interval,
                ecn,
                flows: Some(fq_codel.flows),
                quantum: Some(Size(Bytes::new(u64::from(fq_codel.quantum)))),
            })
        }
    }
}

fn codel_table(limit: Limit, codel: &CodelConfig) -> CodelTable {
    CodelTable {
        limit: Some(limit),
        target: Some(Time(codel.target)),
        interval: Some(Time(codel.interval)),
        ecn: Some(codel.ecn),
    }
}

fn application(application: &Application) -> ApplicationTable {
    let size = |bytes: u64| Some(Size(Bytes::new(bytes)));
    match application {
        &Application::Bulk { bytes, duration } => {
            ApplicationTable::Bulk(BulkTable { bytes: bytes.and_then(size), duration: duration.map(Time) })
        }
        Application::ConstantRate { rate, packet, duration, changes } => {
            let changes = changes.iter();
            ApplicationTable::ConstantRate(ConstantRateTable {
                rate: BitRate(*rate),
                packet_size: size(u64::from(*packet)),
                duration: duration.map(Time),
                changes: changes
                    .map(|&(at, rate)| RateChangeTable { at: Time(at - Instant::ZERO), rate: BitRate(rate) })
                    .collect(),
            })
        }
        &Application::OnOff { rate, packet, on, off, duration } => ApplicationTable::OnOff(OnOffTable {
            rate: BitRate(rate),
            packet_size: size(u64::from(packet)),
            on: Some(on.explicit()),
            off: Some(off.explicit()),
            duration: duration.map(Time),
        }),
        &Application::RequestResponse { request, response, think, count } => {
            ApplicationTable::RequestResponse(RequestResponseTable {
                request: size(request),
                response: size(response),
                think: Some(think.explicit()),
                count,
            })
        }
    }
}
