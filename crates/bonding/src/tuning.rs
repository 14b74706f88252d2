//! What the model has that is from no publication. None of it is a key of scenario files; what hangs on each value is measured
//! (`docs/models/bonding.md`).

use ropewalk_congestion::CopaTuning;
use ropewalk_units::Duration;

ropewalk_units::tuned! {
    /// Of the bond itself.
    pub struct BondTuning {
        /// What may stand before the paths beyond what their delays differ by: CUBIC gives back 0.3 of its window at a mark, which this
        /// covers over paths of up to 65 ms.
        codel_target: Duration = Duration::from_millis(20);
        /// To go on using a longer path, so much less has to wait than to begin with it (ECF's β). What overtook a packet there waits for
        /// it at the other end, so the flow's window is no longer all here.
        hysteresis: f64 = 0.25;
        /// A copy leaves before its time by as much as so many full packets take to be paced: what comes late is lost to its flow. A burst
        /// of more could be longer than the line's buffer.
        early_packets: u32 = 2;
        /// A path's share of the packets is a mean with this gain.
        share_gain: f64 = 1.0 / 512.0;
        /// Packets wait for a missing one so much longer than delays say; a path that has delivered data within this time is busy.
        slack: Duration = Duration::from_millis(20);
        /// So far apart are reports and keepalives: a buffer of a few packets has no room for both beside data.
        report_apart: Duration = Duration::from_millis(3);
        /// A reordering window is so many times the greatest lateness seen.
        reordering_margin: u32 = 2;
        /// A path is new until it has carried so many packets …
        trial_packets: u32 = 64;
        /// … and that long its reordering window is at least this: nothing is known of its reordering yet.
        trial: Duration = Duration::from_millis(50);
        /// So many packets behind the first of a train tell a slow line's rate. By chance, over a path that reorders, they hardly come in
        /// order.
        train_packets: u32 = 3;
        /// Fewer packets lost in the ten seconds of a base round trip are chance.
        some_losses: u32 = 2;
        /// Between keepalives of a path that rests: less than 10 MB a day, in both directions.
        resting: Duration = Duration::from_secs(2);
    }
}

/// The bond's and its controllers'.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Tuning {
    /// The bond's.
    pub bond: BondTuning,
    /// That of each path's controller.
    pub copa: CopaTuning,
}

impl Tuning {
    /// The names of all.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BondTuning::NAMES.iter().chain(CopaTuning::NAMES).copied()
    }

    /// With the value of this name so many times what it is.
    #[must_use]
    pub fn scaled(mut self, name: &str, factor: f64) -> Self {
        self.bond.scale(name, factor);
        self.copa.scale(name, factor);
        self
    }

    /// The value of this name, as it is printed.
    pub fn show(&self, name: &str) -> Option<String> {
        self.bond.show(name).or_else(|| self.copa.show(name))
    }
}
