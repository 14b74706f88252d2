//! The model of the path: its bandwidth, in the long and in the short term, and how much may be on its way.

use super::volume::octets;
use super::{BETA, UNBOUNDED};
use crate::rate_sample::RateSample;

/// The network path model's parameters. Rates in octets per second, volumes in octets.
#[derive(Clone, Debug)]
pub(super) struct Model {
    /// BBR.max_bw_filter: the largest rate of the ProbeBW cycle before and of this one.
    max_bw_filter: [f64; 2],
    pub(super) bw_shortterm: f64,
    bw: f64,
    pub(super) inflight_longterm: u32,
    pub(super) inflight_shortterm: u32,
    /// The largest of one round.
    bw_latest: f64,
    inflight_latest: u64,
    loss_round_delivered: u64,
    loss_round_start: bool,
    is_loss_in_round: bool,
}

impl Model {
    pub(super) fn new() -> Self {
        Self {
            max_bw_filter: [0.0; 2],
            bw_shortterm: f64::INFINITY,
            bw: 0.0,
            inflight_longterm: UNBOUNDED,
            inflight_shortterm: UNBOUNDED,
            bw_latest: 0.0,
            inflight_latest: 0,
            loss_round_delivered: 0,
            loss_round_start: false,
            is_loss_in_round: false,
        }
    }

    /// BBR.max_bw.
    pub(super) fn max_bw(&self) -> f64 {
        self.max_bw_filter[0].max(self.max_bw_filter[1])
    }

    /// BBR.bw.
    pub(super) fn bw(&self) -> f64 {
        self.bw
    }

    /// UpdateMaxBw: what the application limited counts only if it is more than was known.
    pub(super) fn update_max_bw(&mut self, sample: &RateSample) {
        let counts = !sample.is_app_limited || sample.delivery_rate >= self.max_bw();
        if sample.delivery_rate > 0.0 && counts {
            self.max_bw_filter[1] = self.max_bw_filter[1].max(sample.delivery_rate);
        }
    }

    /// AdvanceMaxBwFilter. A cycle without a sample is none.
    pub(super) fn advance_max_bw_filter(&mut self) {
        if self.max_bw_filter[1] > 0.0 {
            self.max_bw_filter = [self.max_bw_filter[1], 0.0];
        }
    }

    /// BoundBWForModel.
    pub(super) fn bound_bw(&mut self) {
        self.bw = self.max_bw().min(self.bw_shortterm);
    }

    /// UpdateLatestDeliverySignals.
    pub(super) fn update_latest_delivery_signals(&mut self, sample: &RateSample) {
        self.loss_round_start = false;
        self.bw_latest = self.bw_latest.max(sample.delivery_rate);
        self.inflight_latest = self.inflight_latest.max(sample.delivered);
        if sample.has_packet && sample.prior_delivered >= self.loss_round_delivered {
            self.loss_round_delivered = sample.total_delivered;
            self.loss_round_start = true;
        }
    }

    /// AdvanceLatestDeliverySignals.
    pub(super) fn advance_latest_delivery_signals(&mut self, sample: &RateSample) {
        if self.loss_round_start {
            self.bw_latest = sample.delivery_rate;
            self.inflight_latest = sample.delivered;
        }
    }

    /// Did a round trip end, counted from the first loss in it?
    pub(super) fn loss_round_start(&self) -> bool {
        self.loss_round_start
    }

    /// What was delivered in one round trip, at the most.
    pub(super) fn inflight_latest(&self) -> u32 {
        u32::try_from(self.inflight_latest).unwrap_or(UNBOUNDED)
    }

    /// The first loss of a round opens the round that its consequences are counted in. True if it is the first.
    pub(super) fn note_loss(&mut self, delivered: u64) -> bool {
        let first = !self.is_loss_in_round;
        if first {
            self.loss_round_delivered = delivered;
        }
        self.is_loss_in_round = true;
        first
    }

    pub(super) fn end_loss_round(&mut self) {
        self.is_loss_in_round = false;
    }

    /// ResetCongestionSignals.
    pub(super) fn reset_congestion_signals(&mut self) {
        self.is_loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0;
    }

    /// ResetShortTermModel.
    pub(super) fn reset_short_term(&mut self) {
        self.bw_shortterm = f64::INFINITY;
        self.inflight_shortterm = UNBOUNDED;
    }

    /// AdaptLowerBoundsFromCongestion: a round with losses, while not probing, pulls the short-term bounds towards
    /// what was delivered in it.
    pub(super) fn adapt_lower_bounds(&mut self, cwnd: u32) {
        if !self.is_loss_in_round {
            return;
        }
        // InitLowerBounds.
        if self.bw_shortterm == f64::INFINITY {
            self.bw_shortterm = self.max_bw();
        }
        if self.inflight_shortterm == UNBOUNDED {
            self.inflight_shortterm = cwnd;
        }
        // LossLowerBounds.
        self.bw_shortterm = self.bw_latest.max(BETA * self.bw_shortterm);
        let reduced = octets(BETA * f64::from(self.inflight_shortterm));
        self.inflight_shortterm = self.inflight_latest().max(reduced);
    }
}
