//! Loading: a text becomes a checked scenario, or an error that says where it is wrong.

use crate::document::Document;
use crate::error::ScenarioError;
use crate::plan::Plan;
use crate::plan::build::Builder;
use crate::plan::trace::Traces;
use crate::schema::ScenarioFile;
use crate::watch::Watch;
use crate::world::{RunError, staged};
use ropewalk_units::Duration;
use serde::Deserialize;
use std::path::Path;

/// A scenario, read and checked whole.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(crate) document: Document,
    pub(crate) file: ScenarioFile,
    pub(crate) plan: Plan,
    pub(crate) traces: Traces,
}

/// Reads a scenario from its TOML text.
///
/// `path` is the file that the text came from: messages name it, and trace files are relative to its folder.
/// `overrides` are pairs of a dotted key and a value, applied in order before anything is checked. A value that is no
/// TOML is taken as text, so that `("links.b.loss", "3 %")` needs no quotes.
///
/// # Errors
/// The first mistake in the syntax, the keys, the values, or what they mean together.
pub fn load(
    source: &str,
    path: Option<&Path>,
    overrides: &[(String, String)],
) -> Result<Scenario, ScenarioError> {
    load_watched(source, path, overrides, Watch::default())
}

/// As [`load`], for somebody who waits: a scenario whose stations are drawn until a rare condition holds can take
/// minutes.
///
/// # Errors
/// As those of [`load`], and one that says nothing of use when `watch` has stopped it.
pub fn load_watched(
    source: &str,
    path: Option<&Path>,
    overrides: &[(String, String)],
    watch: Watch<'_>,
) -> Result<Scenario, ScenarioError> {
    let document = Document::read(source, path.map(|path| path.display().to_string()), overrides)?;
    let file = ScenarioFile::deserialize(&document.root).map_err(|fault| document.error(fault))?;
    let folder = path.and_then(Path::parent);
    let mut builder = Builder { document: &document, file: &file, folder, traces: Traces::default(), watch };
    let plan = builder.build()?;
    let traces = builder.traces;
    Ok(Scenario { document, file, plan, traces })
}

impl Scenario {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.plan.name
    }

    /// What its random streams are derived from, unless a run names another seed.
    pub fn seed(&self) -> u64 {
        self.plan.seed
    }

    /// Are there stations and routes with this seed? What is drawn for it need not be drawn again.
    ///
    /// # Errors
    /// As those of [`run`](crate::run), before anything runs.
    pub fn check_seed(&self, seed: u64, watch: Watch<'_>) -> Result<(), RunError> {
        let Some(wifi) = &self.plan.wifi else { return Ok(()) };
        staged(wifi, seed, &watch).map(drop)
    }

    /// How much time is simulated.
    pub fn duration(&self) -> Duration {
        self.plan.duration
    }

    /// What the world is built from.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}
