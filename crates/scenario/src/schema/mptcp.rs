//! Multipath TCP's choices as keys: `[mptcp]` and `mptcp = { … }` of a connection.

use super::constants::{Constant, constants_table, named_constant};
use super::endpoints::{EndpointChangeTable, EndpointTable, LimitsTable, Names, Tables};
use super::quantity::{Name, Time};
use super::tcp::Preset;
use ropewalk_mptcp::{
    Config, Coupling, GuardConfig, KernelHost, PathManager, ReinjectAfterTimeout, Scheduler, ScriptedAction,
    ScriptedStep,
};
use ropewalk_tcp::HyStart;
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
                /// With kernel: what `ip mptcp` changes while the scenario runs.
                changes: Vec<EndpointChangeTable>,
            }
            $($constants)*
        }
    };
}

ropewalk_mptcp::mptcp_constants!(mptcp_table);

/// The names of the schedulers, from their registry.
macro_rules! scheduler_names {
    ($($(#[$doc:meta])* $name:ident $({ $field:ident: $type:ty })? $(($constants:ty))? = $rule:ty;)*) => {
        /// Which subflow gets the next data.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub(crate) enum SchedulerName {
            $($(#[$doc])* $name,)*
        }

        impl SchedulerName {
            fn of(scheduler: &Scheduler) -> Self {
                match scheduler {
                    $(Scheduler::$name { .. } => Self::$name,)*
                }
            }

            /// With its constants as they are by default.
            fn scheduler(self) -> Scheduler {
                match self {
                    $(
                        Self::$name => Scheduler::$name
                            $({ $field: <$type>::default() })?
                            $((<$constants>::default()))?,
                    )*
                }
            }
        }
    };
}

ropewalk_mptcp::schedulers!(scheduler_names);

/// The names of the couplings, from their registry.
macro_rules! coupling_names {
    ($($(#[$doc:meta])* $name:ident = $rule:ty;)*) => {
        named_constant! {
            /// How the windows of the subflows depend on each other.
            CouplingName of Coupling {
                $($(#[$doc])* $name = $name,)*
            }
        }
    };
}

ropewalk_mptcp::couplings!(coupling_names);

named_constant! {
    /// What others carry after a subflow's timeout.
    ReinjectName of ReinjectAfterTimeout {
        /// The oldest octets, once for each timeout, and all when the subflow counts as stale.
        Head = Head,
        /// All that the subflow carries.
        All = All,
        /// Nothing at once: an idle subflow carries the oldest 32 kB when no DATA_ACK comes, as in Linux.
        Idle = Idle,
    }
}

/// The names of the path managers, from their registry.
macro_rules! path_manager_names {
    (
        $(
            $(#[$doc:meta])*
            $name:ident $({ $($(#[$field_doc:meta])* $field:ident: $type:ty = $default:expr,)* })? = $rule:ty;
        )*
    ) => {
        /// Which subflows are opened.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub(crate) enum PathManagerName {
            $($(#[$doc])* $name,)*
        }

        impl PathManagerName {
            fn of(manager: &PathManager) -> Self {
                match manager {
                    $(PathManager::$name { .. } => Self::$name,)*
                }
            }

            /// With its constants as they are by default.
            fn path_manager(self) -> PathManager {
                match self {
                    $(Self::$name => PathManager::$name $({ $($field: $default,)* })?,)*
                }
            }
        }
    };
}

ropewalk_mptcp::path_managers!(path_manager_names);

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
        set(&mut config.scheduler, self.scheduler.map(SchedulerName::scheduler));
        match &mut config.scheduler {
            Scheduler::WeightedRoundRobin { weights } => set(weights, self.weights.clone()),
            Scheduler::GoodputGuard(guard) => {
                set(&mut guard.probe_interval, self.probe_interval.map(|time| time.0));
                set(&mut guard.probe_segments, self.probe_segments);
            }
            _ => {}
        }
        set(&mut config.path_manager, self.path_manager.map(PathManagerName::path_manager));
        match &mut config.path_manager {
            PathManager::Ndiffports { subflows } => set(subflows, self.subflows),
            PathManager::Scripted { steps } => {
                set(steps, self.steps.as_ref().map(|steps| script(steps, &names.paths)));
            }
            PathManager::Kernel { client, server } => {
                let tables = Tables {
                    endpoints: self.endpoints.as_deref(),
                    limits: self.limits.as_ref(),
                    changes: self.changes.as_deref(),
                };
                names.client.apply(&tables, client);
                names.server.apply(&tables, server);
            }
            _ => {}
        }
    }

    /// Every key with its value in `config`.
    pub(crate) fn explicit(config: &Config, names: &Names) -> Self {
        let (weights, guard) = match &config.scheduler {
            Scheduler::WeightedRoundRobin { weights } => (Some(weights.clone()), None),
            Scheduler::GoodputGuard(guard) => (None, Some(*guard)),
            _ => (None, None),
        };
        let (subflows, steps) = match &config.path_manager {
            PathManager::Ndiffports { subflows } => (Some(*subflows), None),
            PathManager::Scripted { steps } => (None, Some(unscript(steps, &names.paths))),
            _ => (None, None),
        };
        let super::endpoints::Explicit { endpoints, limits, changes } =
            super::endpoints::explicit(&config.path_manager, names);
        Self {
            scheduler: Some(SchedulerName::of(&config.scheduler)),
            weights,
            probe_interval: guard.map(|guard| Time(guard.probe_interval)),
            probe_segments: guard.map(|guard| guard.probe_segments),
            congestion_control: config.coupling.show(),
            path_manager: Some(PathManagerName::of(&config.path_manager)),
            subflows,
            steps,
            endpoints,
            limits,
            changes,
            ..Self::show(config)
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
