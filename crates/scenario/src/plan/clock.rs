//! A node's own time: a gateway's clock, and how late a node is with its work.

use super::context::Place;
use crate::error::ScenarioError;
pub use crate::schema::clock::{ClockPlan, ClockStep, Drift, JitterPlan};
use crate::schema::clock::{ClockTable, LatenessTable};

/// Parts per million that a clock may drift.
const GREATEST_DRIFT: f64 = 100_000.0;

impl ClockPlan {
    /// Is it true?
    pub fn is_true(&self) -> bool {
        *self == Self::default()
    }

    /// The least that it ever reads is not below zero.
    fn stays_above_zero(&self) -> bool {
        let mut jumped = i128::from(self.offset.as_nanos());
        self.steps.iter().all(|&ClockStep { at, by }| {
            jumped += i128::from(by);
            let elapsed = i128::from(at.as_nanos());
            elapsed + elapsed * i128::from(self.drift.ppb) / 1_000_000_000 + jumped >= 0
        })
    }

    /// What a file has to say of it: nothing if it is true.
    pub(crate) fn said(&self) -> Option<Self> {
        (!self.is_true()).then(|| self.clone())
    }
}

impl JitterPlan {
    /// Is it never late?
    pub fn is_idle(&self) -> bool {
        *self == Self::default()
    }

    /// What a file has to say of it: nothing if it is never late.
    pub(crate) fn said(&self) -> Option<Self> {
        (!self.is_idle()).then_some(*self)
    }
}

/// The clock of the router of this name, whose table is at `place`.
pub(super) fn clock(
    place: &Place<'_>,
    name: &str,
    table: Option<&ClockTable>,
) -> Result<ClockPlan, ScenarioError> {
    let Some(table) = table else { return Ok(ClockPlan::default()) };
    let mut bonds = place.context.file.bonds.values();
    if !bonds.any(|bond| bond.between.iter().any(|end| end.as_str() == name)) {
        let message = "nothing reads it: no bond begins at this router";
        return Err(place.misplaced("clock", message, "the clock of a bond's gateway"));
    }
    let drift = table.drift.unwrap_or(0.0);
    if !(-GREATEST_DRIFT..=GREATEST_DRIFT).contains(&drift) {
        let expected = format!("parts per million from -{GREATEST_DRIFT} to {GREATEST_DRIFT}");
        return Err(place.wrong("clock.drift", format!("a drift of {drift}"), expected));
    }
    let mut plan = table.read();
    plan.steps.sort_by_key(|step| step.at);
    if !plan.stays_above_zero() {
        let expected = "a greater `offset`, or shorter steps back";
        return Err(place.wrong("clock.steps", "the clock falls below zero", expected));
    }
    Ok(plan)
}

/// How late the node is whose table is at `place`.
pub(super) fn jitter(place: &Place<'_>, table: Option<&LatenessTable>) -> Result<JitterPlan, ScenarioError> {
    let plan = table.map(LatenessTable::read).unwrap_or_default();
    if plan.coalesce_bytes.is_some() && plan.coalesce.is_zero() {
        let message = "nothing is held: `coalesce` is missing";
        return Err(place.misplaced("jitter.coalesce_bytes", message, "a key `coalesce` beside it"));
    }
    Ok(plan)
}
