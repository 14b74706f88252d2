//! Which channel a hop uses.

use crate::error::RoutingError;
use crate::random::Draws;
use serde::{Serialize, Serializer};
use std::str::FromStr;

/// How the hops of routes get their channels.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Assignment {
    /// All hops of a route use one: route k of a set, from 0, uses channel k modulo their number.
    #[default]
    PerRoute,
    /// In turn along the hops: hop i of route k uses channel k + i modulo their number.
    Alternate,
    /// Hop i of every route uses entry i of this list, which begins again when it is at its end.
    List(Vec<u32>),
    /// A hop uses a channel on which both its ends have a radio; of several, the one that is best for the route.
    Radios,
}

impl Assignment {
    /// The channels of the hops of route `route` of a set, in order and then from the first again; `None` when the
    /// radios decide.
    pub fn pattern(&self, route: usize, channels: u32) -> Option<Vec<u32>> {
        let turn = |hop: u32| ((route as u64 + u64::from(hop)) % u64::from(channels.max(1))) as u32;
        match self {
            Self::PerRoute => Some(vec![turn(0)]),
            Self::Alternate => Some((0..channels.max(1)).map(turn).collect()),
            Self::List(list) => Some(list.clone()),
            Self::Radios => None,
        }
    }

    pub(crate) fn validate(&self, channels: u32) -> Result<(), RoutingError> {
        let Self::List(list) = self else { return Ok(()) };
        if list.is_empty() {
            return Err(RoutingError::setting("assign", "a list of channels has at least one"));
        }
        match list.iter().find(|&&channel| channel >= channels) {
            Some(channel) => {
                let known = if channels == 1 {
                    "there is channel 0 only".to_owned()
                } else {
                    format!("the channels are 0 to {}", channels - 1)
                };
                Err(RoutingError::setting("assign", format!("there is no channel {channel}: {known}")))
            }
            None => Ok(()),
        }
    }
}

impl FromStr for Assignment {
    type Err = RoutingError;

    /// `per-route`, `alternate`, `radios`, or channels separated by commas.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "per-route" => Ok(Self::PerRoute),
            "alternate" => Ok(Self::Alternate),
            "radios" => Ok(Self::Radios),
            list => {
                let channels: Result<Vec<u32>, _> =
                    list.split(',').map(|channel| channel.trim().parse()).collect();
                channels.map(Self::List).map_err(|_| {
                    let message = format!(
                        "\"{text}\" is none; choose per-route, alternate, radios, or a list such as 0,1,0"
                    );
                    RoutingError::setting("assign", message)
                })
            }
        }
    }
}

impl Serialize for Assignment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::PerRoute => serializer.serialize_str("per-route"),
            Self::Alternate => serializer.serialize_str("alternate"),
            Self::Radios => serializer.serialize_str("radios"),
            Self::List(list) => list.serialize(serializer),
        }
    }
}

/// For each node, so many different channels out of `0..channels`, ascending, each set equally likely; a function of
/// the seed and the number of the deployment's draw.
pub(crate) fn drawn_radios(nodes: usize, radios: u32, channels: u32, seed: u64, draw: u64) -> Vec<Vec<u32>> {
    let mut draws = Draws::new(seed, "routing/radios");
    draws.seek(draw);
    let mut node = || {
        let mut all: Vec<u32> = (0..channels).collect();
        // The first steps of a Fisher-Yates shuffle.
        for place in 0..radios.min(channels) {
            let left = f64::from(channels - place);
            let other = place + (draws.uniform() * left) as u32;
            all.swap(place as usize, other as usize);
        }
        all.truncate(radios as usize);
        all.sort_unstable();
        all
    };
    (0..nodes).map(|_| node()).collect()
}

#[cfg(test)]
mod tests;
