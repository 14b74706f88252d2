//! A case: runs, and what is asked of them.

use crate::measure::Record;
use crate::scene::{Scene, Tunnel};

/// How much is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scale {
    /// A few short cases of each gate.
    Quick,
    /// All.
    Whole,
}

impl Scale {
    /// So many cases.
    pub(crate) const fn count(self, quick: usize, whole: usize) -> usize {
        match self {
            Self::Quick => quick,
            Self::Whole => whole,
        }
    }

    /// So many seconds.
    pub(crate) const fn seconds(self, quick: f64, whole: f64) -> f64 {
        match self {
            Self::Quick => quick,
            Self::Whole => whole,
        }
    }
}

/// A run of a case.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// The scenario.
    pub(crate) text: String,
    /// Is it independent of how a bond works?
    pub(crate) is_bare: bool,
}

impl Run {
    /// A scene through a tunnel.
    pub(crate) fn new(scene: &Scene, tunnel: Tunnel<'_>) -> Self {
        Self { text: scene.text(tunnel), is_bare: !matches!(tunnel, Tunnel::Bond(_)) }
    }
}

/// What is asked of a number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Ask {
    /// At least this.
    Least(f64),
    /// At most this.
    Most(f64),
    /// The mean over all cases is at least this.
    MeanLeast(f64),
    /// Nothing: it is shown.
    Shown,
}

/// A number of a case, beside its bar.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Finding {
    /// What it is.
    pub(crate) bar: &'static str,
    /// The number.
    pub(crate) value: f64,
    /// What is asked of it.
    pub(crate) ask: Ask,
}

impl Finding {
    /// At least.
    pub(crate) const fn least(bar: &'static str, value: f64, bound: f64) -> Self {
        Self { bar, value, ask: Ask::Least(bound) }
    }

    /// At most.
    pub(crate) const fn most(bar: &'static str, value: f64, bound: f64) -> Self {
        Self { bar, value, ask: Ask::Most(bound) }
    }

    /// Shown.
    pub(crate) const fn shown(bar: &'static str, value: f64) -> Self {
        Self { bar, value, ask: Ask::Shown }
    }

    /// Does the case alone keep the bar? A number that is none does not.
    pub(crate) fn is_kept(&self) -> bool {
        match self.ask {
            Ask::Least(bound) => self.value >= bound,
            Ask::Most(bound) => self.value <= bound,
            Ask::MeanLeast(_) | Ask::Shown => true,
        }
    }
}

/// Judges the records of the runs, in their order.
pub(crate) type Judge = Box<dyn Fn(&[Record]) -> Vec<Finding> + Sync>;

/// A case of a gate.
pub(crate) struct Case {
    /// The gate.
    pub(crate) gate: &'static str,
    /// Which case of it.
    pub(crate) number: usize,
    /// In words.
    pub(crate) what: String,
    /// What is run.
    pub(crate) runs: Vec<Run>,
    /// What comes of it.
    pub(crate) judge: Judge,
}

/// A bond's run, then each line alone.
pub(crate) fn beside_each_line(scene: &Scene, scheduler: &str) -> Vec<Run> {
    let alone = (0..scene.lines.len()).map(|line| Run::new(scene, Tunnel::Bare(line)));
    std::iter::once(Run::new(scene, Tunnel::Bond(scheduler))).chain(alone).collect()
}

/// The record of the best line alone: behind the bond's.
pub(crate) fn best(records: &[Record]) -> &Record {
    let alone = records[1..].iter();
    alone.max_by(|a, b| a.inside_mbps().total_cmp(&b.inside_mbps())).expect("a case has a line")
}

/// What the bond has of what the best line alone has.
pub(crate) fn ratio(records: &[Record]) -> f64 {
    records[0].inside_mbps() / best(records).inside_mbps()
}
