//! A radio and its MAC: the state of the distributed coordination function, and when it may send.

use crate::backoff::Backoff;
use crate::carrier::Carrier;
use crate::config::{AccessAfterReception, MacConfig};
use crate::engine::Engine;
use crate::minstrel::{Minstrel, RetryChain};
use crate::phy::{self, Rate, Timing};
use crate::propagation::Channel;
use crate::queue::{InterfaceQueue, Queued};
use crate::stats::{HopStats, RadioStats};
use crate::token::Token;
use ropewalk_sim::{PacketId, Stream};
use ropewalk_units::{Duration, Instant};

/// Who makes the medium busy for a radio.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Transmitter {
    Itself,
    Another,
}

/// Where a radio is in its own frame exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Nothing to send.
    Idle,
    /// A frame waits for the medium.
    Contending,
    SendingRts,
    AwaitingCts,
    /// The CTS has come; data follow after SIFS.
    Cleared,
    SendingData,
    AwaitingAck,
}

/// The frame in service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing {
    /// `None` once the next hop has received it, although the ACK may still be awaited.
    pub(crate) packet: Option<PacketId>,
    pub(crate) octets: u32,
    pub(crate) entry: u32,
    pub(crate) to: u32,
    pub(crate) since: Instant,
    pub(crate) sequence: u16,
    /// Failures that count against the short retry limit, and the long one.
    pub(crate) short_failures: u32,
    pub(crate) long_failures: u32,
    /// Times the data frame was sent.
    pub(crate) attempts: u32,
    pub(crate) rate: Rate,
}

/// The frame a radio receives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Locked {
    pub(crate) transmission: u32,
    pub(crate) power_mw: f64,
    /// The largest sum of all other signals so far.
    pub(crate) interference_mw: f64,
    pub(crate) since: Instant,
}

/// A signal on the air at a radio.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heard {
    pub(crate) transmission: u32,
    pub(crate) power_mw: f64,
    pub(crate) is_sensed: bool,
}

/// What a radio will send a SIFS after a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AfterSifs {
    Ack { to: u32, rate: Rate },
    Cts { to: u32, rate: Rate, reserved: Duration },
    Data,
}

pub(crate) struct Radio {
    pub(crate) carrier: Carrier,
    pub(crate) backoff: Backoff,
    pub(crate) phase: Phase,
    /// When it may send; [`Instant::MAX`] while it may not.
    access_at: Instant,
    /// Time of the earliest pending access event. It is not moved when access is put off: the event
    /// then asks again.
    armed: Instant,
    pub(crate) sending: Option<u32>,
    pub(crate) locked: Option<Locked>,
    pub(crate) heard: Vec<Heard>,
    pub(crate) current: Option<Outgoing>,
    pub(crate) after_sifs: Option<AfterSifs>,
    /// When the response to its frame is overdue; [`Instant::MAX`]: none is awaited.
    pub(crate) timeout_at: Instant,
    /// A frame was coming in at that time: it may be the response.
    pub(crate) timeout_deferred: bool,
    pub(crate) queue: InterfaceQueue,
    pub(crate) sequence: u16,
    /// The last sequence number received from each radio (IEEE 802.11-2020 §10.3.2.14.3).
    pub(crate) received: Vec<(u32, u16)>,
    /// Frame errors of what comes in: radio it comes from, index of the process.
    pub(crate) incoming_errors: Vec<(u32, u32)>,
    /// When the last reception ended.
    pub(crate) received_at: Instant,
    /// The frame in service takes no backoff for its first attempt, see
    /// [`AccessAfterReception::Immediate`].
    waives_backoff: bool,
    /// When the last reception began. A NAV set by an RTS before it is not reset.
    pub(crate) last_preamble: Instant,
    /// Of the last RTS that reserved the medium: its end, the NAV that it set, the NAV before it,
    /// and when the NAV may be reset.
    pub(crate) rts_heard_at: Instant,
    pub(crate) rts_nav: Instant,
    pub(crate) nav_before_rts: Instant,
    pub(crate) nav_reset_at: Instant,
    pub(crate) station: u32,
    /// The entry by which broadcasts come and go; `None`: they are ignored.
    pub(crate) broadcast_entry: Option<u32>,
    pub(crate) channel: Channel,
    pub(crate) timing: Timing,
    pub(crate) eifs: Duration,
    pub(crate) mac: MacConfig,
    pub(crate) stats: RadioStats,
    /// What became of the frames to each radio that frames were sent to.
    pub(crate) hops: Vec<(u32, HopStats)>,
    /// By how much it sends stronger than the model of propagation says, in dB.
    pub(crate) gain_db: f64,
    /// Draws fading and reception, if these are random.
    pub(crate) luck: Option<Box<Stream>>,
    /// Rate control for each neighbour that frames were sent to.
    pub(crate) planners: Vec<(u32, Minstrel)>,
    /// The rates of the frame in service, under rate control.
    pub(crate) plan: Option<RetryChain>,
    stream: Box<Stream>,
}

impl Radio {
    pub(crate) fn new(station: u32, channel: Channel, mac: MacConfig, stream: Stream) -> Self {
        let timing = mac.standard.timing();
        let (smallest, largest) = (mac.cw_min.unwrap_or(timing.cw_min), mac.cw_max.unwrap_or(timing.cw_max));
        Self {
            carrier: Carrier::new(),
            backoff: Backoff::new(smallest, largest, timing.slot),
            phase: Phase::Idle,
            access_at: Instant::MAX,
            armed: Instant::MAX,
            sending: None,
            locked: None,
            heard: Vec::new(),
            current: None,
            after_sifs: None,
            timeout_at: Instant::MAX,
            timeout_deferred: false,
            queue: InterfaceQueue::new(mac.queue),
            sequence: 0,
            received: Vec::new(),
            incoming_errors: Vec::new(),
            received_at: Instant::MAX,
            waives_backoff: false,
            last_preamble: Instant::ZERO,
            rts_heard_at: Instant::ZERO,
            rts_nav: Instant::ZERO,
            nav_before_rts: Instant::ZERO,
            nav_reset_at: Instant::MAX,
            station,
            broadcast_entry: None,
            channel,
            timing,
            eifs: phy::eifs(mac.standard),
            mac,
            stats: RadioStats::default(),
            hops: Vec::new(),
            gain_db: 0.0,
            luck: None,
            planners: Vec::new(),
            plan: None,
            stream: Box::new(stream),
        }
    }

    /// The medium becomes busy.
    #[inline]
    pub(crate) fn defer(&mut self, now: Instant, by: Transmitter) {
        if self.access_at == now && by == Transmitter::Another {
            // Its turn comes in this very instant: it cannot have sensed the other, and both will
            // send.
            return;
        }
        self.access_at = Instant::MAX;
        if self.phase == Phase::Contending {
            if self.backoff.is_under_way() {
                self.backoff.freeze(now);
            } else if !self.waives_backoff {
                // IEEE 802.11-2020 §10.3.4.2: busy before DIFS was over, so it takes a backoff.
                self.draw(now);
            }
        } else if self.backoff.has_run_out(now) {
            self.backoff.finish();
        } else {
            self.backoff.freeze(now);
        }
    }

    /// The medium has become idle.
    #[inline]
    pub(crate) fn resume(&mut self, index: u32, cx: &mut impl Engine) {
        if self.backoff.is_under_way() {
            self.backoff.resume(self.free_from(cx.now()));
            self.schedule(index, cx);
        } else if self.waives_backoff {
            self.schedule(index, cx);
        }
    }

    /// A frame has come to an idle MAC.
    #[inline]
    pub(crate) fn request(&mut self, index: u32, cx: &mut impl Engine) {
        let now = cx.now();
        self.phase = Phase::Contending;
        let is_taken = self.carrier.is_taken(now);
        if !is_taken && self.backoff.has_run_out(now) {
            self.backoff.finish();
        }
        if !self.backoff.is_under_way() {
            self.waives_backoff =
                self.mac.access_after_reception == AccessAfterReception::Immediate && self.received_at == now;
            if is_taken && !self.waives_backoff {
                self.draw(now);
            }
        }
        self.schedule(index, cx);
    }

    /// A new backoff from the present window.
    #[inline]
    pub(crate) fn draw(&mut self, now: Instant) {
        let slots = self.stream.range(self.backoff.choices()) as u32;
        let from = self.free_from(now);
        self.backoff.start(slots, from);
    }

    #[inline]
    fn free_from(&self, now: Instant) -> Instant {
        self.carrier.free_from(self.timing.difs).max(now)
    }

    /// If the medium is idle and a frame waits: it will be sent when DIFS and the backoff are over.
    #[inline]
    pub(crate) fn schedule(&mut self, index: u32, cx: &mut impl Engine) {
        if self.phase != Phase::Contending || self.carrier.is_busy() {
            return;
        }
        self.access_at =
            if self.backoff.is_under_way() { self.backoff.end() } else { self.free_from(cx.now()) };
        self.arm(index, cx);
    }

    /// The reservation ended early: slots count sooner.
    pub(crate) fn schedule_anew(&mut self, index: u32, cx: &mut impl Engine) {
        if !self.carrier.is_busy() {
            self.resume(index, cx);
        }
    }

    /// Has a frame begun after the RTS that reserved the medium last?
    pub(crate) fn has_heard_since_rts(&self) -> bool {
        self.last_preamble > self.rts_heard_at
    }

    /// No response is awaited any more.
    #[inline]
    pub(crate) fn stop_waiting(&mut self) {
        self.timeout_at = Instant::MAX;
        self.timeout_deferred = false;
    }

    #[inline]
    fn arm(&mut self, index: u32, cx: &mut impl Engine) {
        if self.access_at < self.armed {
            self.armed = self.access_at;
            cx.set_timer(self.access_at, Token::Access(index));
        }
    }

    /// An access event. Returns whether the radio sends now.
    #[inline]
    pub(crate) fn is_granted(&mut self, index: u32, cx: &mut impl Engine) -> bool {
        let now = cx.now();
        if self.armed == now {
            self.armed = Instant::MAX;
        }
        if self.access_at != now {
            self.arm(index, cx);
            return false;
        }
        debug_assert!(self.carrier.may_send(now, self.timing.difs), "a station sends although it must defer");
        self.access_at = Instant::MAX;
        self.waives_backoff = false;
        self.backoff.finish();
        true
    }

    /// The sum of what is heard, in mW.
    #[inline]
    pub(crate) fn interference(&self) -> f64 {
        if self.heard.is_empty() {
            return 0.0;
        }
        self.heard.iter().map(|heard| heard.power_mw).sum()
    }

    /// The sum of what is heard beside one transmission, in mW.
    #[inline]
    pub(crate) fn interference_beside(&self, transmission: u32) -> f64 {
        self.heard.iter().filter(|heard| heard.transmission != transmission).map(|heard| heard.power_mw).sum()
    }

    /// What became of the frames to another radio.
    #[inline]
    pub(crate) fn hop(&mut self, to: u32) -> &mut HopStats {
        let place = self.hops.iter().position(|(other, _)| *other == to).unwrap_or_else(|| {
            self.hops.push((to, HopStats::default()));
            self.hops.len() - 1
        });
        &mut self.hops[place].1
    }

    /// Notes a data frame from another radio. `false`: it was received before.
    #[inline]
    pub(crate) fn is_new(&mut self, from: u32, sequence: u16, is_retry: bool) -> bool {
        match self.received.iter_mut().find(|(other, _)| *other == from) {
            Some((_, last)) => {
                let is_new = !(is_retry && *last == sequence);
                *last = sequence;
                is_new
            }
            None => {
                self.received.push((from, sequence));
                true
            }
        }
    }

    /// Puts a packet into service.
    #[inline]
    pub(crate) fn serve(&mut self, queued: Queued, rate: Rate) {
        self.sequence = (self.sequence + 1) & 0xfff;
        self.current = Some(Outgoing {
            packet: Some(queued.packet),
            octets: queued.octets,
            entry: queued.entry,
            to: queued.to,
            since: queued.since,
            sequence: self.sequence,
            short_failures: 0,
            long_failures: 0,
            attempts: 0,
            rate,
        });
    }

    /// Has a packet waited longer than it may?
    #[inline]
    pub(crate) fn is_outdated(&self, since: Instant, now: Instant) -> bool {
        self.mac.lifetime.is_some_and(|lifetime| now.saturating_since(since) > lifetime)
    }

    /// The rate of broadcasts.
    pub(crate) fn broadcast_rate(&self) -> Rate {
        let lowest = self.mac.basic_rates.iter().next();
        self.mac.broadcast_rate.or(lowest).unwrap_or(self.mac.standard.lowest_rate())
    }

    /// The rate of the response to a frame.
    #[inline]
    pub(crate) fn control_rate(&self, data_rate: Rate) -> Rate {
        self.mac.control_rate.unwrap_or_else(|| phy::control_rate(self.mac.basic_rates, data_rate))
    }

    /// How long a frame of this radio is on the air.
    #[inline]
    pub(crate) fn airtime(&self, rate: Rate, octets: u32) -> Duration {
        phy::ppdu_duration(self.mac.standard, rate, octets)
    }
}
