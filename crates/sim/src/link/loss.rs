//! Loss on the medium.

use super::streams::LinkStreams;
use crate::config::Loss;
use ropewalk_units::Probability;
use std::sync::Arc;

/// A loss model at work.
pub(super) enum LossProcess {
    None,
    Bernoulli(f64),
    /// ln(1 - p) of a bit.
    BitErrors(f64),
    GilbertElliott {
        leave: [f64; 2],
        loss: [f64; 2],
        /// 0: good, 1: bad.
        state: usize,
    },
    /// Sorted.
    Exact {
        packets: Arc<[u64]>,
        seen: u64,
        next: usize,
    },
}

impl LossProcess {
    pub(super) fn new(loss: Loss) -> Self {
        match loss {
            Loss::None => Self::None,
            Loss::Bernoulli(p) => Self::Bernoulli(p.get()),
            Loss::BitErrors(p) => Self::BitErrors(libm::log1p(-p.get())),
            Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => Self::GilbertElliott {
                leave: [good_to_bad, bad_to_good].map(Probability::get),
                loss: [loss_good, loss_bad].map(Probability::get),
                state: 0,
            },
            Loss::Exact(packets) => {
                let packets = if packets.is_sorted() {
                    packets
                } else {
                    let mut sorted = packets.to_vec();
                    sorted.sort_unstable();
                    sorted.into()
                };
                Self::Exact { packets, seen: 0, next: 0 }
            }
        }
    }

    /// Does a packet that now leaves the transmitter get lost?
    pub(super) fn loses(
        &mut self,
        bytes: u32,
        is_data: impl FnOnce() -> bool,
        streams: &mut LinkStreams,
    ) -> bool {
        // Tested by itself, so that most links take a branch that is always the same.
        !matches!(self, Self::None) && self.draw(bytes, is_data, streams)
    }

    #[inline(never)]
    fn draw(&mut self, bytes: u32, is_data: impl FnOnce() -> bool, streams: &mut LinkStreams) -> bool {
        match self {
            Self::None => false,
            Self::Bernoulli(p) => streams.loss().bernoulli(*p),
            // A packet survives if each of its bits does: (1 - p)^bits.
            Self::BitErrors(ln_keep) => {
                let p = -libm::expm1(f64::from(bytes) * 8.0 * *ln_keep);
                streams.loss().bernoulli(p)
            }
            // Two draws for every packet, whatever the state. Gilbert 1960, Elliott 1963: move, then lose.
            Self::GilbertElliott { leave, loss, state } => {
                if streams.loss().bernoulli(leave[*state]) {
                    *state = 1 - *state;
                }
                streams.loss().bernoulli(loss[*state])
            }
            Self::Exact { packets, seen, next } => {
                if !is_data() {
                    return false;
                }
                *seen += 1;
                // A number below (0, or one given twice) must not hold up the rest.
                while packets.get(*next).is_some_and(|number| number < seen) {
                    *next += 1;
                }
                packets.get(*next) == Some(seen)
            }
        }
    }
}

#[cfg(test)]
mod tests;
