//! Loading: a text becomes a checked scenario, or an error that says where it is wrong.

use crate::document::{Document, plain_path};
use crate::error::ScenarioError;
use crate::plan::build;
use crate::plan::context::Context;
use crate::plan::emulation;
use crate::plan::files::Files;
use crate::scenario::Scenario;
use crate::schema::ScenarioFile;
use crate::schema::connection::Stack;
use crate::unfold::unfold;
use crate::watch::Watch;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::Path;

/// Mistakes that one error tells at most.
const MOST_MISTAKES: usize = 30;

/// Reads a scenario from its TOML text.
///
/// `path` is the file that the text came from: messages name it, and trace files are relative to its folder.
/// `overrides` are pairs of a dotted key and a value, applied in order before anything is checked. A value that is no
/// TOML is taken as text, so that `("links.b.loss", "3 %")` needs no quotes.
///
/// # Errors
/// The first mistake in the syntax; or all in keys and values; or, if these are right, those in what they mean together.
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
    let mut document = Document::read(source, path.map(|path| path.display().to_string()), overrides)?;
    unfold(&mut document).map_err(|fault| document.error(fault))?;
    let file = decode(&mut document)?;
    let folder = path.and_then(Path::parent);
    let context = Context::new(&document, &file, Files::new(folder), stack, watch);
    let plan = build::plan(&context)?;
    let departures = emulation::departures(&context, &plan)?;
    let files = context.files.into_hashes();
    Ok(Scenario { document, file, plan, files, departures })
}

/// Reads the tables. What is wrong is told and taken out, until the rest can be read.
fn decode(document: &mut Document) -> Result<ScenarioFile, ScenarioError> {
    let mut mistakes = Vec::new();
    let mut forgotten = BTreeSet::new();
    while mistakes.len() < MOST_MISTAKES {
        let fault = match ScenarioFile::deserialize(&document.root) {
            Ok(file) if mistakes.is_empty() => return Ok(file),
            Ok(_) => break,
            Err(fault) => fault,
        };
        let path = plain_path(&fault.key());
        // What is missing because it was taken out was told already.
        if !forgotten.contains(&path) {
            mistakes.push(document.error(fault));
        }
        let Some(gone) = document.forget(&path) else { break };
        forgotten.insert(gone);
    }
    Err(ScenarioError::all(mistakes))
}
