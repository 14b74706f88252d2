//! What all formats check alike.

use super::Topology;
use crate::error::RoutingError;
use std::collections::BTreeMap;

/// The number of each name.
pub(super) struct Numbers<'a>(BTreeMap<&'a str, u32>);

impl<'a> Numbers<'a> {
    /// Numbers names, or gives the place of the first that comes twice.
    pub(super) fn new(names: &'a [String]) -> Result<Self, usize> {
        let mut numbers = BTreeMap::new();
        for (place, name) in names.iter().enumerate() {
            if numbers.insert(name.as_str(), place as u32).is_some() {
                return Err(place);
            }
        }
        Ok(Self(numbers))
    }

    pub(super) fn of(&self, name: &str) -> Result<u32, String> {
        self.0.get(name).copied().ok_or_else(|| format!("a link to \"{name}\", which is no node"))
    }

    /// The link between two names.
    pub(super) fn link(&self, from: &str, to: &str) -> Result<(u32, u32), String> {
        let link = (self.of(from)?, self.of(to)?);
        if link.0 == link.1 { Err(format!("a link from \"{from}\" to itself")) } else { Ok(link) }
    }
}

/// A coordinate, or why it is none. `column` is what the file calls it.
pub(super) fn coordinate(column: &str, text: &str) -> Result<f64, String> {
    let text = text.trim();
    let number: f64 = text.parse().map_err(|_| format!("{column} \"{text}\" is no number of metres"))?;
    if number.is_finite() { Ok(number) } else { Err(format!("{column} must be finite, not {text}")) }
}

/// Channels, separated by blanks, or why they are none.
pub(super) fn channels(text: &str) -> Result<Vec<u32>, String> {
    let channel = |word: &str| word.parse().map_err(|_| format!("\"{word}\" is no number of a channel"));
    checked_channels(text.split_whitespace().map(channel).collect::<Result<_, _>>()?)
}

/// A radio is on one channel, and two radios of a node on two.
pub(super) fn checked_channels(mut channels: Vec<u32>) -> Result<Vec<u32>, String> {
    channels.sort_unstable();
    if channels.is_empty() {
        return Err("a node needs a radio: no channel given".to_owned());
    }
    match channels.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("two radios on channel {}", pair[0])),
        None => Ok(channels),
    }
}

/// What a node is called in messages, by its place.
pub(super) fn called(names: &[String], place: usize) -> String {
    names.get(place).map_or_else(|| format!("node {place}"), |name| format!("node \"{name}\""))
}

/// A range, or why it is none.
pub(super) fn checked_range(range: f64) -> Result<f64, String> {
    if range > 0.0 && range.is_finite() {
        Ok(range)
    } else {
        Err(format!("range_m must be a positive number of metres, not {range}"))
    }
}

/// A file without nodes is a mistake.
pub(super) fn not_empty(topology: Topology, file: &str) -> Result<Topology, RoutingError> {
    if topology.nodes == 0 {
        Err(RoutingError::file(file, None, "there is no node in it"))
    } else {
        Ok(topology)
    }
}
