//! Delivery-rate samples (draft-ietf-ccwg-bbr, "Delivery Rate Samples"): what the network delivered between a packet's
//! departure and its acknowledgement.

use crate::signals::LossRange;
use ropewalk_units::{Duration, Instant};

/// P: what is remembered of a packet on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketState {
    /// When it left.
    pub send_time: Instant,
    first_send_time: Instant,
    delivered_time: Instant,
    delivered: u64,
    lost: u64,
    pub(crate) tx_in_flight: u32,
    is_app_limited: bool,
}

/// RS: what one ACK tells of the path. Volumes in octets.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct RateSample {
    /// The ACK acknowledged a packet from which a sample can be taken; the fields of that packet follow.
    pub has_packet: bool,
    /// Octets per second; 0 if the interval was too short to tell.
    pub delivery_rate: f64,
    /// Delivered over the sampling interval.
    pub delivered: u64,
    /// How long the departures of what was delivered over the interval took.
    pub send_elapsed: Duration,
    /// How long its delivery took. The interval is the longer of the two.
    pub ack_elapsed: Duration,
    /// C.delivered when the packet left.
    pub prior_delivered: u64,
    /// C.inflight when the packet left, itself included.
    pub tx_in_flight: u32,
    /// Deemed lost since the packet left.
    pub lost: u64,
    /// The sender had nothing to send at some moment of the interval.
    pub is_app_limited: bool,
    /// The round-trip time of the newest packet acknowledged, if it can be told.
    pub rtt: Option<Duration>,
    /// C.delivered: delivered since the beginning.
    pub total_delivered: u64,
    /// Newly acknowledged by this ACK, cumulatively or selectively.
    pub newly_acked: u32,
    /// C.inflight after the ACK.
    pub inflight: u32,
    /// cwnd was used up at some moment of the last round trip.
    pub is_cwnd_limited: bool,
}

/// A packet that was just deemed lost.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LostPacket {
    /// Octets.
    pub size: u32,
    /// C.inflight when it left, itself included.
    pub tx_in_flight: u32,
    /// Deemed lost since it left, itself included.
    pub lost: u64,
    /// C.delivered when it left; 0 if that is not known.
    pub prior_delivered: u64,
    /// It left while the sender had nothing more to send.
    pub is_app_limited: bool,
    /// C.delivered.
    pub total_delivered: u64,
    /// Does it follow directly on the last packet that was lost?
    pub range: LossRange,
}

/// C: the sampler's state of one connection or path.
#[derive(Clone, Copy, Debug)]
pub struct RateSampler {
    delivered: u64,
    delivered_time: Instant,
    first_send_time: Instant,
    lost: u64,
    /// C.app_limited: samples are limited by the application until this many octets are delivered; 0 is never.
    app_limited: u64,
}

impl RateSampler {
    /// Nothing was sent yet.
    pub fn new(now: Instant) -> Self {
        Self { delivered: 0, delivered_time: now, first_send_time: now, lost: 0, app_limited: 0 }
    }

    /// C.delivered.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Is the sender within a phase that the application limits?
    pub fn is_app_limited(&self) -> bool {
        self.app_limited != 0
    }

    /// OnPacketSent: a packet leaves, `before` octets being on their way and `size` more with it.
    pub fn on_sent(&mut self, now: Instant, before: u32, size: u32) -> PacketState {
        if before == 0 {
            self.first_send_time = now;
            self.delivered_time = now;
        }
        PacketState {
            send_time: now,
            first_send_time: self.first_send_time,
            delivered_time: self.delivered_time,
            delivered: self.delivered,
            lost: self.lost,
            tx_in_flight: before.saturating_add(size),
            is_app_limited: self.app_limited != 0,
        }
    }

    /// MarkConnectionAppLimited, with C.inflight.
    pub fn mark_app_limited(&mut self, inflight: u32) {
        self.app_limited = (self.delivered + u64::from(inflight)).max(1);
    }

    /// UpdateRateSample and GenerateRateSample for one ACK: it newly acknowledges `octets`, the packet sent last
    /// among them is `newest` (`None` where it cannot be told).
    pub fn on_acked(
        &mut self,
        now: Instant,
        octets: u32,
        newest: Option<&PacketState>,
        min_rtt: Duration,
    ) -> RateSample {
        self.delivered += u64::from(octets);
        self.delivered_time = now;
        let mut sample =
            RateSample { newly_acked: octets, total_delivered: self.delivered, ..RateSample::default() };
        if let Some(packet) = newest {
            self.sample(packet, min_rtt, &mut sample);
            self.first_send_time = packet.send_time;
        }
        // The bubble is acknowledged and gone.
        if self.app_limited != 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        sample
    }

    fn sample(&self, packet: &PacketState, min_rtt: Duration, sample: &mut RateSample) {
        sample.has_packet = true;
        sample.prior_delivered = packet.delivered;
        sample.tx_in_flight = packet.tx_in_flight;
        sample.lost = self.lost - packet.lost;
        sample.is_app_limited = packet.is_app_limited;
        sample.delivered = self.delivered - packet.delivered;
        // The longer of the two: data cannot have been delivered faster than it was sent.
        let send_elapsed = packet.send_time.saturating_since(packet.first_send_time);
        let ack_elapsed = self.delivered_time.saturating_since(packet.delivered_time);
        (sample.send_elapsed, sample.ack_elapsed) = (send_elapsed, ack_elapsed);
        let interval = send_elapsed.max(ack_elapsed);
        if interval >= min_rtt && interval > Duration::ZERO {
            sample.delivery_rate = sample.delivered as f64 / interval.as_secs_f64();
        }
    }

    /// A packet of `size` octets is deemed lost; `state` is what was remembered of its last transmission.
    pub fn on_lost(&mut self, size: u32, state: Option<&PacketState>, range: LossRange) -> LostPacket {
        self.lost += u64::from(size);
        LostPacket {
            size,
            tx_in_flight: state.map_or(size, |state| state.tx_in_flight),
            lost: state.map_or(u64::from(size), |state| self.lost - state.lost),
            prior_delivered: state.map_or(0, |state| state.delivered),
            is_app_limited: state.is_some_and(|state| state.is_app_limited),
            total_delivered: self.delivered,
            range,
        }
    }
}
