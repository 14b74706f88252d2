//! Which constants of TCP and Multipath TCP the kernel lets us set, and which are what they are.

use crate::error::ScenarioError;
use crate::plan::context::Place;
use crate::schema::endpoints::Names;
use crate::schema::mptcp::MptcpTable;
use crate::schema::tcp::{Preset, TcpTable};
use serde::Serialize;
use serde_json::Value;

/// Keys of `tcp` that a socket option, a route or a sysctl sets.
const TCP: [&str; 18] = [
    "congestion_control",
    "ecn",
    "idle_restart",
    "initial_window",
    "max_retransmissions",
    "max_syn_retransmissions",
    "mss",
    "nagle",
    "receive_autotuning",
    "receive_buffer",
    "report_duplicates",
    "rto_max",
    "rto_min",
    "sack",
    "send_buffer",
    "tail_loss_probe",
    "timestamps",
    // What Linux does without SACK is decided by `sack`, and checked beside it.
    "loss_recovery",
];

/// The same of `mptcp`. Coupling and path manager are checked for themselves.
const MPTCP: [&str; 15] = [
    "add_addr_timeout",
    "allow_join_initial_addr_port",
    "blackhole_timeout",
    "changes",
    "checksum",
    "close_timeout",
    "congestion_control",
    "endpoints",
    "limits",
    "path_manager",
    "receive_buffer",
    "send_buffer",
    "stale_loss_cnt",
    "steps",
    "syn_retrans_before_tcp_fallback",
];

/// Keys of `tcp` that say what a simulated host has, and no kernel.
const TCP_OF_SIMULATION: [&str; 2] = ["least_pieces", "octets_per_piece"];

/// The same of `mptcp`, and what belongs to schedulers and path managers that the kernel lacks.
const MPTCP_OF_SIMULATION: [&str; 6] =
    ["least_mappings", "probe_interval", "probe_segments", "steps", "subflows", "weights"];

/// Keys of `tcp` in whose place a Multipath TCP connection has its own.
const TCP_OF_TCP: [&str; 7] = [
    "byte_counting",
    "congestion_control",
    "hystart",
    "memory_overhead",
    "receive_buffer",
    "send_autotuning",
    "send_buffer",
];

/// What becomes of a key on a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OnKernel {
    /// It is told.
    Set,
    /// It does so in any case.
    Fixed,
    /// There is nothing there that it could be about.
    Meaningless,
}

impl OnKernel {
    /// In words.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Set => "set in the kernel",
            Self::Fixed => "fixed by the kernel",
            Self::Meaningless => "meaningless there",
        }
    }

    /// Of a key of a connection's `tcp` or `mptcp` (`kind`).
    pub(crate) fn of(kind: &str, name: &str, is_mptcp: bool) -> Self {
        let (settable, simulated): (&[&str], &[&str]) = match kind {
            "tcp" => (&TCP, &TCP_OF_SIMULATION),
            _ => (&MPTCP, &MPTCP_OF_SIMULATION),
        };
        if simulated.contains(&name) || (kind == "tcp" && is_mptcp && TCP_OF_TCP.contains(&name)) {
            Self::Meaningless
        } else if settable.contains(&name) {
            Self::Set
        } else {
            Self::Fixed
        }
    }
}

/// What the kernel may be told to do beside what the preset `linux` says.
const BESIDE: (&str, &str) = ("window_scale", "off");

/// The keys of `tcp` that the file gives, those left out for which a Multipath TCP connection has its own.
pub(super) fn of_tcp(
    place: &Place<'_>,
    config: &ropewalk_tcp::Config,
    is_mptcp: bool,
    found: &mut Vec<ScenarioError>,
) {
    let linux = Preset::Linux.tcp();
    let (given, kernel) = (TcpTable::explicit(config), TcpTable::explicit(&linux));
    let others: &[&str] = if is_mptcp { &TCP_OF_TCP } else { &[] };
    Keys { place, kind: "tcp", left_out: &[&TCP, others] }.compare((&given, &kernel), found);
    let key = place.context.document.protocol_key(&place.base, "tcp", "loss_recovery");
    let by_sack = config.loss_recovery != ropewalk_tcp::LossRecovery::NewReno;
    if by_sack != config.sack {
        let expected = if config.sack { "`rack` or `sack`, or sack = false" } else { "`newreno`" };
        found.push(place.context.wrong(&key, "the kernel recovers by SACK if it has it", expected));
    }
}

/// The keys of `mptcp` that the file gives.
pub(super) fn of_mptcp(place: &Place<'_>, config: &ropewalk_mptcp::Config, found: &mut Vec<ScenarioError>) {
    let linux = Preset::Linux.mptcp();
    let table = |config: &ropewalk_mptcp::Config| {
        // Endpoints and steps name what only the connection knows, and are not looked at here.
        let path_manager = ropewalk_mptcp::PathManager::FullMesh;
        MptcpTable::explicit(&ropewalk_mptcp::Config { path_manager, ..config.clone() }, &Names::default())
    };
    Keys { place, kind: "mptcp", left_out: &[&MPTCP] }.compare((&table(config), &table(&linux)), found);
}

struct Keys<'a> {
    place: &'a Place<'a>,
    kind: &'static str,
    /// Keys that are told to the kernel or say nothing to it.
    left_out: &'a [&'a [&'static str]],
}

impl Keys<'_> {
    /// Compares what the file gives with what the kernel does.
    fn compare<T: Serialize>(&self, (given, kernel): (&T, &T), found: &mut Vec<ScenarioError>) {
        let (given, kernel) = (object(given), object(kernel));
        found.extend(self.preset());
        let document = self.place.context.document;
        for (name, value) in given {
            let key = document.protocol_key(&self.place.base, self.kind, &name);
            let left_out = self.left_out.iter().any(|keys| keys.contains(&name.as_str()));
            if left_out || document.find(&key).is_none() {
                continue;
            }
            let fixed = kernel.get(&name);
            let beside = (name == BESIDE.0).then_some(BESIDE.1);
            if fixed != Some(&value) && beside.is_none_or(|beside| value != beside) {
                let message = format!("`{name}` is fixed in the kernel");
                found.push(self.place.context.wrong(&key, message, expected(beside, fixed)));
            }
        }
    }

    fn preset(&self) -> Option<ScenarioError> {
        let document = self.place.context.document;
        let key = document.protocol_key(&self.place.base, self.kind, "preset");
        let file = self.place.context.file;
        let connection = self.place.base.strip_prefix("connections.").unwrap_or_default();
        let own =
            file.connections.iter().find(|(name, _)| name.as_str() == connection).map(|(_, table)| table);
        let own = own.map_or((None, None), |table| (table.tcp.as_ref(), table.mptcp.as_ref()));
        let (tcp, mptcp) = crate::plan::protocol::presets((&file.tcp, &file.mptcp), own);
        let preset = if self.kind == "tcp" { tcp } else { mptcp };
        let message = format!("the kernel is not `{}`", preset.name());
        (preset != Preset::Linux).then(|| self.place.context.wrong(&key, message, "`linux`"))
    }
}

/// The nearest value, in words.
fn expected(beside: Option<&str>, fixed: Option<&Value>) -> String {
    let beside = beside.map(|word| format!("`{word}`"));
    let fixed = fixed.map(|value| format!("`{}`", text(value)));
    match fixed.into_iter().chain(beside).collect::<Vec<_>>() {
        words if words.is_empty() => "no such key".to_owned(),
        words => words.join(" or "),
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn object(table: &impl Serialize) -> serde_json::Map<String, Value> {
    match serde_json::to_value(table) {
        Ok(Value::Object(map)) => map.into_iter().filter(|(_, value)| !value.is_null()).collect(),
        _ => serde_json::Map::new(),
    }
}
