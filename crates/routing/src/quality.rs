//! How good single links are, where somebody knows.

use crate::metrics::etx;
use std::collections::BTreeMap;

/// What is known of one link.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LinkQuality {
    /// Transmissions that a frame needs until it is acknowledged.
    pub etx: Option<f64>,
    /// Bits per second.
    pub bit_rate: Option<f64>,
}

/// The quality of links (lower node, higher node); unknown ones are left out.
pub type LinkQualities = BTreeMap<(u32, u32), LinkQuality>;

/// What a file may say of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SaidOfLink {
    pub(crate) etx: Option<f64>,
    /// Of frames in each direction, instead of `etx`.
    pub(crate) loss: Option<f64>,
    pub(crate) rate_mbps: Option<f64>,
}

impl SaidOfLink {
    /// The quality; `None` when nothing is said.
    ///
    /// # Errors
    /// A value that cannot be, in words.
    pub(crate) fn quality(self) -> Result<Option<LinkQuality>, String> {
        let by_loss = match (self.etx, self.loss) {
            (Some(_), Some(_)) => return Err("etx and loss say the same: give one of them".to_owned()),
            (Some(etx), None) if !(1.0..f64::INFINITY).contains(&etx) => {
                return Err(format!("etx must be a number of transmissions, at least 1, not {etx}"));
            }
            (None, Some(loss)) if !(0.0..1.0).contains(&loss) => {
                return Err(format!("loss must be a probability, at least 0 and below 1, not {loss}"));
            }
            (etx, None) => etx,
            (None, Some(loss)) => Some(etx(1.0 - loss, 1.0 - loss)),
        };
        if let Some(rate) = self.rate_mbps.filter(|rate| !(*rate > 0.0 && rate.is_finite())) {
            return Err(format!("rate_mbps must be a positive number of Mbit/s, not {rate}"));
        }
        let bit_rate = self.rate_mbps.map(|rate| rate * 1e6);
        Ok((by_loss.is_some() || bit_rate.is_some()).then_some(LinkQuality { etx: by_loss, bit_rate }))
    }
}

/// Links and what is said of them, as a file has them.
#[derive(Default)]
pub(crate) struct Links {
    pub(crate) ends: Vec<(u32, u32)>,
    pub(crate) qualities: LinkQualities,
}

impl Links {
    /// One link more.
    ///
    /// # Errors
    /// As [`SaidOfLink::quality`], and when something else was said of the same link before.
    pub(crate) fn push(&mut self, (from, to): (u32, u32), said: SaidOfLink) -> Result<(), String> {
        self.ends.push((from, to));
        let Some(quality) = said.quality()? else { return Ok(()) };
        let known = self.qualities.insert((from.min(to), from.max(to)), quality);
        if known.is_some_and(|known| known != quality) {
            return Err("the link is given twice, with two qualities".to_owned());
        }
        Ok(())
    }
}
