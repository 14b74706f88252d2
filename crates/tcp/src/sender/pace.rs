//! Pacing, and the samples for a controller that models the path. They cost senders nothing that have neither.

use super::Sender;
use crate::config::WindowOwner;
use crate::context::Context;
use crate::send::queue::Lost;
use crate::send::{Delivery, Pace, Path};
use crate::state::State;
use ropewalk_congestion::LossRange;
use ropewalk_units::{Duration, Instant, Rate, Seq};

impl Sender {
    /// How fast packets leave when they are paced: what the model says, or Linux's share of cwnd per SRTT. `None`: as
    /// fast as they can, since no round-trip time is known.
    pub(super) fn pace_rate(&self) -> Option<Rate> {
        if self.controller.models_path() {
            return Some(self.controller.pacing_rate(Duration::ZERO));
        }
        self.rtt.srtt().map(|srtt| self.controller.pacing_rate(srtt))
    }

    /// Must data wait for its departure time?
    pub(super) fn is_held_by_pacer(&self, cx: &Context) -> bool {
        self.pace.as_ref().is_some_and(|pace| pace.pacer.holds(cx.now))
    }

    /// Of `space` octets, what the burst at hand has room for, in whole segments.
    #[cold]
    fn pacer_room(&self, cx: &Context, pace: &Pace, space: u32) -> u32 {
        let Some(rate) = self.pace_rate() else { return space };
        let room = pace.pacer.room(cx.now, self.controller.send_quantum(rate));
        space.min(room.div_ceil(self.smss).saturating_mul(self.smss))
    }

    /// Of `space` octets, what pacing lets out now.
    pub(super) fn paced_space(&self, cx: &Context, space: u32) -> u32 {
        match &self.pace {
            None => space,
            Some(pace) => self.pacer_room(cx, pace, space),
        }
    }

    /// A packet of `size` octets of sequence space, `len` of them data, is about to leave, and ends before `end`.
    pub(super) fn pace_departure(&mut self, cx: &Context, end: Seq, size: u32, len: u32) {
        if self.pace.is_some() {
            self.depart(cx, end, size, len);
        }
    }

    #[inline(never)]
    fn depart(&mut self, cx: &Context, end: Seq, size: u32, len: u32) {
        let inflight = self.pipe();
        let (now, una) = (cx.now, self.una);
        let idle = self.pace.as_ref().and_then(|pace| pace.path.as_ref());
        if inflight == 0 && idle.is_some_and(|path| path.sampler.is_app_limited()) {
            self.controller.on_restart_from_idle(now);
        }
        let rate = self.pace_rate();
        let quantum = rate.map_or(0, |rate| self.controller.send_quantum(rate));
        let Some(pace) = &mut self.pace else { return };
        if let Some(path) = &mut pace.path {
            path.forget(una);
            let state = path.sampler.on_sent(now, inflight, size);
            path.sent(end, state);
        }
        if let Some(rate) = rate.filter(|_| len > 0) {
            pace.pacer.on_sent(now, len, rate, quantum);
            if pace.pacer.holds(now) {
                self.timers.start_pacing(pace.pacer.next_send_time());
            }
        }
    }

    /// CheckIfApplicationLimited (draft-ietf-ccwg-bbr): nothing to send, though cwnd and pacing would let it out. A
    /// subflow's owner has had its turn only after the departure time.
    pub(super) fn check_app_limited(&mut self, cx: &Context) {
        if let Some(pace) = &self.pace
            && pace.path.is_some()
        {
            let waits = cx.now <= pace.pacer.next_send_time();
            self.mark_if_app_limited(cx, waits);
        }
    }

    #[inline(never)]
    fn mark_if_app_limited(&mut self, cx: &Context, waits: bool) {
        let inflight = self.pipe();
        let owner_waits = waits && cx.config.window_owner == WindowOwner::Shared;
        let limited = self.stream.unsent() == 0
            && inflight < self.controller.cwnd()
            && !self.queue.wants_retransmission()
            && !owner_waits
            && matches!(cx.state, State::Established | State::CloseWait);
        if limited && let Some(path) = self.path_mut() {
            path.sampler.mark_app_limited(inflight);
        }
    }

    /// What measures the delivery rate of a controller that models the path.
    #[cfg(test)]
    pub(crate) fn sampler(&self) -> ropewalk_congestion::RateSampler {
        self.pace.as_ref().and_then(|pace| pace.path.as_ref()).expect("a model").sampler
    }

    fn path_mut(&mut self) -> Option<&mut Path> {
        self.pace.as_mut()?.path.as_mut()
    }

    /// A plain ACK delivered `octets`.
    pub(super) fn sample_plain(&mut self, cx: &Context, octets: u32) {
        if self.pace.is_some() {
            self.sample_rate(cx, octets, None);
        }
    }

    /// An ACK delivered what `delivery` says.
    pub(super) fn sample_delivery(&mut self, cx: &Context, delivery: &Delivery) {
        if self.pace.is_some() {
            self.sample_rate(cx, delivery.delivered, Some(delivery));
        }
    }

    /// Takes the rate sample of an ACK; [`Self::feed_model`] hands it over.
    #[inline(never)]
    fn sample_rate(&mut self, cx: &Context, octets: u32, delivery: Option<&Delivery>) {
        let (now, una) = (cx.now, self.una);
        let min_rtt = self.rtt.min().unwrap_or(Duration::ZERO);
        let Some(path) = self.path_mut() else { return };
        let newest = match delivery {
            None => path.forget(una),
            Some(delivery) => delivery.latest.and_then(|(_, end)| path.packet(end).copied()),
        };
        path.forget(una);
        let mut sample = path.sampler.on_acked(now, octets, newest.as_ref(), min_rtt);
        // Karn's rule: what was sent again tells no round-trip time.
        sample.rtt = match delivery {
            None => newest.map(|packet| now.saturating_since(packet.send_time)),
            Some(delivery) => {
                (delivery.newest != Instant::MAX).then(|| now.saturating_since(delivery.newest))
            }
        };
        path.sample = Some(sample);
    }

    /// The losses that were found, and then the ACK's sample, go to the model.
    pub(crate) fn feed_model(&mut self, cx: &Context) {
        if self.pace.is_some() {
            self.sample_model(cx);
        }
    }

    #[inline(never)]
    fn sample_model(&mut self, cx: &Context) {
        let now = cx.now;
        let lost = self.queue.take_lost();
        let Some(path) = self.pace.as_mut().and_then(|pace| pace.path.as_mut()) else { return };
        for Lost { seq, len } in lost {
            let end = seq + len;
            let goes_on = path.lost_end.replace(end) == Some(seq);
            let range = if goes_on { LossRange::GoesOn } else { LossRange::Begins };
            let packet = path.packet(end).copied();
            let lost = path.sampler.on_lost(len, packet.as_ref(), range);
            self.controller.on_lost(now, &lost);
        }
        let Some(mut sample) = path.sample.take() else { return };
        sample.inflight = self.pipe();
        sample.is_cwnd_limited = self.usage.is_limited();
        self.controller.on_sample(now, &sample);
        if self.controller.limits_itself()
            && let Some(path) = self.path_mut()
        {
            // ProbeRTT: low samples say nothing about the path.
            path.sampler.mark_app_limited(sample.inflight);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use ropewalk_congestion::CongestionControl;
    use ropewalk_wire::Payload;
    use std::sync::Arc;

    /// draft-ietf-ccwg-bbr, P.tx_in_flight: what is on its way when a packet has left, itself included.
    #[test]
    fn a_packet_counts_among_what_is_on_its_way_with_it() {
        let now = Instant::ZERO + Duration::from_millis(100);
        let (window_owner, congestion_control) = (WindowOwner::Shared, CongestionControl::Bbr);
        let config = Arc::new(Config { window_owner, congestion_control, mss: 1000, ..Config::linux() });
        let mut sender = Sender::new(&config, Seq::new(1), now);
        let mut cx = Context::new(config, State::Established, now);
        sender.push(&cx, Payload { offset: 0, len: 2000 });
        for sent in [1000, 2000] {
            sender.next_segment(&mut cx).expect("a segment");
            let path = sender.path_mut().expect("a model");
            let packet = path.packet(Seq::new(1) + sent).copied();
            let mut sampler = path.sampler;
            assert_eq!(sampler.on_acked(now, 0, packet.as_ref(), Duration::ZERO).tx_in_flight, sent);
        }
    }
}
