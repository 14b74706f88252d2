//! Just the steps that the scenario lists.

use super::rule::{Action, Event, PathManagerRule, of_server};
use crate::config::{Config, PathManager, ScriptedAction, ScriptedStep};
use crate::id::{Path, Wanted};
use crate::role::Role;
use ropewalk_units::Instant;
use std::net::SocketAddr;

/// The steps left, and when they began to count.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Script {
    steps: Vec<ScriptedStep>,
    next: usize,
    paths: Vec<Path>,
    role: Role,
    established: Option<Instant>,
}

impl PathManagerRule for Script {
    fn client(config: &Config, paths: &[Path]) -> Self {
        Self::new(config, paths.to_vec(), Role::Client)
    }

    /// Steps that a server can do (announce, withdraw, set the priority, close, reset) refer to `addresses` in order.
    fn server(config: &Config, addresses: &[SocketAddr], initial: Path) -> Self {
        Self::new(config, of_server(addresses, initial), Role::Server)
    }

    fn on(&mut self, now: Instant, event: Event) -> Vec<Action> {
        if event == Event::Established {
            self.established.get_or_insert(now);
        }
        let mut actions = Vec::new();
        while self.next_tick().is_some_and(|at| at <= now) {
            actions.extend(self.action(self.steps[self.next].clone()));
            self.next += 1;
        }
        actions
    }

    fn next_tick(&self) -> Option<Instant> {
        let step = self.steps.get(self.next)?;
        self.established.map(|start| start.saturating_add(step.at))
    }
}

impl Script {
    /// Steps are done in order of time, those of one time in the order listed.
    fn new(config: &Config, paths: Vec<Path>, role: Role) -> Self {
        let mut steps = match &config.path_manager {
            PathManager::Scripted { steps } => steps.clone(),
            _ => Vec::new(),
        };
        steps.sort_by_key(|step| step.at);
        Self { steps, next: 0, paths, role, established: None }
    }

    /// `None` for what this end cannot do: opening is the client's, and the path must exist.
    fn action(&self, step: ScriptedStep) -> Option<Action> {
        let path_index = step.path;
        let path = *self.paths.get(path_index as usize)?;
        Some(match step.action {
            ScriptedAction::Open { backup } => match self.role {
                Role::Client => Action::Open(Wanted { path, path_index, backup }),
                Role::Server => return None,
            },
            ScriptedAction::Close => Action::Close { path_index },
            ScriptedAction::Reset => Action::Reset { path_index },
            ScriptedAction::SetBackup { backup } => Action::SetBackup { path_index, backup },
            ScriptedAction::Announce => Action::Announce { address: path.local },
            ScriptedAction::Withdraw => Action::Withdraw { address: path.local },
        })
    }
}
