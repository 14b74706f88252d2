//! How stations move.

use crate::error::{Diagnostic, ScenarioError};
use crate::plan::context::Context;
use crate::schema::wifi::WifiTable;
use ropewalk_wifi::mobility::Movement;
use std::sync::Arc;

/// Movements from a file.
#[derive(Clone, PartialEq, Debug)]
pub struct MovementPlan {
    /// The file.
    pub movement: Arc<Movement>,
    /// The stations that its nodes 0, 1, … are.
    pub stations: Vec<String>,
}

pub(super) fn movement(
    context: &Context<'_>,
    table: &WifiTable,
) -> Result<Option<MovementPlan>, ScenarioError> {
    let Some(given) = &table.movement else { return Ok(None) };
    let (text, path) = context.text("wifi.movement.file", &given.file, "a movement file of ns-2")?;
    let movement = Movement::parse(&text).map_err(|error| {
        ScenarioError::new(Diagnostic {
            file: Some(path),
            line: Some(error.line),
            column: Some(1),
            key: "wifi.movement.file".to_owned(),
            message: error.to_string(),
            expected: "a movement file of ns-2".to_owned(),
            source_line: text.lines().nth(error.line - 1).map(str::to_owned),
            ..Diagnostic::default()
        })
    })?;
    for (node, name) in (0u32..).zip(&given.stations) {
        let key = format!("wifi.movement.stations[{node}]");
        if !table.stations.contains_key(name) {
            let known: Vec<&str> = table.stations.keys().map(crate::schema::quantity::Name::as_str).collect();
            return Err(context.unknown(&key, "station", name.as_str(), known));
        }
        if movement.trajectory(node).is_none() {
            let message = format!("the file moves no node {node}");
            let known: Vec<String> = movement.nodes().map(|node| node.to_string()).collect();
            let expected = format!("as many stations as it has nodes: {}", known.join(", "));
            return Err(context.wrong(&key, message, expected));
        }
    }
    let stations = given.stations.iter().map(|name| name.0.clone()).collect();
    Ok(Some(MovementPlan { movement: Arc::new(movement), stations }))
}
