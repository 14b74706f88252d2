//! Who hears whom: computed when stations move, not when they send.

use crate::phy::Rate;
use crate::position::Position;
use crate::propagation::{Channel, Propagation, mw_from_dbm};
use ropewalk_sim::Streams;
use ropewalk_units::Duration;

/// A radio that hears another one's transmissions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neighbour {
    pub(crate) radio: u32,
    /// Does it listen to the sender's channel?
    pub(crate) is_own: bool,
    pub(crate) is_decodable: bool,
    pub(crate) is_sensed: bool,
    pub(crate) power_mw: f64,
    pub(crate) delay: Duration,
}

impl Neighbour {
    /// Can it be received, or spoil what is? Otherwise it is only sensed.
    #[inline]
    pub(crate) fn is_signal(&self) -> bool {
        self.is_decodable || self.power_mw > 0.0
    }
}

/// Where a radio is, and on which channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    pub(crate) station: u32,
    pub(crate) channel: Channel,
    /// By how much it sends stronger than the model says, in dB.
    pub(crate) gain_db: f64,
}

/// For each radio, the radios that hear it.
pub(crate) struct Topology {
    neighbours: Vec<Neighbour>,
    /// Where each radio's neighbours begin; one more than there are radios.
    begins: Vec<u32>,
    /// In dB, of each pair of stations, row by row; empty without shadowing.
    shadowing: Vec<f64>,
    stations: usize,
    /// How much of one channel is heard on another, of the pairs asked for so far.
    overlaps: Vec<(Channel, Channel, f64)>,
}

const METRES_PER_NANOSECOND: f64 = 0.299_792_458;

impl Topology {
    pub(crate) fn new(propagation: &Propagation, streams: &Streams, names: &[&str]) -> Self {
        let stations = names.len();
        let mut shadowing = Vec::new();
        if matches!(propagation, Propagation::LogDistance(model) if model.shadowing_db > 0.0) {
            for a in names {
                shadowing.extend(names.iter().map(|b| propagation.shadowing_db(streams, a, b)));
            }
        }
        Self { neighbours: Vec::new(), begins: vec![0], shadowing, stations, overlaps: Vec::new() }
    }

    pub(crate) fn rebuild(
        &mut self,
        propagation: &Propagation,
        positions: &[Position],
        sites: &[Site],
        has_delay: bool,
    ) {
        self.neighbours.clear();
        self.begins.clear();
        self.begins.push(0);
        for (sender, from) in sites.iter().enumerate() {
            for (receiver, to) in sites.iter().enumerate() {
                if sender != receiver {
                    self.join(propagation, positions, from, (receiver as u32, to), has_delay);
                }
            }
            self.begins.push(self.neighbours.len() as u32);
        }
    }

    fn join(
        &mut self,
        propagation: &Propagation,
        positions: &[Position],
        from: &Site,
        (radio, to): (u32, &Site),
        has_delay: bool,
    ) {
        let distance = positions[from.station as usize].distance(positions[to.station as usize]);
        let shadowing = self.shadowing_db(from.station, to.station) - from.gain_db;
        let overlap = self.overlap(from.channel, to.channel);
        let is_own = from.channel == to.channel;
        let signal = propagation.signal_through(overlap, is_own, distance, shadowing);
        // Not sensed and not decoded, a signal is still noise to others' frames.
        let matters = signal.is_decodable || signal.is_sensed || signal.power_mw > negligible_mw(propagation);
        if matters {
            let delay = if has_delay { travel_time(distance) } else { Duration::ZERO };
            self.neighbours.push(Neighbour {
                radio,
                is_own,
                is_decodable: signal.is_decodable,
                is_sensed: signal.is_sensed || signal.is_decodable,
                power_mw: signal.power_mw,
                delay,
            });
        }
    }

    fn overlap(&mut self, a: Channel, b: Channel) -> f64 {
        if let Some((_, _, overlap)) = self.overlaps.iter().find(|known| (known.0, known.1) == (a, b)) {
            return *overlap;
        }
        let overlap = a.overlap(b);
        self.overlaps.push((a, b, overlap));
        overlap
    }

    fn shadowing_db(&self, a: u32, b: u32) -> f64 {
        self.shadowing.get(a as usize * self.stations + b as usize).copied().unwrap_or(0.0)
    }

    #[inline]
    pub(crate) fn count(&self, radio: u32) -> u32 {
        self.begins[radio as usize + 1] - self.begins[radio as usize]
    }

    #[inline]
    pub(crate) fn neighbour(&self, radio: u32, index: u32) -> Neighbour {
        self.neighbours[(self.begins[radio as usize] + index) as usize]
    }

    pub(crate) fn of(&self, radio: u32) -> &[Neighbour] {
        &self.neighbours[self.begins[radio as usize] as usize..self.begins[radio as usize + 1] as usize]
    }

    /// Can `to` receive frames of `from` at this rate, without interference?
    pub(crate) fn reaches(&self, propagation: &Propagation, from: u32, to: u32, rate: Rate) -> bool {
        self.of(from).iter().any(|neighbour| {
            neighbour.radio == to
                && neighbour.is_decodable
                && propagation.receives(rate, neighbour.power_mw, 0.0)
        })
    }
}

/// How long a signal takes over a distance in metres, in whole nanoseconds, rounded up. Rounded
/// down it would arrive before it can: a slot boundary worked out from it would lie before the
/// sender's own, and stations that have to collide would not.
fn travel_time(distance: f64) -> Duration {
    Duration::from_nanos((distance / METRES_PER_NANOSECOND).ceil() as u64)
}

/// Signals up to this power are ignored. On disks these are the signals that do not interfere. With
/// path loss the bound is 10 dB below the receiver's noise, which costs a frame at most 0.4 dB.
fn negligible_mw(propagation: &Propagation) -> f64 {
    match propagation {
        Propagation::Disk(_) => 0.0,
        Propagation::LogDistance(model) => mw_from_dbm(model.receiver.noise_dbm) * 0.1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_signal_arrives_before_it_can() {
        assert_eq!(travel_time(0.0), Duration::ZERO);
        assert_eq!(travel_time(5.0).as_nanos(), 17, "16.68 ns");
        assert_eq!(travel_time(25.0).as_nanos(), 84, "83.39 ns");
        assert_eq!(travel_time(METRES_PER_NANOSECOND * 100.0).as_nanos(), 100, "a whole number stays");
    }
}
