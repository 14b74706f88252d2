//! What a record shows of the lines, in both directions.

use crate::bond::{PathStatus, TunnelStatus};
use ropewalk_units::{Duration, Instant};

/// Rates are taken over so long.
const WINDOW: Duration = Duration::from_millis(100);
/// A rate of which nothing is known, in Mbit/s.
const LEAST_MBPS: f64 = 0.1;

/// What one line did.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    /// Its path's name.
    pub(super) name: String,
    /// The shortest round trip, in ms.
    least_rtt_ms: Option<f64>,
    /// What its controller took for its rate, window by window, in Mbit/s.
    rates: Vec<f64>,
    /// The most that went out, and that came in, in one window, in Mbit/s.
    most_sent: f64,
    most_received: f64,
    last: Option<PathStatus>,
}

impl Line {
    fn note(&mut self, status: PathStatus, window: Duration) {
        let mbps = |now: u64, before: u64| now.saturating_sub(before) as f64 * 8e-6 / window.as_secs_f64();
        if let Some(last) = &self.last {
            self.most_sent = self.most_sent.max(mbps(status.sent_bytes, last.sent_bytes));
            self.most_received = self.most_received.max(mbps(status.received_bytes, last.received_bytes));
        }
        self.least_rtt_ms = match (self.least_rtt_ms, status.rtt_ms) {
            (Some(least), Some(rtt)) => Some(least.min(rtt)),
            (known, new) => known.or(new),
        };
        self.rates.extend(Some(status.rate_mbps).filter(|rate| *rate > 0.0));
        self.last = Some(status);
    }

    /// Mbit/s that it carries away from here: the median of what its controller took for its rate, or the most that was sent.
    pub(super) fn rate_out(&self) -> f64 {
        let mut rates = self.rates.clone();
        rates.sort_by(f64::total_cmp);
        rates.get(rates.len() / 2).copied().unwrap_or(self.most_sent).max(LEAST_MBPS)
    }

    /// Mbit/s that it carries to here: the most that came, and no less than what it carries away.
    pub(super) fn rate_in(&self) -> f64 {
        self.most_received.max(self.rate_out())
    }

    /// Half of the shortest round trip, in ms.
    pub(super) fn delay_ms(&self) -> f64 {
        self.least_rtt_ms.unwrap_or(0.0) / 2.0
    }

    /// Per cent of packets that were lost on the way out, and on the way in.
    pub(super) fn losses(&self) -> [f64; 2] {
        let percent = |lost: u64, all: u64| 100.0 * lost as f64 / all.max(1) as f64;
        self.last.as_ref().map_or([0.0; 2], |last| {
            let came = last.received_packets + last.lost_received;
            [percent(last.lost_sent, last.sent_packets), percent(last.lost_received, came)]
        })
    }
}

/// All lines of a bond.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) lines: Vec<Line>,
    at: Option<Instant>,
}

impl Lines {
    /// Is it time for [`Self::note`]?
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.at.is_none_or(|at| now >= at + WINDOW)
    }

    /// Notes what a bond says of its paths.
    pub(super) fn note(&mut self, now: Instant, status: TunnelStatus) {
        let window = self.at.map_or(WINDOW, |at| now.saturating_since(at));
        self.at = Some(now);
        for path in status.paths {
            let known = self.lines.iter().position(|line| line.name == path.name);
            let place = known.unwrap_or_else(|| {
                self.lines.push(Line { name: path.name.clone(), ..Line::default() });
                self.lines.len() - 1
            });
            self.lines[place].note(path, window);
        }
    }
}
