//! Loss recovery's variables and algorithms: RFC 5681 and 6582, RFC 6675, RFC 8985, RFC 9937, and what finds that a
//! recovery was not needed.

mod blamed;
pub(crate) mod prr;
pub(crate) mod rack;
pub(crate) mod spurious;

pub(crate) use blamed::Blamed;

use crate::config::LossRecovery;
use prr::Prr;
use rack::{Rack, TailProbe};
use ropewalk_units::Mark;
use spurious::Detectors;

/// DupThresh (RFC 5681 §3.2).
const DUP_THRESH: u32 = 3;
/// Linux `tcp_max_reordering`.
const MAX_DUP_THRESH: u32 = 300;

/// Where the sender stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// No loss to repair.
    Open,
    /// Fast recovery.
    Fast,
    /// After a timeout.
    Timeout,
}

/// The variables of loss recovery.
#[derive(Clone, Debug)]
// What every segment asks for first, what only losses need last.
#[repr(C)]
pub(crate) struct Recovery {
    pub(crate) phase: Phase,
    /// How losses are found: what the configuration says, once the peer permits SACK.
    pub(crate) method: LossRecovery,
    /// RecoveryPoint (RFC 6675 §2), `recover` (RFC 6582 §3.2): recovery ends when this is acknowledged.
    pub(crate) recover: Mark,
    /// Duplicate ACKs in a row.
    pub(crate) duplicates: u32,
    /// DupThresh; grows with proof of reordering.
    pub(crate) threshold: u32,
    /// Without SACK: octets that duplicate ACKs say have left the network, by which RFC 6582 §3.2 inflates cwnd.
    pub(crate) credit: i64,
    /// One segment may be retransmitted regardless of cwnd.
    pub(crate) fast_retransmit: bool,
    /// How many segments had arrived above the hole when fast recovery began: the extent of the reordering, if
    /// that was all it was.
    pub(crate) overtaken: u32,
    /// RFC 6675 §4 NextSeg (3) goes on from here.
    pub(crate) hole_from: Mark,
    /// RFC 6675 §4 RescueRxt is still to come: one for each recovery.
    pub(crate) rescue_due: bool,
    /// Octets sent by limited transmit: no part of FlightSize (RFC 3042 §2).
    pub(crate) limited: u32,
    /// F-RTO: new segments that may go out whatever cwnd says (RFC 5682 §3.1 (2b)).
    pub(crate) new_segments: u8,
    /// RFC 4015 §3.2 (11) is still to be done at the next measurement.
    pub(crate) late: bool,
    /// TCP-DOOR: this recovery leaves the window as it is.
    pub(crate) keeps_window: bool,
    pub(crate) tail_probe: Option<TailProbe>,
    pub(crate) detectors: Detectors,
    pub(crate) rack: Rack,
    pub(crate) prr: Option<Prr>,
    /// Another subflow's ACKs began the recovery.
    pub(crate) blamed: Option<Box<Blamed>>,
}

impl Recovery {
    pub(crate) fn new() -> Self {
        Self {
            phase: Phase::Open,
            method: LossRecovery::NewReno,
            recover: Mark::START,
            duplicates: 0,
            threshold: DUP_THRESH,
            credit: 0,
            fast_retransmit: false,
            overtaken: 0,
            hole_from: Mark::START,
            rescue_due: false,
            limited: 0,
            new_segments: 0,
            late: false,
            keeps_window: false,
            tail_probe: None,
            detectors: Detectors::default(),
            rack: Rack::default(),
            prr: None,
            blamed: None,
        }
    }

    /// Back to normal.
    pub(crate) fn close(&mut self) {
        self.phase = Phase::Open;
        self.duplicates = 0;
        self.credit = 0;
        self.fast_retransmit = false;
        self.rescue_due = false;
        self.limited = 0;
        self.keeps_window = false;
        self.prr = None;
    }

    /// Fast recovery begins, for losses in what was sent up to `recover`. `una` is SND.UNA, `sacked` how many segments
    /// are SACKed.
    pub(crate) fn enter_fast(&mut self, recover: Mark, una: Mark, sacked: u32) {
        self.phase = Phase::Fast;
        self.recover = recover;
        self.fast_retransmit = true;
        self.hole_from = una;
        self.rescue_due = true;
        self.overtaken = sacked.max(self.duplicates);
    }

    /// Recovery after a timeout begins, of what was sent up to `recover`.
    pub(crate) fn enter_timeout(&mut self, recover: Mark) {
        self.close();
        self.phase = Phase::Timeout;
        self.recover = recover;
        self.fast_retransmit = true;
    }

    /// Proof that segments arrive this much out of order.
    pub(crate) fn raise_threshold(&mut self, segments: u32) {
        self.threshold = self.threshold.max(segments).min(MAX_DUP_THRESH);
    }
}
