//! Copa's default mode (Arun and Balakrishnan, NSDI 2018) with BBR to compete: the two modes of Nimbus (Goyal et al., SIGCOMM
//! 2022), switched by Copa's test for buffer-filling cross traffic.
//!
//! Copa keeps the queue at some packets, and sees it empty every few round trips. When it does not, others fill it, and BBR
//! takes over. From then on the path drains its own part of the queue now and then (`copa/drain.rs`): what is left is what
//! others hold, and when nothing is, Copa is back. Neither slows down for the few losses that others slow down for, so a CUBIC flow in
//! the path's place (`copa/peer.rs`) bounds both.

mod busy;
mod delay;
mod drain;
mod overflow;
mod peer;

use super::packet_size::PacketSize;
use super::{BASE_HISTORY, INITIAL_WINDOW, PathBbr, PathController, PathSample};
use crate::bbr;
use crate::rate_sample::LostPacket;
use crate::window::{UNLIMITED, Window};
use busy::Busy;
use delay::{Delays, RANGE_ROUNDS};
use drain::{Drain, Share, Verdict};
use overflow::Overflow;
use peer::Peer;
use ropewalk_units::{Duration, Instant, Rate};

/// δ of the default mode (§2.1): the queue that Copa wants is 1/δ packets.
const DELTA: f64 = 0.5;
/// The queue that Copa wants takes so many seconds at least: as much as BBR sends at once (BBR.SendQuantum). Two packets of a fast line are
/// less than what delays vary by, and a controller that takes that for a queue sends less than the line carries. Where delays vary more, that
/// much: a shorter queue does not show.
const LEAST_QUEUE: f64 = 0.001;
/// Rounds in one direction after which the velocity doubles (§2.2).
const STEADY_ROUNDS: u32 = 3;

ropewalk_units::tuned! {
    /// What Copa on a path has that is from no publication.
    pub struct CopaTuning {
        /// While data come, what came is reported so often: a controller has to hear some times in a round trip.
        report_interval: Duration = Duration::from_millis(5);
        /// So much of what a late timer held back is sent when it fires: timers are late by some milliseconds.
        catch_up: Duration = Duration::from_millis(10);
        /// Rounds without a nearly empty queue after which others are held to fill it: §3 has 5, for ACKs that come one by one.
        full_rounds: u32 = 8;
        /// The pacing rate over what the window asks for, less one. Copa has 1 (§2.1), for ACKs that come one by one; reports come in lumps,
        /// which leave as bursts then.
        pacing_excess: f64 = 0.1;
        /// A queue of so many of Copa's own is one that others may hold.
        short_queue: f64 = 4.0;
        /// So many packets are told of before their losses are judged, so that 1 % is not taken for 2 %.
        loss_packets: u32 = 1000;
        /// The time to the first drain.
        first_drain: Duration = Duration::from_secs(1);
        /// After each drain that finds others the next one waits so many times as long.
        drain_patience: u32 = 4;
        /// The longest wait for a drain; after so long the largest bandwidth begins to be forgotten, too.
        longest: Duration = Duration::from_secs(30);
        /// Others hold at least this part of what there was before a drain.
        left: f64 = 0.2;
        /// A drain goes on while a round takes this part of the queue away.
        falling: f64 = 0.1;
    }
}

/// The largest of one or two windows of time.
#[derive(Clone, Copy, Debug, Default)]
struct Largest {
    values: [f64; 2],
    since: Instant,
}

impl Largest {
    fn update(&mut self, now: Instant, value: f64, window: Duration) {
        if now.saturating_since(self.since) >= window {
            self.values = [self.values[1], 0.0];
            self.since = now;
        }
        self.values[1] = self.values[1].max(value);
    }

    fn get(&self) -> f64 {
        self.values[0].max(self.values[1])
    }
}

/// Where the window goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Direction {
    Up,
    Down,
}

impl Direction {
    const fn up_if(grows: bool) -> Self {
        if grows { Self::Up } else { Self::Down }
    }
}

/// How the default mode moves the window.
#[derive(Clone, Copy, Debug)]
struct Velocity {
    value: f64,
    direction: Direction,
    rounds: u32,
    cwnd_before: u32,
}

impl Velocity {
    /// The direction changes. Copa begins anew with 1; here a report is a round late, so that half of the velocity takes back what
    /// was too much.
    fn turn(&mut self, direction: Direction) {
        *self = Self { value: (self.value / 2.0).max(1.0), direction, rounds: 0, ..*self };
    }
}

/// What the path does.
#[derive(Clone, Debug)]
enum Mode {
    SlowStart,
    Default,
    /// Others fill the buffer.
    Competitive {
        drain: Drain,
    },
}

/// Copa on a path. Windows in octets.
#[derive(Clone, Debug)]
pub struct PathCopa {
    tuning: CopaTuning,
    packets: PacketSize,
    window: Window,
    /// It sees all that Copa sees, whoever is in charge, so that it knows the path when it is to compete.
    bbr: PathBbr,
    mode: Mode,
    delays: Delays,
    velocity: Velocity,
    round_ends: u64,
    /// Octets lost, and delivered, since losses were judged.
    lost: u64,
    delivered_at_judgement: u64,
    /// In this round, of what left after the last overflow.
    lost_in_round: u32,
    packets_lost_in_round: u32,
    delivered_at_round: u64,
    /// The greatest delivery rate of the round, whoever limited it (BBR.bw_latest).
    latest_rate: f64,
    /// The round before lost something as well: recovery has lasted for a round trip.
    is_recovering: bool,
    /// Below zero for as many rounds after a drain: Copa's own queue has to find its level.
    full_rounds: i32,
    /// The drains that seemed to find nobody else, for the rounds in which Copa finds its level, or until it has as much as before them.
    beside: Option<Drain>,
    /// The window held packets back in this round.
    is_limited_in_round: bool,
    /// Octets per second, averaged over reports.
    delivery_rate: f64,
    busy: Busy,
    bandwidth: Largest,
    /// The greatest of ten minutes: what the line can carry, as far as the path has seen.
    capacity: Largest,
    delivered: u64,
    /// Nothing has been told yet of what was sent since a pause.
    is_restarting: bool,
    rounds_after_start: u32,
    overflow: Overflow,
    /// It bounds what is on the way, whoever is in charge.
    peer: Peer,
    /// When a round lost too much, since others were last found. So what leaves beyond the window may hold the queue.
    exceeded_at: Option<Instant>,
}

impl PathCopa {
    /// For packets of `packet_size` octets. What BBR draws at random follows from `seed`, which should differ between paths.
    pub fn new(seed: u64, packet_size: u32, tuning: &CopaTuning, now: Instant) -> Self {
        let size = packet_size.max(1);
        let cwnd = size.saturating_mul(INITIAL_WINDOW);
        Self {
            tuning: *tuning,
            packets: PacketSize::new(size, now),
            window: Window::new(cwnd, UNLIMITED, size),
            bbr: PathBbr::new(seed, size, now),
            mode: Mode::SlowStart,
            delays: Delays::default(),
            velocity: Velocity { value: 1.0, direction: Direction::Up, rounds: 0, cwnd_before: 0 },
            round_ends: 0,
            lost: 0,
            delivered_at_judgement: 0,
            lost_in_round: 0,
            packets_lost_in_round: 0,
            delivered_at_round: 0,
            latest_rate: 0.0,
            is_recovering: false,
            full_rounds: 0,
            beside: None,
            is_limited_in_round: false,
            delivery_rate: 0.0,
            busy: Busy::default(),
            bandwidth: Largest::default(),
            capacity: Largest::default(),
            delivered: 0,
            is_restarting: false,
            rounds_after_start: 0,
            overflow: Overflow::new(now),
            peer: Peer::new(now, size),
            exceeded_at: None,
        }
    }

    fn set_packet_size(&mut self, size: u32) {
        self.window.smss = size;
        self.window.set_cwnd(self.window.cwnd.max(self.floor()));
    }

    fn floor(&self) -> u32 {
        bbr::MIN_PIPE_CWND * self.window.smss
    }

    /// δ at the rate that the path has. Copa's own queue is a short one for the line's buffer.
    fn delta(&self) -> f64 {
        let least = LEAST_QUEUE.min(self.overflow.queue() / self.tuning.short_queue);
        let least = self.bandwidth.get() * least.max(self.delays.jitter());
        if least > 0.0 { DELTA.min(f64::from(self.window.smss) / least) } else { DELTA }
    }

    /// Seconds of the queue that Copa itself wants.
    fn own_queue(&self) -> f64 {
        let bandwidth = self.bandwidth.get();
        if bandwidth > 0.0 { f64::from(self.window.smss) / self.delta() / bandwidth } else { 0.0 }
    }

    fn update_rates(&mut self, now: Instant, sample: &PathSample) {
        let rate = &sample.rate;
        self.delivered = rate.total_delivered;
        if rate.delivery_rate <= 0.0 {
            return;
        }
        self.latest_rate = self.latest_rate.max(rate.delivery_rate);
        let gain = if self.delivery_rate > 0.0 { 1.0 / 8.0 } else { 1.0 };
        let busy = self.busy.lasts();
        if !rate.is_app_limited || rate.delivery_rate > self.delivery_rate {
            self.delivery_rate += gain * (rate.delivery_rate - self.delivery_rate);
        } else if busy > 0.0 {
            // What came in the whole interval is the most that the busy part of it can have carried.
            let most = rate.delivery_rate.max(rate.delivered as f64 / busy);
            self.delivery_rate += gain * (most - self.delivery_rate).min(0.0);
        }
        self.bandwidth.update(now, self.delivery_rate, self.tuning.longest);
        self.capacity.update(now, self.delivery_rate, BASE_HISTORY);
    }

    /// Seconds that a window takes: what was delivered waits to be reported.
    fn standing(&self) -> f64 {
        self.delays.standing() + self.unreported()
    }

    /// Seconds that it waits. What reports are late by is no part of a window ([`super::ControlledPath`]).
    fn unreported(&self) -> f64 {
        self.tuning.report_interval.as_secs_f64()
    }

    /// Octets that a report tells as delivered, one window for each time that it takes to hear of them. Where reports are late more than a
    /// window is delivered meanwhile ([`super::ControlledPath`]).
    fn newly_acked(&self, sample: &PathSample) -> f64 {
        let window = f64::from(self.window.cwnd);
        let late = self.delivery_rate * self.delays.lag();
        f64::from(sample.rate.newly_acked) * window / (window + late)
    }

    /// Is the target rate 1/(δ d_q) above the rate cwnd/RTTstanding (§2.1)?
    fn wants_more(&self) -> bool {
        let queue = self.delays.queue();
        if queue <= 0.0 {
            return true;
        }
        let target = f64::from(self.window.smss) / (self.delta() * queue);
        f64::from(self.window.cwnd) / self.standing().max(1e-6) <= target
    }

    fn slow_start(&mut self, now: Instant, sample: &PathSample) {
        // A queue that a burst of the application's made says nothing about the path.
        if !sample.rate.is_cwnd_limited {
            return;
        }
        if self.wants_more() {
            self.window.grow(self.newly_acked(sample) as u32);
        } else if !sample.rate.is_app_limited {
            self.leave_start(now, sample.rate.delivery_rate);
        }
    }

    /// Slow start ends at the window that the first packet train asks for (Hoe, SIGCOMM 1996, with trains for pairs), and takes it at
    /// once: paced packets do no harm where so much was carried just now. What was delivered and is not reported yet is in it.
    fn leave_start(&mut self, now: Instant, rate: f64) {
        self.delivery_rate = rate;
        self.capacity.update(now, rate, BASE_HISTORY);
        self.bandwidth = Largest::default();
        self.bandwidth.update(now, self.delivery_rate, self.tuning.longest);
        let pipe = (self.delivery_rate * (self.delays.base() + self.unreported())) as u32;
        self.window.set_cwnd(pipe.max(self.floor()));
        self.velocity =
            Velocity { value: 1.0, direction: Direction::Up, rounds: 0, cwnd_before: self.window.cwnd };
        self.mode = Mode::Default;
    }

    /// Is the path's rate still being searched?
    pub fn is_starting(&self) -> bool {
        matches!(self.mode, Mode::SlowStart)
    }

    /// Is a packet that is missing now one that a full buffer dropped? A path that reorders is left alone: what seems lost may be late.
    fn is_full(&self) -> bool {
        self.delays.are_in_order() && self.is_of_others(self.delays.latest_queue())
    }

    /// Is a queue of so many seconds more than Copa's own? An overflow may make that shorter, but a round of many random losses looks
    /// like one too.
    fn is_of_others(&self, queue: f64) -> bool {
        queue > self.tuning.short_queue * self.own_queue().max(LEAST_QUEUE)
    }

    /// What may be on its way beside others, octets.
    fn fair_bound(&self) -> u32 {
        self.peer.bound().max(self.floor())
    }

    fn default_step(&mut self, now: Instant, sample: &PathSample) {
        self.move_window(now, sample);
        self.window.set_cwnd(self.window.cwnd.max(self.floor()).min(self.fair_bound()));
    }

    /// §2.1: ± v/(δ cwnd) packets for each packet delivered.
    fn move_window(&mut self, now: Instant, sample: &PathSample) {
        let direction = Direction::up_if(self.wants_more());
        if direction == Direction::Up && (!sample.rate.is_cwnd_limited || self.overflow.holds(now)) {
            return;
        }
        let acked = self.newly_acked(sample) / f64::from(self.window.smss);
        let step = self.velocity.value / (self.delta() * self.window.segments()) * acked;
        let step = step.min(acked * (bbr::GROWTH - 1.0)) * f64::from(self.window.smss);
        self.window.shift(if direction == Direction::Up { step } else { -step });
        if direction != self.velocity.direction {
            self.velocity.turn(direction);
        }
    }

    /// §2.2: once per round trip.
    fn update_velocity(&mut self) {
        let velocity = &mut self.velocity;
        let before = std::mem::replace(&mut velocity.cwnd_before, self.window.cwnd);
        let direction = Direction::up_if(self.window.cwnd > before);
        if self.window.cwnd == before {
            // Nothing was tried.
            (velocity.value, velocity.rounds) = (1.0, 0);
        } else if direction == velocity.direction {
            velocity.rounds += 1;
            if velocity.rounds >= STEADY_ROUNDS {
                velocity.value *= 2.0;
            }
        } else {
            velocity.turn(direction);
        }
    }

    fn end_round(&mut self, now: Instant) {
        self.overflow.update(now);
        let empty = self.delays.end_round(self.own_queue());
        let lossy = self.judge_losses();
        let lost = std::mem::take(&mut self.lost_in_round);
        let latest = std::mem::take(&mut self.latest_rate);
        let delivered = self.delivered - std::mem::replace(&mut self.delivered_at_round, self.delivered);
        // In a round trip of few packets 2 % are lost by chance, if losses are at random.
        // Buffers count packets, however small these are.
        let packets = std::mem::take(&mut self.packets_lost_in_round);
        let overflow =
            packets >= bbr::FULL_LOSS_COUNT && f64::from(lost) > bbr::LOSS_THRESH * delivered as f64;
        let recovering = std::mem::replace(&mut self.is_recovering, lost > 0);
        let is_limited = std::mem::take(&mut self.is_limited_in_round);
        self.note_excess(now, overflow);
        if self.is_starting() && recovering && overflow && latest > 0.0 && self.delays.are_in_order() {
            self.leave_overflowed_start(now, latest, delivered);
        } else if matches!(self.mode, Mode::Default) {
            if overflow && !self.is_of_others(self.delays.queue()) {
                self.on_overflow(now, latest.max(self.delivery_rate));
            }
            self.update_velocity();
            self.full_rounds = if empty { (self.full_rounds + 1).min(0) } else { self.full_rounds + 1 };
            if lossy || self.full_rounds >= self.tuning.full_rounds as i32 {
                self.compete(now, lossy);
            } else if self.yields_to_others(latest, is_limited) {
                self.compete_again(now);
            }
        }
        self.window.set_cwnd(self.window.cwnd.max(self.floor()));
    }

    /// Has the round lost too much? After long the line may have become another.
    fn note_excess(&mut self, now: Instant, overflow: bool) {
        let is_over = |at: Instant| now.saturating_since(at) >= self.tuning.longest;
        if overflow {
            self.exceeded_at = Some(now);
        } else if self.exceeded_at.is_some_and(is_over) {
            self.exceeded_at = None;
        }
    }

    /// BBRCheckStartupHighLoss: recovery has lasted for a round trip, and the line still drops, though no queue shows. What the
    /// round has delivered (BBR.inflight_latest) may be in flight again. A path that reorders is left alone: what seems lost
    /// may be late.
    fn leave_overflowed_start(&mut self, now: Instant, latest: f64, delivered: u64) {
        self.leave_start(now, latest);
        self.window.set_cwnd(self.window.cwnd.max(delivered.min(u64::from(UNLIMITED)) as u32));
        self.note_overflow(now, latest);
    }

    fn note_overflow(&mut self, now: Instant, rate: f64) {
        let (queue, long) = (self.delays.range(), self.tuning.longest);
        self.overflow.note(now, (self.delivered, rate), self.window.cwnd, queue, long);
    }

    /// Has what slow start lost been told: is there a range of delays that is not slow start's?
    fn has_settled(&self) -> bool {
        self.rounds_after_start >= RANGE_ROUNDS as u32
    }

    /// Was more lost than chance loses?
    fn judge_losses(&mut self) -> bool {
        if !self.has_settled() {
            // These are slow start's own.
            self.rounds_after_start += u32::from(!self.is_starting());
            (self.lost, self.delivered_at_judgement) = (0, self.delivered);
            return false;
        }
        let delivered = self.delivered - self.delivered_at_judgement;
        let reported = delivered + self.lost;
        if reported < u64::from(self.tuning.loss_packets) * u64::from(self.window.smss) {
            return false;
        }
        let lossy = self.lost as f64 > bbr::LOSS_THRESH * reported as f64;
        self.lost = 0;
        self.delivered_at_judgement = self.delivered;
        lossy && self.is_of_others(self.delays.queue())
    }

    /// Many were lost in a round, and no queue shows.
    fn on_overflow(&mut self, now: Instant, rate: f64) {
        let before = if self.fills_again() { None } else { self.overflow.take_back(now, rate) };
        match before {
            Some(cwnd) => self.window.set_cwnd(self.window.cwnd.max(cwnd)),
            None => self.shrink_to_rate(now, rate),
        }
    }

    /// Was the buffer of the last overflow half full in this round? Two packets in it are no queue (δ).
    fn fills_again(&self) -> bool {
        let packets = f64::from(self.window.smss) / DELTA / self.bandwidth.get().max(1.0);
        self.delays.round_queue() > (self.overflow.queue() / 2.0).max(packets)
    }

    /// The buffer is too short for a queue to show. No more than what is delivered leaves, until it is time to look whether there is more: as
    /// BBR bounds what is in flight after a probe that lost too much.
    fn shrink_to_rate(&mut self, now: Instant, rate: f64) {
        self.note_overflow(now, rate);
        let pipe = (rate * (self.delays.base() + self.unreported())) as u32;
        self.window.set_cwnd(self.window.cwnd.min(pipe.max(self.floor())));
        self.velocity =
            Velocity { value: 1.0, direction: Direction::Up, rounds: 0, cwnd_before: self.window.cwnd };
    }

    /// Nobody has less alone than beside others. Where Copa has, and wants no more, the drains were wrong: what others held fell just then.
    /// `latest` octets per second were delivered in the round. The first round after a drain tells of what left before.
    fn yields_to_others(&mut self, latest: f64, is_limited: bool) -> bool {
        let Some(before) = self.beside.as_ref().map(Drain::rate) else { return false };
        if latest >= before || self.full_rounds >= 0 {
            self.beside = None;
            return false;
        }
        let is_second = self.full_rounds >= 2 - self.tuning.full_rounds as i32;
        is_second && is_limited && latest * bbr::GROWTH < before && !self.wants_more()
    }

    /// The drains were wrong. The CUBIC flow beside goes on: Copa has not yielded for long.
    fn compete_again(&mut self, now: Instant) {
        let Some(drain) = self.beside.take() else { return };
        self.mode = Mode::Competitive { drain: drain.resume(now) };
        self.full_rounds = 0;
    }

    /// Others fill the buffer.
    fn compete(&mut self, now: Instant, lossy: bool) {
        self.mode = Mode::Competitive { drain: Drain::new(now, lossy, &self.tuning) };
        // Copa yields before it finds them: its window is no longer a flow's that competes.
        self.peer.begin_anew(now);
        self.full_rounds = 0;
    }

    /// Nobody else holds the queue.
    fn yield_again(&mut self) {
        self.bandwidth = Largest::default();
        let pipe = (self.delivery_rate * (self.delays.base() + self.unreported())) as u32;
        self.window.set_cwnd(pipe.max(self.floor()));
        self.velocity =
            Velocity { value: 1.0, direction: Direction::Up, rounds: 0, cwnd_before: self.window.cwnd };
        if let Mode::Competitive { drain } = std::mem::replace(&mut self.mode, Mode::Default) {
            self.beside = Some(drain);
        }
        self.full_rounds = -(self.tuning.full_rounds as i32);
    }

    fn competitive_step(&mut self, now: Instant, sample: &PathSample) {
        let share = Share {
            tuning: &self.tuning,
            rate: self.delivery_rate,
            floor: self.floor(),
            none: self.own_queue(),
            grows: self.bbr.is_starting() && !sample.rate.is_app_limited,
        };
        let Mode::Competitive { drain } = &mut self.mode else { return };
        // In as many rounds Copa yields to a small part of what the path had. Any part from a half to a sixteenth does (decision 18).
        let yielded = drain.rate() * f64::from(self.tuning.full_rounds);
        let has_yielded = !drain.has_found_others() && yielded < self.capacity.get();
        match drain.on_report(now, sample, &mut self.delays, &share) {
            Verdict::Alone => self.yield_again(),
            // A drain is BBR's ProbeRTT.
            Verdict::Others(rtt) => {
                self.exceeded_at = None;
                self.bbr.on_drained(now, Duration::from_secs_f64(rtt));
                // What BBR has seen of Copa that yields is not its rate beside others.
                if has_yielded && sample.rate.is_cwnd_limited {
                    self.bbr.begin_anew();
                }
            }
            Verdict::None | Verdict::Draining => {}
        }
    }
}

impl PathController for PathCopa {
    fn on_restart_from_idle(&mut self, now: Instant) {
        self.full_rounds = 0;
        self.is_restarting = true;
        self.bbr.on_restart_from_idle(now);
    }

    fn on_sent(&mut self, now: Instant, size: u32, inflight: u32) {
        self.bbr.on_sent(now, size, inflight);
        if let Some(packet) = self.packets.on_sent(now, size) {
            self.set_packet_size(packet);
        }
    }

    fn on_lost(&mut self, now: Instant, packet: &LostPacket) {
        self.bbr.on_lost(now, packet);
        self.lost += u64::from(packet.size);
        if !self.overflow.has(packet.prior_delivered) {
            self.lost_in_round += packet.size;
            self.packets_lost_in_round += 1;
        }
        if !self.is_full() {
            return;
        }
        if self.is_starting() {
            self.mode = Mode::Default;
            self.window.set_cwnd((f64::from(self.window.cwnd) * bbr::BETA) as u32);
        } else if self.has_settled() {
            self.peer.on_lost(packet, self.window.smss);
        }
    }

    fn on_report(&mut self, now: Instant, sample: &PathSample) {
        self.is_limited_in_round |= sample.rate.is_cwnd_limited;
        self.delays.update(now, sample, self.is_competing());
        // The way of a report that is late has queues of its own, and what of them never goes away seems to be here.
        self.busy.note(now, self.delays.latest_queue() - self.delays.lag());
        self.update_rates(now, sample);
        self.bbr.on_report(now, sample);
        self.peer.on_report(now, sample);
        match self.mode {
            Mode::SlowStart => self.slow_start(now, sample),
            Mode::Default => self.default_step(now, sample),
            Mode::Competitive { .. } => self.competitive_step(now, sample),
        }
        if sample.rate.has_packet && sample.rate.prior_delivered >= self.round_ends {
            self.round_ends = sample.rate.total_delivered;
            self.end_round(now);
        }
        self.is_restarting = false;
    }

    fn on_train(&mut self, now: Instant, rate: Rate, base_rtt: Option<Duration>) {
        if !self.is_starting() {
            return;
        }
        if let Some(base) = base_rtt.filter(|_| self.delays.base() <= 0.0) {
            self.delays.assume(now, base);
        }
        if self.delays.base() > 0.0 {
            self.leave_start(now, rate.bits_per_sec() as f64 / 8.0);
        }
    }

    fn on_timeout(&mut self, now: Instant) {
        self.bbr.on_timeout(now);
        self.window.set_cwnd(self.floor());
        self.peer.begin_anew(now);
        self.mode = Mode::SlowStart;
        self.rounds_after_start = 0;
        self.full_rounds = 0;
    }

    fn inflight_bound(&self) -> u32 {
        match &self.mode {
            Mode::Competitive { drain } => {
                let bound = self.bbr.inflight_bound().min(self.fair_bound());
                drain.bound().map_or(bound, |drained| bound.min(drained))
            }
            _ => self.window.cwnd,
        }
    }

    fn pacing_rate(&self, now: Instant) -> Option<Rate> {
        if self.is_competing() {
            return self.bbr.pacing_rate(now);
        }
        let standing = self.standing();
        // What a train told is not exceeded before its outcome is known, nor what was delivered when the buffer overflowed. After a pause a
        // whole window leaves, and as BBR's (HandleRestartFromIdle) no faster than it comes.
        let is_new = !self.is_starting() && !self.has_settled();
        let has_no_excess = is_new || self.is_restarting || self.overflow.holds(now);
        let gain = if has_no_excess { 1.0 } else { 1.0 + self.tuning.pacing_excess };
        (standing > 0.0).then(|| bbr::rate(gain * f64::from(self.window.cwnd) / standing))
    }

    fn bandwidth(&self) -> Option<Rate> {
        (self.delivery_rate > 0.0).then(|| bbr::rate(self.delivery_rate))
    }

    fn base_rtt(&self) -> Option<Duration> {
        let base = self.delays.base();
        (base > 0.0).then(|| Duration::from_secs_f64(base))
    }

    fn limits_itself(&self) -> bool {
        match &self.mode {
            Mode::Competitive { drain } => drain.bound().is_some() || self.bbr.limits_itself(),
            _ => false,
        }
    }

    fn is_competing(&self) -> bool {
        matches!(self.mode, Mode::Competitive { .. })
    }

    fn is_crowded(&self) -> bool {
        self.exceeded_at.is_none() && (self.is_competing() || self.is_of_others(self.delays.latest_queue()))
    }
}
