//! Rows of bonds over time, from totals.

use super::{BondPathSample, BondSeriesRow, BondTraffic};
use ropewalk_units::{Duration, Instant};

/// What one direction of a bond, or of a path of it, has come to.
#[derive(Clone, PartialEq, Debug)]
pub struct BondTotals {
    /// What has passed.
    pub traffic: BondTraffic,
    /// Packets found lost.
    pub lost: u64,
    /// Of the whole: packets that wait for one before them.
    pub depth: Option<u64>,
    /// Of a path: its state at the sender.
    pub path: Option<BondPathSample>,
}

/// Samples of all bonds.
#[derive(Debug, Default)]
pub struct BondSeries {
    /// By row.
    seen: Vec<(BondTraffic, u64)>,
    rows: Vec<BondSeriesRow>,
}

impl BondSeries {
    /// Adds a row for each of the totals, which come in the order of [`super::Outcome::bonds`]; `elapsed` has passed since the last time.
    pub fn add(&mut self, time: Instant, elapsed: Duration, all: impl Iterator<Item = BondTotals>) {
        let mbps = |now: u64, before: u64| (now - before) as f64 * 8e-6 / elapsed.as_secs_f64();
        for (row, totals) in all.enumerate() {
            let BondTotals { traffic, lost, depth, path } = totals;
            if self.seen.len() == row {
                self.seen.push(Default::default());
            }
            let (before, lost_before) = std::mem::replace(&mut self.seen[row], (traffic, lost));
            self.rows.push(BondSeriesRow {
                time,
                row: row as u32,
                sent_mbps: mbps(traffic.sent_bytes, before.sent_bytes),
                received_mbps: mbps(traffic.received_bytes, before.received_bytes),
                lost: lost - lost_before,
                depth,
                path,
            });
        }
    }

    /// All rows.
    pub fn into_rows(self) -> Vec<BondSeriesRow> {
        self.rows
    }
}
