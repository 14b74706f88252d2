//! Loading: a text becomes a checked scenario, or an error that says where it is wrong.

mod reading;

use crate::document::Document;
use crate::error::ScenarioError;
use crate::plan::build;
use crate::plan::context::Context;
use crate::plan::emulation;
use crate::plan::files::Files;
use crate::scenario::Scenario;
use crate::schema::connection::Stack;
use crate::watch::Watch;
use reading::Reading;
use std::path::Path;

/// Reads a scenario from its TOML text.
///
/// `path` is the file that the text came from: messages name it, and trace files are relative to its folder.
/// `overrides` are pairs of a dotted key and a value, applied in order before anything is checked. A value that is no
/// TOML is taken as text, so that `("links.b.loss", "3 %")` needs no quotes.
///
/// # Errors
/// The first mistake in the syntax; or all in keys and values, and in what they mean together as far as that does not
/// hang on a key or value that is wrong.
pub fn load(
    source: &str,
    path: Option<&Path>,
    overrides: &[(String, String)],
) -> Result<Scenario, ScenarioError> {
    load_as(source, path, overrides, None, Watch::default())
}

/// As [`load`], for somebody who waits: a scenario whose stations are drawn until a rare condition holds can take
/// minutes. With a `stack` every host runs that one, whatever the file says, and what a kernel does otherwise than the
/// scenario says is no mistake: [`Scenario::departures`] lists it.
///
/// # Errors
/// As those of [`load`], and one that says nothing of use when `watch` has stopped it.
pub fn load_as(
    source: &str,
    path: Option<&Path>,
    overrides: &[(String, String)],
    stack: Option<Stack>,
    watch: Watch<'_>,
) -> Result<Scenario, ScenarioError> {
    let name = path.map(|path| path.display().to_string());
    let (mut document, mistakes) = Document::read(source, name, overrides)?;
    let mut reading = Reading::new(mistakes);
    reading.unfold(&mut document)?;
    let file = reading.decode(&mut document)?;
    let folder = path.and_then(Path::parent);
    let context = Context::new(&document, &file, Files::new(folder), stack, watch, reading.mistakes());
    let plan = build::plan(&context).map_err(|mistakes| reading.without_consequences(&document, mistakes))?;
    let departures = emulation::departures(&context, &plan)?;
    let files = context.files.into_hashes();
    Ok(Scenario { document, file, plan, files, departures })
}
