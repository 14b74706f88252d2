//! Multipath TCP's choices as keys: `[mptcp]` and `mptcp = { … }` of a connection.

use super::constants::{Constant, constants_table, named_constant};
use super::endpoints::{EndpointTable, LimitsTable, Names};
use super::quantity::{Name, Time};
use super::tcp::Preset;
use ropewalk_mptcp::{
    Config, Coupling, GuardConfig, KernelHost, PathManager, ReinjectAfterTimeout, Scheduler, ScriptedAction,
    ScriptedStep,
};
use ropewalk_units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Multipath TCP's own choices, behind the keys that stand for more than one of them.
macro_rules! mptcp_table {
    ($($constants:tt)*) => {
        constants_table! {
            /// Multipath TCP's choices. A key that is missing is taken from the preset.
            MptcpTable {
                /// Where all keys start from (default: the preset of TCP).
                preset: Preset,
                /// Which subflow gets the next data.
                scheduler: SchedulerName,
                /// With weighted-round-robin: segments per turn, one number per path (default 1 each).
                weights: Vec<u32>,
                /// With goodput-guard: how long a path that was left out rests before it is probed.
                probe_interval: Time,
                /// With goodput-guard: segments of one probe.
                probe_segments: u32,
                /// How the windows of the subflows depend on each other.
                congestion_control: CouplingName,
                /// Which subflows are opened.
                path_manager: PathManagerName,
                /// With ndiffports: subflows in all (default 2).
                subflows: u32,
                /// With scripted: what happens when.
                steps: Vec<StepTable>,
                /// With kernel: endpoints of hosts, as `ip mptcp endpoint add` makes them.
                endpoints: Vec<EndpointTable>,
                /// With kernel: limits by host, as `ip mptcp limits set` sets them.
                limits: BTreeMap<Name, LimitsTable>,
            }
            $($constants)*
        }
    };
}

ropewalk_mptcp::mptcp_constants!(mptcp_table);

/// Which subflow gets the next data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SchedulerName {
    /// Cycle over the subflows that have room.
    RoundRobin,
    /// Lowest SRTT with room first.
    LowestRtt,
    /// Upstream Linux: least time to drain what is queued.
    Linux,
    /// Cycle with weights.
    WeightedRoundRobin,
    /// Everything on every subflow.
    Redundant,
    /// BLEST (Ferlin et al. 2016).
    Blest,
    /// ECF (Lim et al. 2017).
    Ecf,
    /// Leave a path out while using it would cost more than it brings.
    GoodputGuard,
}

named_constant! {
    /// How the windows of the subflows depend on each other.
    CouplingName of Coupling {
        /// NewReno on each subflow.
        Uncoupled = Uncoupled,
        /// +1/w per ACK, −w/2 per loss.
        FullyCoupled = FullyCoupled,
        /// +α/w per ACK, without the cap.
        LinkedIncreases = LinkedIncreases,
        /// min(α/w, 1/w_i) per ACK.
        RttCompensator = RttCompensator,
        /// RFC 6356.
        Lia = Lia,
        /// Khalili et al. 2012.
        Olia = Olia,
        /// Peng et al. 2016.
        Balia = Balia,
        /// Cao, Xu, Fu 2012.
        Wvegas = Wvegas,
        /// CUBIC on each subflow.
        Cubic = Cubic,
        /// BBR on each subflow.
        Bbr = Bbr,
    }
}

named_constant! {
    /// What others carry after a subflow's timeout.
    ReinjectName of ReinjectAfterTimeout {
        /// The oldest octets, once for each timeout, and all when the subflow counts as stale: Linux.
        Head = Head,
        /// All that the subflow carries.
        All = All,
    }
}

/// Which subflows are opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PathManagerName {
    /// One per path, and per address announced.
    FullMesh,
    /// Several over the first path.
    Ndiffports,
    /// As full mesh, but all except the first are backups.
    Backup,
    /// Just the steps listed.
    Scripted,
    /// Linux's in-kernel path manager: endpoints and limits.
    Kernel,
}

/// One step of a scripted path manager.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepTable {
    /// When, after the connection was established.
    pub(crate) at: Time,
    /// On which of the connection's paths.
    pub(crate) path: Name,
    /// What.
    pub(crate) action: StepAction,
    /// With open and set-backup: is the subflow a backup? (default false)
    pub(crate) backup: Option<bool>,
}

/// What a scripted path manager does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StepAction {
    /// Open a subflow (MP_JOIN).
    Open,
    /// Close the subflow.
    Close,
    /// Reset the subflow.
    Reset,
    /// Change its priority (MP_PRIO).
    SetBackup,
    /// Announce the path's local address (ADD_ADDR).
    Announce,
    /// Withdraw the path's local address (REMOVE_ADDR).
    Withdraw,
}

fn set<T>(slot: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *slot = value;
    }
}

impl MptcpTable {
    /// Puts the keys that are given over those of `config`; steps and endpoints name what is in `names`.
    pub(crate) fn apply(&self, config: &mut Config, names: &Names) {
        self.put(config);
        if let Some(name) = &self.congestion_control {
            config.coupling.put(name);
        }
        set(&mut config.scheduler, self.scheduler.map(scheduler));
        match &mut config.scheduler {
            Scheduler::WeightedRoundRobin { weights } => set(weights, self.weights.clone()),
            Scheduler::GoodputGuard(guard) => {
                set(&mut guard.probe_interval, self.probe_interval.map(|time| time.0));
                set(&mut guard.probe_segments, self.probe_segments);
            }
            _ => {}
        }
        set(&mut config.path_manager, self.path_manager.map(path_manager));
        match &mut config.path_manager {
            PathManager::Ndiffports { subflows } => set(subflows, self.subflows),
            PathManager::Scripted { steps } => {
                set(steps, self.steps.as_ref().map(|steps| script(steps, &names.paths)));
            }
            PathManager::Kernel { client, server } => {
                for (kernel, host) in [(client, &names.client), (server, &names.server)] {
                    host.apply(self.endpoints.as_deref(), self.limits.as_ref(), kernel);
                }
            }
            _ => {}
        }
    }

    /// Every key with its value in `config`.
    pub(crate) fn explicit(config: &Config, names: &Names) -> Self {
        let (scheduler, weights, guard) = match &config.scheduler {
            Scheduler::RoundRobin => (SchedulerName::RoundRobin, None, None),
            Scheduler::LowestRtt => (SchedulerName::LowestRtt, None, None),
            Scheduler::Linux => (SchedulerName::Linux, None, None),
            Scheduler::WeightedRoundRobin { weights } => {
                (SchedulerName::WeightedRoundRobin, Some(weights.clone()), None)
            }
            Scheduler::Redundant => (SchedulerName::Redundant, None, None),
            Scheduler::Blest => (SchedulerName::Blest, None, None),
            Scheduler::Ecf => (SchedulerName::Ecf, None, None),
            Scheduler::GoodputGuard(guard) => (SchedulerName::GoodputGuard, None, Some(*guard)),
        };
        let (path_manager, subflows, steps) = match &config.path_manager {
            PathManager::FullMesh => (PathManagerName::FullMesh, None, None),
            PathManager::Ndiffports { subflows } => (PathManagerName::Ndiffports, Some(*subflows), None),
            PathManager::Backup => (PathManagerName::Backup, None, None),
            PathManager::Scripted { steps } => {
                (PathManagerName::Scripted, None, Some(unscript(steps, &names.paths)))
            }
            PathManager::Kernel { .. } => (PathManagerName::Kernel, None, None),
        };
        let (endpoints, limits) = super::endpoints::explicit(&config.path_manager, names);
        Self {
            scheduler: Some(scheduler),
            weights,
            probe_interval: guard.map(|guard| Time(guard.probe_interval)),
            probe_segments: guard.map(|guard| guard.probe_segments),
            congestion_control: config.coupling.show(),
            path_manager: Some(path_manager),
            subflows,
            steps,
            endpoints,
            limits,
            ..Self::show(config)
        }
    }
}

fn scheduler(name: SchedulerName) -> Scheduler {
    match name {
        SchedulerName::RoundRobin => Scheduler::RoundRobin,
        SchedulerName::LowestRtt => Scheduler::LowestRtt,
        SchedulerName::Linux => Scheduler::Linux,
        SchedulerName::WeightedRoundRobin => Scheduler::WeightedRoundRobin { weights: Vec::new() },
        SchedulerName::Redundant => Scheduler::Redundant,
        SchedulerName::Blest => Scheduler::Blest,
        SchedulerName::Ecf => Scheduler::Ecf,
        SchedulerName::GoodputGuard => Scheduler::GoodputGuard(GuardConfig::default()),
    }
}

fn path_manager(name: PathManagerName) -> PathManager {
    match name {
        PathManagerName::FullMesh => PathManager::FullMesh,
        PathManagerName::Ndiffports => PathManager::Ndiffports { subflows: 2 },
        PathManagerName::Backup => PathManager::Backup,
        PathManagerName::Scripted => PathManager::Scripted { steps: Vec::new() },
        PathManagerName::Kernel => {
            PathManager::Kernel { client: KernelHost::default(), server: KernelHost::default() }
        }
    }
}

/// The steps in order of time.
fn script(steps: &[StepTable], paths: &[String]) -> Vec<ScriptedStep> {
    let mut script: Vec<ScriptedStep> = steps
        .iter()
        .map(|step| {
            let path = paths.iter().position(|path| path == step.path.as_str()).unwrap_or_default() as u32;
            let backup = step.backup.unwrap_or_default();
            let action = match step.action {
                StepAction::Open => ScriptedAction::Open { backup },
                StepAction::Close => ScriptedAction::Close,
                StepAction::Reset => ScriptedAction::Reset,
                StepAction::SetBackup => ScriptedAction::SetBackup { backup },
                StepAction::Announce => ScriptedAction::Announce,
                StepAction::Withdraw => ScriptedAction::Withdraw,
            };
            ScriptedStep { at: step.at.0, path, action }
        })
        .collect();
    script.sort_by_key(|step| step.at);
    script
}

fn unscript(steps: &[ScriptedStep], paths: &[String]) -> Vec<StepTable> {
    let table = |step: &ScriptedStep| {
        let (action, backup) = match step.action {
            ScriptedAction::Open { backup } => (StepAction::Open, Some(backup)),
            ScriptedAction::Close => (StepAction::Close, None),
            ScriptedAction::Reset => (StepAction::Reset, None),
            ScriptedAction::SetBackup { backup } => (StepAction::SetBackup, Some(backup)),
            ScriptedAction::Announce => (StepAction::Announce, None),
            ScriptedAction::Withdraw => (StepAction::Withdraw, None),
        };
        StepTable { at: Time(step.at), path: Name(paths[step.path as usize].clone()), action, backup }
    };
    steps.iter().map(table).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explicit_keys_give_the_same_configuration_over_any_preset() {
        for (wanted, start) in [(Preset::Linux, Preset::Classic), (Preset::Classic, Preset::Linux)] {
            let table = MptcpTable::explicit(&wanted.mptcp(), &Names::default());
            let mut config = start.mptcp();
            table.apply(&mut config, &Names::default());
            config.tcp = wanted.tcp();
            assert_eq!(config, wanted.mptcp());
        }
    }
}
