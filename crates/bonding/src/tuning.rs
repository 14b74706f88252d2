//! The constants of the model that come from no publication. None of them is a key of scenario
//! files. How much each value matters is measured (`docs/models/bonding.md`).

use ropewalk_congestion::CopaTuning;
use ropewalk_units::Duration;

ropewalk_units::tuned! {
    /// The constants of the bond itself.
    pub struct BondTuning {
        /// How long packets may wait before the paths, beyond the difference of the paths' delays.
        /// CUBIC gives back 0.3 of its window at a mark; this covers that over paths of up to
        /// 65 ms.
        codel_target: Duration = Duration::from_millis(20);
        /// While a longer path is in use, this part of the usual wait is enough to use it again
        /// (ECF's β). What overtook a packet there waits for it at the other end, so a part of the
        /// flow's window is not here.
        hysteresis: f64 = 0.25;
        /// Octets that are expected to follow a full packet, as many as a host sends at once: the
        /// most of BBR.SendQuantum (draft-ietf-ccwg-bbr).
        followers: u32 = 64 << 10;
        /// A copy may leave early by the time in which this many full packets are paced: a late
        /// copy is of no use to its flow. A burst of more could be longer than the line's buffer.
        early_packets: u32 = 2;
        /// The gain of the moving mean of a path's share of the packets.
        share_gain: f64 = 1.0 / 512.0;
        /// How much longer than delays say packets wait for a missing one. A path that has
        /// delivered data within this time is busy.
        slack: Duration = Duration::from_millis(20);
        /// Stamps are as precise as this: what clocks drift by is no better known.
        precision: Duration = Duration::from_micros(100);
        /// The least time between reports and keepalives: a buffer of a few packets has no room for
        /// both beside data.
        report_apart: Duration = Duration::from_millis(3);
        /// A reordering window is this many times the greatest lateness seen.
        reordering_margin: u32 = 2;
        /// A path is new until it has carried this many packets.
        trial_packets: u32 = 64;
        /// The least reordering window of a new path: nothing is known of its reordering yet.
        trial: Duration = Duration::from_millis(50);
        /// This many packets after the first of a train tell a slow line's rate. Over a path that
        /// reorders, they hardly come in order by chance.
        train_packets: u32 = 3;
        /// Fewer packets lost in the ten seconds of a base round trip count as chance.
        some_losses: u32 = 2;
        /// Time between keepalives of a path that rests: less than 10 MB a day, in both directions.
        resting: Duration = Duration::from_secs(2);
    }
}

/// The constants of a bond and of its controllers.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Tuning {
    /// Those of the bond.
    pub bond: BondTuning,
    /// Those of each path's controller.
    pub copa: CopaTuning,
}

impl Tuning {
    /// The names of all constants.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BondTuning::NAMES.iter().chain(CopaTuning::NAMES).copied()
    }

    /// The same constants, with the one of this name multiplied by `factor`.
    #[must_use]
    pub fn scaled(mut self, name: &str, factor: f64) -> Self {
        self.bond.scale(name, factor);
        self.copa.scale(name, factor);
        self
    }

    /// The value of the constant of this name as text; `None`: there is none.
    pub fn show(&self, name: &str) -> Option<String> {
        self.bond.show(name).or_else(|| self.copa.show(name))
    }
}
