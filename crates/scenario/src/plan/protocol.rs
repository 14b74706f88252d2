//! Transports: preset, then `[tcp]` and `[mptcp]`, then the connection's own keys; and their checks.

mod endpoints;

use super::context::Place;
use super::route::Topology;
use super::{NodeIndex, PathPlan, Protocol};
use crate::error::ScenarioError;
use crate::schema::connection::{ConnectionTable, ProtocolName};
use crate::schema::mptcp::{MptcpTable, StepAction};
use crate::schema::tcp::{Preset, TcpTable};
use ropewalk_mptcp::{PathManager, Scheduler};
use ropewalk_tcp::Config;
use std::sync::Arc;

/// A TCP header without options.
const TCP_HEADER: u32 = 20;

/// Options of 40 octets come out of the MSS (RFC 6691), and a segment has some payload.
const LEAST_MSS: u16 = 88;

/// The presets of a connection's TCP and Multipath TCP keys.
pub(crate) fn presets(
    global: (&TcpTable, &MptcpTable),
    own: (Option<&TcpTable>, Option<&MptcpTable>),
) -> (Preset, Preset) {
    let tcp = own.0.and_then(|table| table.preset).or(global.0.preset).unwrap_or(Preset::Linux);
    let mptcp = own.1.and_then(|table| table.preset).or(global.1.preset).unwrap_or(tcp);
    (tcp, mptcp)
}

/// Where a connection leads.
pub(super) struct Way<'a> {
    pub(super) topology: &'a Topology,
    /// Who opens the connection, and who accepts it.
    pub(super) ends: [NodeIndex; 2],
    pub(super) paths: &'a [PathPlan],
    /// The least MTU of them.
    pub(super) mtu: u32,
}

/// The tables that a connection's transport comes from, and where the connection leads.
pub(super) struct Layers<'a> {
    place: &'a Place<'a>,
    table: &'a ConnectionTable,
    way: Way<'a>,
    tcp_preset: Preset,
    mptcp_preset: Preset,
}

impl<'a> Layers<'a> {
    /// Of the connection at `place` with this table.
    pub(super) fn new(place: &'a Place<'a>, table: &'a ConnectionTable, way: Way<'a>) -> Self {
        let file = place.context.file;
        let own = (table.tcp.as_ref(), table.mptcp.as_ref());
        let (tcp_preset, mptcp_preset) = presets((&file.tcp, &file.mptcp), own);
        Self { place, table, way, tcp_preset, mptcp_preset }
    }

    /// The transport.
    pub(super) fn protocol(&self, name: ProtocolName) -> Result<Protocol, ScenarioError> {
        let stray = |key: &str, owner: &str| {
            let message = format!("the keys of `{key}` have no use here");
            Err(self.place.misplaced(key, message, format!("protocol = {owner} beside them")))
        };
        if name != ProtocolName::Mptcp && self.table.mptcp.is_some() {
            return stray("mptcp", "\"mptcp\"");
        }
        match name {
            ProtocolName::Udp if self.table.tcp.is_some() => stray("tcp", "\"tcp\" or \"mptcp\""),
            ProtocolName::Udp => Ok(Protocol::Udp),
            ProtocolName::Tcp => self.tcp().map(|config| Protocol::Tcp(Arc::new(config))),
            ProtocolName::Mptcp => self.mptcp().map(|config| Protocol::Mptcp(Box::new(config))),
        }
    }

    fn tcp_tables(&self) -> impl Iterator<Item = &'a TcpTable> {
        std::iter::once(&self.place.context.file.tcp).chain(self.table.tcp.as_ref())
    }

    /// A connection's own table. Changes of endpoints mean those endpoints that hold for it.
    fn with_changes(&self, own: &MptcpTable) -> MptcpTable {
        let global = &self.place.context.file.mptcp;
        MptcpTable { changes: own.changes.as_ref().or(global.changes.as_ref()).cloned(), ..own.clone() }
    }

    /// Where a key of the table `kind` was given: at the connection or for all.
    fn key(&self, kind: &str, name: &str) -> String {
        self.place.context.document.protocol_key(&self.place.base, kind, name)
    }

    fn wrong(&self, kind: &str, name: &str, message: String, expected: impl Into<String>) -> ScenarioError {
        self.place.context.wrong(&self.key(kind, name), message, expected)
    }

    fn tcp(&self) -> Result<Config, ScenarioError> {
        let mut config = self.tcp_preset.tcp();
        for table in self.tcp_tables() {
            table.apply(&mut config);
        }
        self.set_mss(&mut config)?;
        self.check_tcp(&config)?;
        Ok(config)
    }

    /// The MSS follows the MTU, unless it is given. The classic preset stays with its smaller packets.
    fn set_mss(&self, config: &mut Config) -> Result<(), ScenarioError> {
        let mtu = self.way.mtu;
        let headers = self.place.context.address_family().header() + TCP_HEADER;
        let room = u16::try_from(mtu - headers).unwrap_or(u16::MAX);
        if self.tcp_tables().all(|table| table.mss.is_none()) {
            config.mss = match self.tcp_preset {
                Preset::Linux => room,
                Preset::Classic => room.min(config.mss),
            };
        }
        if !(LEAST_MSS..=room).contains(&config.mss) {
            let message = format!("segments of {} octets do not fit paths with an MTU of {mtu}", config.mss);
            return Err(self.wrong("tcp", "mss", message, format!("{LEAST_MSS} to {room}")));
        }
        Ok(())
    }

    fn check_tcp(&self, config: &Config) -> Result<(), ScenarioError> {
        let wrong =
            |name: &str, message: String, expected: &str| Err(self.wrong("tcp", name, message, expected));
        if config.initial_window == 0 {
            return wrong("initial_window", "a window of no segment never opens".into(), "a number from 1");
        }
        if config.delayed_ack.segments == 0 {
            let message = "no segment is acknowledged after none".into();
            return wrong("delayed_ack.segments", message, "a number from 1; 1 acknowledges each segment");
        }
        if config.rto_min > config.rto_max {
            let message =
                format!("the least timeout {} is above the greatest, {}", config.rto_min, config.rto_max);
            return wrong("rto_min", message, "a time up to rto_max");
        }
        for (name, time) in [("rto_min", config.rto_min), ("rto_initial", config.rto_initial)] {
            if time.is_zero() {
                return wrong(name, "a timeout of zero fires before any ACK".into(), "a time above zero");
            }
        }
        if config.rto_initial > config.rto_max {
            let message =
                format!("the first timeout {} is above the greatest, {}", config.rto_initial, config.rto_max);
            return wrong("rto_initial", message, "a time up to rto_max");
        }
        let buffers = [("receive_buffer", config.receive_buffer), ("send_buffer", config.send_buffer)];
        self.check_buffers("tcp", buffers, config.mss)
    }

    fn check_buffers(&self, kind: &str, buffers: [(&str, u32); 2], mss: u16) -> Result<(), ScenarioError> {
        for (name, size) in buffers {
            if size < u32::from(mss) {
                let message = format!("a buffer of {size} octets does not hold a segment of {mss}");
                return Err(self.wrong(kind, name, message, "at least the MSS"));
            }
        }
        Ok(())
    }

    fn mptcp(&self) -> Result<ropewalk_mptcp::Config, ScenarioError> {
        let names = endpoints::names(&self.way);
        self.check_steps(&names.paths)?;
        self.check_endpoints()?;
        let mut config = self.mptcp_preset.mptcp();
        self.place.context.file.mptcp.apply(&mut config, &names);
        if let Some(own) = &self.table.mptcp {
            self.with_changes(own).apply(&mut config, &names);
        }
        config.tcp = self.tcp()?;
        self.check_buffers(
            "mptcp",
            [("receive_buffer", config.receive_buffer), ("send_buffer", config.send_buffer)],
            config.tcp.mss,
        )?;
        self.check_stray(&config)?;
        self.check_scheduler(&mut config, &names.paths)?;
        if matches!(config.path_manager, PathManager::Ndiffports { subflows } if !(1..=64).contains(&subflows))
        {
            return Err(self.wrong("mptcp", "subflows", "so many subflows cannot be".into(), "1 to 64"));
        }
        Ok(config)
    }

    fn check_scheduler(
        &self,
        config: &mut ropewalk_mptcp::Config,
        paths: &[String],
    ) -> Result<(), ScenarioError> {
        match &mut config.scheduler {
            Scheduler::WeightedRoundRobin { weights } if weights.is_empty() => {
                *weights = vec![1; paths.len()];
            }
            Scheduler::WeightedRoundRobin { weights } => {
                if weights.len() != paths.len() {
                    let message = format!("{} weights for {} paths", weights.len(), paths.len());
                    let expected = format!("one number for each of {}", paths.join(", "));
                    return Err(self.wrong("mptcp", "weights", message, expected));
                }
                if let Some(index) = weights.iter().position(|&weight| weight == 0) {
                    let message = format!("the path `{}` would never have its turn", paths[index]);
                    return Err(self.wrong(
                        "mptcp",
                        &format!("weights[{index}]"),
                        message,
                        "a number from 1",
                    ));
                }
            }
            Scheduler::GoodputGuard(guard) => {
                if guard.probe_interval.is_zero() {
                    let message = "a path cannot be probed all the time".into();
                    return Err(self.wrong("mptcp", "probe_interval", message, "a time above zero"));
                }
                if guard.probe_segments == 0 {
                    let message = "a probe of no segment tells nothing".into();
                    return Err(self.wrong("mptcp", "probe_segments", message, "a number from 1"));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Keys at the connection that its scheduler or path manager does not have.
    fn check_stray(&self, config: &ropewalk_mptcp::Config) -> Result<(), ScenarioError> {
        let Some(own) = &self.table.mptcp else { return Ok(()) };
        let weighted = matches!(config.scheduler, Scheduler::WeightedRoundRobin { .. });
        let guard = matches!(config.scheduler, Scheduler::GoodputGuard(_));
        let ports = matches!(config.path_manager, PathManager::Ndiffports { .. });
        let scripted = matches!(config.path_manager, PathManager::Scripted { .. });
        let kernel = matches!(config.path_manager, PathManager::Kernel { .. });
        let keys = [
            ("weights", own.weights.is_some(), weighted, "scheduler = \"weighted-round-robin\""),
            ("probe_interval", own.probe_interval.is_some(), guard, "scheduler = \"goodput-guard\""),
            ("probe_segments", own.probe_segments.is_some(), guard, "scheduler = \"goodput-guard\""),
            ("subflows", own.subflows.is_some(), ports, "path_manager = \"ndiffports\""),
            ("steps", own.steps.is_some(), scripted, "path_manager = \"scripted\""),
            ("endpoints", own.endpoints.is_some(), kernel, "path_manager = \"kernel\""),
            ("limits", own.limits.is_some(), kernel, "path_manager = \"kernel\""),
            ("changes", own.changes.is_some(), kernel, "path_manager = \"kernel\""),
        ];
        match keys.iter().find(|(_, given, used, _)| *given && !used) {
            None => Ok(()),
            Some((name, _, _, owner)) => Err(self.place.misplaced(
                &format!("mptcp.{name}"),
                format!("`{name}` has no use here"),
                format!("{owner} beside it"),
            )),
        }
    }

    fn check_steps(&self, paths: &[String]) -> Result<(), ScenarioError> {
        let own = self.table.mptcp.as_ref().and_then(|table| table.steps.as_ref());
        let global = self.place.context.file.mptcp.steps.as_ref();
        for (index, step) in own.or(global).into_iter().flatten().enumerate() {
            let base = format!("steps[{index}]");
            let known = paths.iter().map(String::as_str);
            if !paths.iter().any(|path| path == step.path.as_str()) {
                let key = self.key("mptcp", &format!("{base}.path"));
                return Err(self.place.context.unknown(&key, "path", step.path.as_str(), known));
            }
            if step.backup.is_some() && !matches!(step.action, StepAction::Open | StepAction::SetBackup) {
                let message = "this action makes no subflow a backup".into();
                let key = format!("{base}.backup");
                return Err(self.wrong(
                    "mptcp",
                    &key,
                    message,
                    "action = \"open\" or \"set-backup\" beside it",
                ));
            }
        }
        Ok(())
    }
}
