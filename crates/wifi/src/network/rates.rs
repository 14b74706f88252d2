//! At which rate the frame in service is sent.

use super::Network;
use crate::config::RateControl;
use crate::frame::BROADCAST;
use crate::minstrel::{Minstrel, TxStatus};
use crate::phy::Rate;
use ropewalk_units::Instant;

impl Network {
    /// The rate of a new frame's first attempt.
    #[inline]
    pub(super) fn first_rate(&mut self, now: Instant, index: u32, to: u32) -> Rate {
        let radio = &self.radios[index as usize];
        if to == BROADCAST {
            return radio.broadcast_rate();
        }
        match radio.mac.rate {
            RateControl::Fixed(rate) => rate,
            RateControl::Minstrel { .. } => self.plan(now, index, to),
        }
    }

    #[inline(never)]
    fn plan(&mut self, now: Instant, index: u32, to: u32) -> Rate {
        let place = self.radios[index as usize].planners.iter().position(|(other, _)| *other == to);
        if place.is_none() {
            let planner = self.planner(index, to);
            self.radios[index as usize].planners.push((to, planner));
        }
        let radio = &mut self.radios[index as usize];
        let place = place.unwrap_or(radio.planners.len() - 1);
        let chain = radio.planners[place].1.plan(now);
        let rate = chain.rate(0);
        radio.plan = Some(chain);
        rate
    }

    fn planner(&self, index: u32, to: u32) -> Minstrel {
        let radio = &self.radios[index as usize];
        let rates = match radio.mac.rate {
            RateControl::Minstrel { rates } => rates,
            RateControl::Fixed(_) => radio.mac.standard.rates(),
        };
        let name = |radio: u32| &self.stations[self.radios[radio as usize].station as usize].name;
        let channel = radio.channel.number();
        let stream = self.streams.stream(&format!("wifi/{}/{channel}/minstrel/{}", name(index), name(to)));
        Minstrel::new(radio.mac.standard, rates, radio.mac.basic_rates, stream)
    }

    /// The rate of the next attempt, after a failed one.
    pub(super) fn choose_next_rate(&mut self, index: u32) {
        let radio = &mut self.radios[index as usize];
        if let (Some(chain), Some(current)) = (&radio.plan, &mut radio.current) {
            current.rate = chain.rate(current.attempts);
        }
    }

    /// Tells rate control how the service of a frame has ended.
    #[inline]
    pub(super) fn report(&mut self, index: u32, status: TxStatus) {
        let radio = &mut self.radios[index as usize];
        if let (Some(chain), Some(current)) = (radio.plan.take(), &radio.current)
            && let Some((_, planner)) = radio.planners.iter_mut().find(|(to, _)| *to == current.to)
        {
            planner.report(&chain, current.attempts, status);
        }
    }
}
