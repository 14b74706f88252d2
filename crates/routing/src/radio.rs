//! Radios: what routes over several channels are judged by.

use crate::assignment::Assignment;
use crate::error::RoutingError;
use crate::multichannel::Metric;
use serde::Serialize;

/// More channels than any band has.
const MOST_CHANNELS: u32 = 256;

/// The radios over which routes are judged, and by which they may be chosen.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Radio {
    /// Number of orthogonal channels, which are called 0, 1, … unless the deployment's nodes have theirs.
    pub channels: u32,
    /// Which channel each hop uses.
    pub assignment: Assignment,
    /// With [`Assignment::Radios`]: radios per node, on different channels drawn from the seed, where the deployment
    /// does not say which radios its nodes have.
    pub radios: u32,
    /// By what the greedy algorithms choose routes.
    pub metric: Metric,
    /// Interference range over transmission range.
    #[serde(rename = "interference_ratio")]
    pub interference: f64,
    /// Bits per second.
    pub bit_rate: f64,
    /// Octets of the frame that ETT is about.
    pub frame_octets: u32,
    /// Probability that a frame arrives over one link, in each direction.
    pub delivery: f64,
    /// Probability that a frame is lost in each direction at the end of the range, beside that; nearer by it is this
    /// times (distance / range) to the power of `edge_exponent`. For links of which the deployment does not say it.
    pub edge_loss: f64,
    /// How steeply the loss grows with distance.
    pub edge_exponent: f64,
    /// β of WCETT, from 0 to 1.
    pub beta: f64,
    /// w1 of MIC: the cost of changing the channel at a node.
    pub switch_cost: f64,
    /// w2 of MIC: the cost of keeping it.
    pub stay_cost: f64,
}

impl Default for Radio {
    /// One channel and one radio, routes by hops, interference twice as far as reception. 11 Mbit/s, frames of 1500
    /// octets, no losses (else by the fourth power of the distance). β = 0.5, w1 = 0.5, w2 = 1.
    fn default() -> Self {
        Self {
            channels: 1,
            assignment: Assignment::PerRoute,
            radios: 1,
            metric: Metric::Hops,
            interference: 2.0,
            bit_rate: 11e6,
            frame_octets: 1500,
            delivery: 1.0,
            edge_loss: 0.0,
            edge_exponent: 4.0,
            beta: 0.5,
            switch_cost: 0.5,
            stay_cost: 1.0,
        }
    }
}

impl Radio {
    /// The probability that a frame arrives over a link of this part of the range, in each direction. What is farther
    /// than the range counts as at its end.
    pub fn delivery_at(&self, part: f64) -> f64 {
        self.delivery * (1.0 - self.edge_loss * libm::pow(part.clamp(0.0, 1.0), self.edge_exponent))
    }

    pub(crate) fn validate(&self) -> Result<(), RoutingError> {
        let ok = [
            ("channels", (1..=MOST_CHANNELS).contains(&self.channels), "must be from 1 to 256"),
            (
                "radios",
                (1..=self.channels).contains(&self.radios),
                "must be at least 1, and not more than channels",
            ),
            ("bit-rate", self.bit_rate > 0.0 && self.bit_rate.is_finite(), "must be positive"),
            ("frame", self.frame_octets >= 1, "must be at least 1 octet"),
            ("delivery", self.delivery > 0.0 && self.delivery <= 1.0, "must be above 0 and at most 1"),
            ("edge-loss", (0.0..1.0).contains(&self.edge_loss), "must be at least 0 and below 1"),
            (
                "edge-exponent",
                self.edge_exponent >= 0.0 && self.edge_exponent.is_finite(),
                "must be at least 0",
            ),
            ("beta", (0.0..=1.0).contains(&self.beta), "must be from 0 to 1"),
            (
                "switch-cost",
                self.switch_cost >= 0.0 && self.stay_cost > self.switch_cost && self.stay_cost <= 1e6,
                "must be at least 0 and below the cost of staying, which is at most a million",
            ),
        ];
        match ok.iter().find(|(_, holds, _)| !holds) {
            Some((key, _, message)) => Err(RoutingError::setting(key, *message)),
            None => self.assignment.validate(self.channels),
        }
    }
}
