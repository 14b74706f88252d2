//! BBR against the cases of the draft's appendix ("BBR Example Test Cases"), on a path without any protocol.

use super::control::rate;
use super::{Bbr, State};
use crate::Pacer;
use crate::rate_sample::{PacketState, RateSampler};
use crate::signals::LossRange;
use crate::window::{UNLIMITED, Window};
use ropewalk_units::{Duration, Instant};
use std::collections::VecDeque;

const SIZE: u32 = 1000;

/// A flow and its path: one bottleneck, in order, every packet acknowledged.
struct Flow {
    bbr: Bbr,
    window: Window,
    sampler: RateSampler,
    pacer: Pacer,
    now: Instant,
    /// Octets per second.
    rate: f64,
    rtt: Duration,
    /// Octets that the bottleneck's queue holds.
    buffer: f64,
    /// Every so many packets one is lost; 0 for none.
    lose_each: u64,
    /// ACKs arrive together at multiples of this.
    aggregation: Duration,
    /// Octets per second that the application writes; infinite if it always has more.
    application: f64,
    written: f64,
    link_free: Instant,
    sent: u64,
    /// What is on its way: when its ACK arrives, or that it is lost.
    packets: VecDeque<(Option<Instant>, PacketState)>,
    inflight: u32,
    delivered: u64,
    dropped: u64,
    /// States in the order in which they were entered.
    states: Vec<(Instant, State)>,
    /// Octets that waited, summed over all packets.
    queued: f64,
    least_inflight: u32,
}

impl Flow {
    fn new(mbps: f64, rtt_ms: u64) -> Self {
        let window = Window::new(10 * SIZE, UNLIMITED, SIZE);
        let rate = mbps * 1e6 / 8.0;
        Self {
            bbr: Bbr::new(7, Instant::ZERO, &window),
            window,
            sampler: RateSampler::new(Instant::ZERO),
            pacer: Pacer::new(),
            now: Instant::ZERO,
            rate,
            rtt: Duration::from_millis(rtt_ms),
            buffer: 1e9,
            lose_each: 0,
            aggregation: Duration::ZERO,
            application: f64::INFINITY,
            written: f64::INFINITY,
            link_free: Instant::ZERO,
            sent: 0,
            packets: VecDeque::new(),
            inflight: 0,
            delivered: 0,
            dropped: 0,
            states: vec![(Instant::ZERO, State::Startup)],
            queued: 0.0,
            least_inflight: u32::MAX,
        }
    }

    fn bdp(&self) -> f64 {
        self.rate * self.rtt.as_secs_f64()
    }

    /// Runs for so long, from event to event.
    fn run(&mut self, seconds: f64) {
        let end = self.now + Duration::from_secs_f64(seconds);
        self.send();
        while self.now < end {
            let next = self.next_event().min(end);
            self.written += self.application * next.saturating_since(self.now).as_secs_f64();
            self.now = next;
            self.acknowledge();
            self.send();
        }
    }

    /// The next ACK, departure time, or packet of the application; later than now.
    fn next_event(&self) -> Instant {
        let ack = self.packets.iter().find_map(|(ack, _)| *ack);
        let departure = Some(self.pacer.next_send_time());
        let missing = (f64::from(SIZE) - self.written) / self.application;
        let write = (missing > 0.0 && missing < 1e6).then(|| self.now + Duration::from_secs_f64(missing));
        let later = |at: &Instant| *at > self.now;
        let least =
            [ack, departure, write].into_iter().flatten().filter(later).fold(Instant::MAX, Instant::min);
        least.max(self.now + Duration::from_nanos(1))
    }

    fn run_until(&mut self, state: State, seconds: f64) {
        let end = self.now + Duration::from_secs_f64(seconds);
        while self.bbr.state() != state {
            assert!(self.now < end, "{state:?} did not come: {:?}", self.states);
            self.run(1e-4);
        }
    }

    /// The first packets whose ACK has arrived; a lost one is known by the next that arrives.
    fn acknowledge(&mut self) {
        loop {
            let Some(index) = self.packets.iter().position(|(ack, _)| ack.is_some()) else { return };
            if self.packets[index].0.is_none_or(|ack| ack > self.now) {
                return;
            }
            for _ in 0..index {
                let Some((_, state)) = self.packets.pop_front() else { return };
                self.inflight -= SIZE;
                let lost = self.sampler.on_lost(SIZE, Some(&state), LossRange::Begins);
                self.bbr.on_lost(self.now, &lost, &mut self.window);
            }
            let Some((_, state)) = self.packets.pop_front() else { return };
            self.inflight -= SIZE;
            self.delivered += u64::from(SIZE);
            let mut sample = self.sampler.on_acked(self.now, SIZE, Some(&state), self.rtt);
            sample.rtt = Some(self.now.saturating_since(state.send_time));
            sample.inflight = self.inflight;
            sample.is_cwnd_limited = self.inflight + 2 * SIZE > self.window.cwnd;
            self.bbr.on_ack(self.now, &sample, &mut self.window);
            if self.bbr.limits_itself() {
                self.sampler.mark_app_limited(self.inflight);
                self.least_inflight = self.least_inflight.min(self.inflight);
            }
            self.note_state();
        }
    }

    fn note_state(&mut self) {
        if self.states.last().is_none_or(|(_, state)| *state != self.bbr.state()) {
            self.states.push((self.now, self.bbr.state()));
        }
    }

    fn send(&mut self) {
        while self.inflight + SIZE <= self.window.cwnd && !self.pacer.holds(self.now) {
            if self.written < f64::from(SIZE) {
                return self.sampler.mark_app_limited(self.inflight);
            }
            if self.inflight == 0 && self.sampler.is_app_limited() {
                self.bbr.on_restart_from_idle(self.now, &mut self.window);
            }
            self.written -= f64::from(SIZE);
            self.depart();
        }
    }

    fn depart(&mut self) {
        let state = self.sampler.on_sent(self.now, self.inflight, SIZE);
        let pace = rate(self.bbr.pacing_rate());
        self.pacer.on_sent(self.now, SIZE, pace, self.bbr.send_quantum());
        self.inflight += SIZE;
        self.sent += 1;
        let start = self.link_free.max(self.now);
        let queue = start.saturating_since(self.now).as_secs_f64() * self.rate;
        let unlucky = self.lose_each > 0 && self.sent.is_multiple_of(self.lose_each);
        if queue > self.buffer || unlucky {
            self.dropped += u64::from(queue > self.buffer);
            return self.packets.push_back((None, state));
        }
        self.queued += queue;
        self.link_free = start + Duration::from_secs_f64(f64::from(SIZE) / self.rate);
        let mut ack = self.link_free + self.rtt;
        if !self.aggregation.is_zero() {
            let each = self.aggregation.as_nanos();
            ack = Instant::from_nanos(ack.as_nanos().div_ceil(each) * each);
        }
        self.packets.push_back((Some(ack), state));
    }

    /// Goodput of the next seconds, as a share of the rate.
    fn share(&mut self, seconds: f64) -> f64 {
        let before = self.delivered;
        self.run(seconds);
        (self.delivered - before) as f64 / seconds / self.rate
    }

    fn entered(&self, state: State) -> Vec<Instant> {
        self.states.iter().filter(|(_, other)| *other == state).map(|(at, _)| *at).collect()
    }
}

#[test]
fn startup_ends_on_a_plateau_with_the_bandwidth_found() {
    for (mbps, rtt) in [(0.5, 40), (10.0, 40), (100.0, 10), (50.0, 300)] {
        let mut flow = Flow::new(mbps, rtt);
        flow.run_until(State::Drain, 15.0);
        let found = flow.bbr.model.max_bw() / flow.rate;
        assert!((found - 1.0).abs() < 0.02, "{mbps} Mbit/s, {rtt} ms: {found}");
        assert!(flow.bbr.full_pipe.full_bw_reached && flow.bbr.full_pipe.full_bw_now);
        flow.run_until(State::ProbeBwCruise, 2.0);
        let floor = 3.0 * f64::from(flow.bbr.send_quantum());
        assert!(
            f64::from(flow.inflight) <= 1.05 * flow.bdp().max(floor) + 1_000.0,
            "drained: {}",
            flow.inflight
        );
    }
}

#[test]
fn the_queue_of_steady_state_is_small_and_the_rate_is_used() {
    let mut flow = Flow::new(20.0, 50);
    flow.run(10.0);
    (flow.queued, flow.sent) = (0.0, 0);
    let share = flow.share(50.0);
    assert!(share > 0.95, "{share}");
    let mean = flow.queued / flow.sent as f64;
    assert!(mean < 0.25 * flow.bdp(), "{mean} of {}", flow.bdp());
}

#[test]
fn startup_never_ends_while_the_application_limits_it() {
    let mut flow = Flow::new(20.0, 50);
    flow.application = 20_000.0;
    flow.written = 0.0;
    flow.run(4.5);
    assert_eq!(flow.bbr.state(), State::Startup);
    // ProbeRTT during Startup leads back to Startup: so little is on its way that it need not even begin.
    flow.run(20.0);
    assert_eq!(flow.bbr.state(), State::Startup, "{:?}", flow.states);
    assert!(!flow.bbr.full_pipe.full_bw_reached);
}

#[test]
fn startup_ends_on_losses_when_the_buffer_is_small() {
    let mut flow = Flow::new(20.0, 50);
    flow.buffer = flow.bdp() / 10.0;
    flow.run(1.0);
    let drains = flow.entered(State::Drain);
    assert!(!drains.is_empty(), "{:?}", flow.states);
    let share = flow.share(20.0);
    assert!(share > 0.9, "{share}");
}

#[test]
fn a_fast_recovery_in_startup_with_many_losses_ends_it() {
    let mut flow = Flow::new(20.0, 50);
    flow.application = 1_000_000.0;
    flow.written = 0.0;
    flow.run(0.4);
    assert_eq!(flow.bbr.state(), State::Startup);
    flow.bbr.on_enter_fast_recovery(&flow.window);
    flow.lose_each = 10;
    flow.run_until(State::ProbeBwCruise, 0.5);
    assert!(flow.bbr.model.inflight_longterm < u32::MAX);
    // It was all a mistake.
    flow.lose_each = 0;
    flow.bbr.on_spurious_recovery(&mut flow.window);
    assert_eq!(flow.bbr.state(), State::Startup);
    assert_eq!(flow.bbr.model.inflight_longterm, u32::MAX);
}

#[test]
fn probe_rtt_comes_every_five_seconds_and_drains_the_pipe() {
    let mut flow = Flow::new(20.0, 50);
    flow.run(31.0);
    let probes = flow.entered(State::ProbeRtt);
    assert!((4..=6).contains(&probes.len()), "{probes:?}");
    for pair in probes.windows(2) {
        let apart = pair[1].saturating_since(pair[0]).as_secs_f64();
        assert!((5.0..6.0).contains(&apart), "{apart}");
    }
    assert!(f64::from(flow.least_inflight) <= 0.55 * flow.bdp(), "{}", flow.least_inflight);
    let index = flow.states.iter().position(|(_, state)| *state == State::ProbeRtt).unwrap();
    let [(begin, _), (end, next)] = [flow.states[index], flow.states[index + 1]];
    assert!(end.saturating_since(begin) >= Duration::from_millis(200));
    assert_eq!(next, State::ProbeBwCruise);
    assert!(flow.bbr.min_rtt.get().unwrap() <= Duration::from_millis(51));
}

#[test]
fn an_idle_application_makes_probe_rtt_unnecessary() {
    let mut flow = Flow::new(20.0, 50);
    flow.run(3.0);
    flow.application = 0.0;
    flow.written = 0.0;
    flow.run(6.0);
    assert_eq!(flow.inflight, 0);
    let (rate_before, state) = (flow.bbr.bw(), flow.bbr.state());
    flow.application = f64::INFINITY;
    flow.written = f64::INFINITY;
    flow.run(0.2);
    assert!(flow.entered(State::ProbeRtt).is_empty(), "{:?}, was {state:?}", flow.states);
    // It restarts at the bandwidth, not at the initial window.
    assert!((flow.bbr.bw() / rate_before - 1.0).abs() < 0.02);
    let share = flow.share(1.0);
    assert!(share > 0.9, "{share}");
}

#[test]
fn one_per_cent_of_loss_costs_what_the_draft_says() {
    // "Design Considerations for Choosing Constant Parameters": each round trip outside of probing leaves 99 % of the
    // rate, until the next probe finds all of it again: at 100 ms some 25 of them, at 50 ms 50.
    for (rtt, least) in [(200, 0.88), (100, 0.85), (50, 0.8), (20, 0.7)] {
        let mut flow = Flow::new(20.0, rtt);
        flow.lose_each = 100;
        flow.run(10.0);
        let share = flow.share(60.0);
        println!("{rtt} ms: {share:.3}");
        assert!(share > least, "{rtt} ms: {share}");
    }
}

#[test]
fn more_bandwidth_is_found_and_less_is_taken() {
    let mut flow = Flow::new(10.0, 40);
    flow.run(6.0);
    flow.rate *= 10.0;
    flow.run(12.0);
    let found = flow.bbr.bw() / flow.rate;
    assert!(found > 0.9, "ten times as much: {found}");
    flow.rate /= 10.0;
    flow.buffer = 2.0 * flow.bdp();
    flow.run(20.0);
    let found = flow.bbr.bw() / flow.rate;
    assert!(found < 1.1, "a tenth again: {found}");
    let share = flow.share(20.0);
    assert!(share > 0.9, "{share}");
}

#[test]
fn less_than_a_packet_in_the_pipe_still_takes_four() {
    let mut flow = Flow::new(0.1, 10);
    flow.run(20.0);
    assert!(flow.window.cwnd >= 4 * SIZE);
    let share = flow.share(40.0);
    assert!(share > 0.95, "{share}");
}

#[test]
fn aggregated_acks_do_not_stall_it() {
    let mut flow = Flow::new(20.0, 20);
    flow.aggregation = Duration::from_millis(40);
    flow.run(8.0);
    assert!(flow.bbr.extra_acked.of_all_rounds() > 0);
    let share = flow.share(20.0);
    assert!(share > 0.9, "{share}");
}

#[test]
fn marks_are_congestion() {
    let mut flow = Flow::new(20.0, 50);
    flow.run(6.0);
    flow.run_until(State::ProbeBwUp, 5.0);
    flow.run(0.1);
    flow.run_until(State::ProbeBwUp, 5.0);
    flow.bbr.on_ecn();
    flow.run(0.005);
    assert_ne!(flow.bbr.state(), State::ProbeBwUp, "the probe ends");
    assert!(flow.bbr.model.inflight_longterm < u32::MAX);
}

#[test]
fn the_probe_wait_is_two_to_three_seconds_and_differs() {
    let mut flow = Flow::new(100.0, 100);
    flow.run(40.0);
    // ProbeRTT ends with the begin of a cycle.
    let mut waits = Vec::new();
    for window in flow.states.windows(3) {
        let [(_, first), (begin, second), (end, third)] = [window[0], window[1], window[2]];
        if [first, second, third] == [State::ProbeRtt, State::ProbeBwCruise, State::ProbeBwRefill] {
            waits.push(end.saturating_since(begin).as_secs_f64());
        }
    }
    assert!(waits.len() >= 3, "{:?}", flow.states);
    assert!(waits.iter().all(|wait| (2.0..3.1).contains(wait)), "{waits:?}");
    assert!(waits.windows(2).all(|pair| (pair[0] - pair[1]).abs() > 1e-3), "drawn anew: {waits:?}");
}

#[test]
fn an_hour_is_as_a_minute() {
    let mut flow = Flow::new(2.0, 50);
    let minute = flow.share(60.0);
    flow.run(3_000.0);
    let later = flow.share(60.0);
    assert!(minute > 0.9 && (later / minute - 1.0).abs() < 0.05, "{minute} and {later}");
}
