//! A scenario, read and checked.

use crate::document::Document;
use crate::error::ScenarioError;
use crate::plan::Plan;
use crate::plan::files::FileHashes;
use crate::schema::ScenarioFile;
use ropewalk_bonding::Tuning;
use ropewalk_units::Duration;

/// A scenario, read and checked whole.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(crate) document: Document,
    pub(crate) file: ScenarioFile,
    pub(crate) plan: Plan,
    /// Of the other files that it names.
    pub(crate) files: FileHashes,
    /// What the kernel does otherwise, if its hosts are Linux's whatever the file says.
    pub(crate) departures: Vec<ScenarioError>,
}

impl Scenario {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.plan.settings.name
    }

    /// What its random streams are derived from, unless a run names another seed.
    pub fn seed(&self) -> u64 {
        self.plan.settings.seed
    }

    /// How much time is simulated.
    pub fn duration(&self) -> Duration {
        self.plan.settings.duration
    }

    /// A mistake that shows only where the scenario is to run: about the value at a dotted key such as
    /// `hosts.client.stack`, with what would do.
    pub fn mistake(
        &self,
        key: &str,
        message: impl Into<String>,
        expected: impl Into<String>,
    ) -> ScenarioError {
        self.document.value_error(key, message, expected)
    }

    /// What it says and the kernel does otherwise, each with the key and what the kernel does. Empty unless the scenario
    /// was loaded to run on Linux whatever it says ([`load_as`](crate::load_as)): otherwise such a key is a mistake.
    pub fn departures(&self) -> &[ScenarioError] {
        &self.departures
    }

    /// Where a key of a connection's `tcp` or `mptcp` (`kind`) was written: at the connection, or for all.
    pub fn protocol_key(&self, group: &str, kind: &str, name: &str) -> String {
        self.document.protocol_key(&format!("connections.{group}"), kind, name)
    }

    /// What the world is built from.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Gives all bonds other values than their own for what no file says.
    pub fn tune_bonds(&mut self, tuning: &Tuning) {
        self.plan.bonds_mut().for_each(|bond| bond.config.tuning = *tuning);
    }
}
