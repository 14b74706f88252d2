//! What happened in a run, and why.

use super::Outcome;
use crate::plan::EventKind;
use ropewalk_units::{Duration, Instant};
use ropewalk_wifi::position::Position;
use std::borrow::Cow;

/// One event. What it does not have is `None`, or an empty text.
#[derive(Clone, PartialEq, Debug)]
pub struct EventRow {
    /// When.
    pub time: Instant,
    /// What kind.
    pub kind: EventKind,
    /// What.
    pub event: &'static str,
    /// Where.
    pub place: EventPlace,
    /// Index into [`Outcome::connections`].
    pub connection: Option<u32>,
    /// The number of its subflow at the sender of the data.
    pub subflow: Option<u32>,
    /// Index of that subflow in [`Outcome::subflows`].
    pub subflow_row: Option<u32>,
    /// Position of the first octet in the connection's stream.
    pub data: Option<u64>,
    /// How many octets.
    pub octets: Option<u32>,
    /// Congestion window and slow-start threshold in octets.
    pub window: Option<[u32; 2]>,
    /// A round-trip time, a timer's length, or how long data waited.
    pub duration: Option<Duration>,
    /// Where a station is.
    pub position: Option<Position>,
    /// Why, in words.
    pub reason: Cow<'static, str>,
}

/// Where something happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EventPlace {
    /// At no place that results name.
    #[default]
    Unknown,
    /// At the host that opens the connection.
    Source,
    /// At the host that accepts it.
    Destination,
    /// On a link: index into [`Outcome::links`].
    Link(u32),
    /// In a bond: index into [`Outcome::bonds`].
    Bond(u32),
    /// At a station: index into [`Outcome::radios`].
    Station(u32),
}

impl EventRow {
    /// An event and nothing else of it.
    pub(crate) fn new(time: Instant, kind: EventKind, event: &'static str) -> Self {
        Self {
            time,
            kind,
            event,
            place: EventPlace::Unknown,
            connection: None,
            subflow: None,
            subflow_row: None,
            data: None,
            octets: None,
            window: None,
            duration: None,
            position: None,
            reason: Cow::Borrowed(""),
        }
    }

    /// … and why.
    pub(crate) fn because(self, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { reason: reason.into(), ..self }
    }

    /// … of these octets of the connection's stream.
    pub(crate) fn of_data(self, data: u64, octets: u32) -> Self {
        Self { data: Some(data), octets: Some(octets), ..self }
    }
}

impl Outcome {
    pub(super) fn path_of(&self, row: &EventRow) -> Option<&str> {
        if let EventPlace::Bond(bond) = row.place {
            return self.bonds[bond as usize].path.as_deref();
        }
        row.subflow_row.map(|subflow| self.subflows[subflow as usize].path.as_str())
    }

    pub(super) fn node_of(&self, row: &EventRow) -> Option<&str> {
        let connection = || row.connection.map(|index| &self.connections[index as usize]);
        match row.place {
            EventPlace::Source => connection().map(|connection| connection.source.as_str()),
            EventPlace::Destination => connection().map(|connection| connection.destination.as_str()),
            EventPlace::Station(radio) => Some(&self.radios[radio as usize].station),
            EventPlace::Unknown | EventPlace::Link(_) | EventPlace::Bond(_) => None,
        }
    }

    pub(super) fn link_of(&self, row: &EventRow) -> Option<(&str, &str)> {
        match row.place {
            EventPlace::Link(link) => {
                let link = &self.links[link as usize];
                Some((&link.name, &link.direction))
            }
            EventPlace::Bond(bond) => {
                let bond = &self.bonds[bond as usize];
                Some((&bond.name, &bond.direction))
            }
            _ => None,
        }
    }
}
