//! Positions from comma-separated values.

use super::Topology;
use super::checks::{Numbers, called, channels, coordinate, not_empty};
use crate::error::RoutingError;
use crate::position::Position;

/// Where the columns are.
struct Columns {
    x: usize,
    y: usize,
    name: Option<usize>,
    channels: Option<usize>,
}

impl Columns {
    /// From a header line; `None` when it is none, because it begins with a number.
    fn from_header(line: &str) -> Option<Result<Self, String>> {
        let fields: Vec<_> = fields(line).map(str::to_ascii_lowercase).collect();
        if fields.iter().all(|field| field.parse::<f64>().is_ok()) {
            return None;
        }
        let find = |names: &[&str]| fields.iter().position(|field| names.contains(&field.as_str()));
        let required = |names: &[&str]| {
            find(names).ok_or_else(|| format!("no column \"{}\" in the header line", names[0]))
        };
        Some(required(&["x_m", "x"]).and_then(|x| {
            let y = required(&["y_m", "y"])?;
            Ok(Self { x, y, name: find(&["name", "node", "id"]), channels: find(&["channels"]) })
        }))
    }
}

fn fields(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(|field| field.trim().trim_matches('"'))
}

pub(super) fn read(text: &str, file: &str) -> Result<Topology, RoutingError> {
    let text = text.trim_start_matches('\u{feff}');
    let said = |line: &&(usize, &str)| !line.1.trim().is_empty() && !line.1.trim_start().starts_with('#');
    let mut lines =
        text.lines().enumerate().map(|(index, line)| (index + 1, line)).filter(|line| said(&line));
    let mut rest = lines.clone();
    let Some((number, first)) = lines.next() else {
        return Err(RoutingError::file(file, None, "there is no node in it"));
    };
    let columns = match Columns::from_header(first) {
        Some(columns) => {
            rest.next();
            columns.map_err(|reason| RoutingError::file(file, Some(number), reason))?
        }
        None => Columns { x: 0, y: 1, name: None, channels: None },
    };
    let mut topology = Topology::default();
    let mut numbers = Vec::new();
    for (number, line) in rest {
        row(line, &columns, &mut topology)
            .map_err(|reason| RoutingError::file(file, Some(number), reason))?;
        numbers.push(number);
    }
    if let Err(place) = Numbers::new(&topology.names) {
        let message = format!("a second node \"{}\"", topology.names[place]);
        return Err(RoutingError::file(file, Some(numbers[place]), message));
    }
    topology.nodes = topology.positions.len();
    not_empty(topology, file)
}

fn row(line: &str, columns: &Columns, topology: &mut Topology) -> Result<(), String> {
    let fields: Vec<_> = fields(line).collect();
    let named = [columns.name, columns.channels].map(|column| column.unwrap_or(0));
    let wanted = columns.x.max(columns.y).max(named[0]).max(named[1]) + 1;
    if fields.len() < wanted {
        return Err(format!("{wanted} columns expected, {} found", fields.len()));
    }
    let place = topology.positions.len();
    topology.names.extend(columns.name.map(|name| fields[name].to_owned()));
    let mut rest = || {
        topology.channels.extend(columns.channels.map(|column| channels(fields[column])).transpose()?);
        Ok(Position::new(coordinate("x_m", fields[columns.x])?, coordinate("y_m", fields[columns.y])?))
    };
    let position =
        rest().map_err(|reason: String| format!("{}: {reason}", called(&topology.names, place)))?;
    topology.positions.push(position);
    Ok(())
}
