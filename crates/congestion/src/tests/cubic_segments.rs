//! CUBIC in whole segments: single rules of Linux's, and all of them beside a model written apart.

use super::{AckSample, SMSS, ack, avoiding, config};
use crate::{Config, CongestionControl, Controller, HyStart, Timeout};
use proptest::prelude::*;
use ropewalk_units::{Duration, Instant};

const RTT: Duration = Duration::from_millis(20);

fn linux() -> Config {
    Config {
        whole_segments: true,
        cubic_catches_up: false,
        ssthresh_from_cwnd: true,
        slow_start_limit: None,
        ..config(CongestionControl::Cubic { hystart: HyStart::Off })
    }
}

fn after_loss(segments: u32) -> Controller {
    let mut controller = avoiding(&linux(), segments);
    lose(&mut controller);
    controller
}

fn lose(controller: &mut Controller) {
    let ssthresh = controller.on_loss(0);
    controller.set_cwnd(ssthresh);
    controller.exit_recovery();
}

fn acked(controller: &mut Controller, now: Instant, segments: u32) -> u32 {
    let sample = AckSample { latest_rtt: Some(RTT), ..ack(segments * SMSS) };
    controller.on_ack(now, &sample);
    controller.cwnd() / SMSS
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

#[test]
fn a_loss_leaves_717_of_1024_in_whole_segments() {
    // 50 * 717 / 1024 = 35.01, and 10 * 717 / 1024 = 7.002; 7 leave 4.9, 3 leave 2.1.
    for (before, after) in [(50, 35), (10, 7), (7, 4), (3, 2), (2, 2)] {
        assert_eq!(after_loss(before).cwnd(), after * SMSS, "{before}");
    }
}

#[test]
fn the_window_grows_by_whole_segments() {
    let mut controller = after_loss(50);
    for ms in (1000..3000).step_by(2) {
        acked(&mut controller, at(ms), 1);
        assert_eq!(controller.cwnd() % SMSS, 0, "{ms} ms");
    }
    assert!(controller.cwnd() > 45 * SMSS, "{}", controller.cwnd());
}

#[test]
fn before_the_first_loss_twenty_segments_are_one_more() {
    let mut config = linux();
    config.initial_ssthresh = Some(40 * SMSS);
    let mut controller = Controller::new(&config, SMSS, Instant::ZERO);
    controller.set_cwnd(40 * SMSS);
    assert_eq!(acked(&mut controller, at(1000), 19), 40);
    assert_eq!(acked(&mut controller, at(1000), 1), 41);
}

#[test]
fn for_a_32nd_of_a_second_the_growth_stays() {
    // From 70 segments to the plateau of 100 K is 4.22 s. Of the 30 that are missing 29 are left when the stage begins, so
    // 70 ACKs are one more. After 32 ms 28 are left, so 35 are.
    let grown_at = |ms: u64| {
        let mut controller = after_loss(100);
        assert_eq!(acked(&mut controller, at(1000), 1), 70);
        acked(&mut controller, at(1000 + ms), 34)
    };
    assert_eq!(grown_at(28), 70, "seven jiffies of 4 ms");
    assert_eq!(grown_at(32), 71, "eight");
}

#[test]
fn a_window_that_the_application_limits_does_not_grow() {
    let mut controller = after_loss(20);
    let sample = AckSample { cwnd_limited: false, latest_rtt: Some(RTT), ..ack(SMSS) };
    for ms in 1000..6000 {
        controller.on_ack(at(ms), &sample);
    }
    assert_eq!(controller.cwnd(), 14 * SMSS);
}

#[test]
fn idle_time_is_no_part_of_the_stage() {
    let windows = [0, 5000].map(|idle| {
        let mut controller = after_loss(100);
        acked(&mut controller, at(1000), 1);
        controller.on_transmit_start(at(1000 + idle), Duration::from_millis(idle));
        for ms in (0..2000).step_by(4) {
            acked(&mut controller, at(1040 + idle + ms), 5);
        }
        controller.cwnd()
    });
    assert_eq!(windows[0], windows[1]);
}

#[test]
fn an_unnecessary_reduction_gives_the_window_back_and_a_new_stage() {
    let mut controller = after_loss(50);
    for ms in (0..4000).step_by(4) {
        acked(&mut controller, at(1000 + ms), 5);
    }
    let (before, snapshot) = (controller.cwnd(), controller.snapshot());
    lose(&mut controller);
    controller.restore(&snapshot);
    assert_eq!(controller.cwnd(), before);
    // The new stage begins on its plateau, where the window stays for a round trip.
    assert_eq!(acked(&mut controller, at(5001), before / SMSS / 2), before / SMSS);
}

#[test]
fn a_stage_may_last_for_centuries() {
    let mut controller = after_loss(100);
    acked(&mut controller, at(1000), 1);
    assert_eq!(acked(&mut controller, at(500 * 365 * 86_400_000), 10), 75, "two segments for one more");
}

/// The kernel's variables, under its names, in jiffies of 4 ms.
#[derive(Default, Clone, Copy, Debug)]
struct Model {
    cwnd: u64,
    cnt: u64,
    cwnd_cnt: u64,
    last_max_cwnd: u64,
    last_cwnd: u64,
    last_time: u64,
    origin: u64,
    k: u64,
    delay_min: u64,
    /// 0: there is none.
    epoch_start: u64,
    ack_cnt: u64,
    tcp_cwnd: u64,
}

impl Model {
    fn ack(&mut self, now: u64, rtt_us: u64, acked: u64) {
        let right_after_recovery = self.epoch_start > 0 && now - self.epoch_start < 250;
        if !right_after_recovery && (self.delay_min == 0 || rtt_us < self.delay_min) {
            self.delay_min = rtt_us;
        }
        self.update(now, acked);
        if self.cwnd_cnt >= self.cnt {
            self.cwnd_cnt = 0;
            self.cwnd += 1;
        }
        self.cwnd_cnt += acked;
        self.cwnd += self.cwnd_cnt / self.cnt;
        self.cwnd_cnt %= self.cnt;
    }

    fn update(&mut self, now: u64, acked: u64) {
        self.ack_cnt += acked;
        if self.last_cwnd == self.cwnd && now - self.last_time <= 7 {
            return;
        }
        if self.epoch_start == 0 || now != self.last_time {
            self.last_cwnd = self.cwnd;
            self.last_time = now;
            if self.epoch_start == 0 {
                self.epoch_start = now;
                self.ack_cnt = acked;
                self.tcp_cwnd = self.cwnd;
                self.origin = self.last_max_cwnd.max(self.cwnd);
                self.k = (((1 << 40) / 410 * (self.origin - self.cwnd)) as f64).cbrt() as u64;
            }
            self.cubic(now);
        }
        let delta = (self.cwnd * 15) >> 3;
        while self.ack_cnt > delta {
            self.ack_cnt -= delta;
            self.tcp_cwnd += 1;
        }
        if self.tcp_cwnd > self.cwnd {
            self.cnt = self.cnt.min(self.cwnd / (self.tcp_cwnd - self.cwnd));
        }
        self.cnt = self.cnt.max(2);
    }

    fn cubic(&mut self, now: u64) {
        let t = (now - self.epoch_start + self.delay_min.div_ceil(4000)) * 1024 / 250;
        let delta = (410 * t.abs_diff(self.k).pow(3)) >> 40;
        let target = if t < self.k { self.origin - delta } else { self.origin + delta };
        self.cnt = if target > self.cwnd { self.cwnd / (target - self.cwnd) } else { 100 * self.cwnd };
        if self.last_max_cwnd == 0 {
            self.cnt = self.cnt.min(20);
        }
    }

    fn lose(&mut self) {
        self.last_max_cwnd =
            if self.cwnd < self.last_max_cwnd { self.cwnd * (1024 + 717) / 2048 } else { self.cwnd };
        self.epoch_start = 0;
        self.cwnd_cnt = 0;
        self.cwnd = (self.cwnd * 717 / 1024).max(2);
    }

    fn time_out(&mut self) {
        *self = Self { cwnd: (self.cwnd * 717 / 1024).max(2), ..Self::default() };
    }
}

proptest! {
    /// Cube roots are exact, where the kernel's are from a table.
    #[test]
    fn it_goes_with_the_kernel(
        first in 4_u32..400,
        rtt_ms in 1_u64..300,
        stages in prop::collection::vec((1_u32..8, 0_u8..8, 20_u32..3000), 1..6),
    ) {
        let mut controller = avoiding(&linux(), first);
        let mut model = Model { cwnd: u64::from(first), last_max_cwnd: 2 * u64::from(first), ..Model::default() };
        // What `avoiding` does: a loss at the initial window of ten.
        model.last_max_cwnd = 10;
        let mut now = at(1000);
        for (segments, end, acks) in stages {
            for _ in 0..acks {
                now += Duration::from_millis(rtt_ms) * u64::from(segments) / u64::from(controller.cwnd() / SMSS);
                let sample = AckSample { latest_rtt: Some(Duration::from_millis(rtt_ms)), ..ack(segments * SMSS) };
                controller.on_ack(now, &sample);
                model.ack(now.as_nanos() / 4_000_000, rtt_ms * 1000, u64::from(segments));
                let (ours, kernel) = (i64::from(controller.cwnd() / SMSS), model.cwnd as i64);
                prop_assert_eq!(ours, kernel, "at {}: {:?}", now, model);
            }
            // Another window at a loss would lead another way, by fast convergence too.
            controller.set_cwnd(u32::try_from(model.cwnd).expect("small") * SMSS);
            if end == 0 {
                controller.on_timeout(0, Timeout::First);
                controller.set_cwnd(controller.ssthresh());
                model.time_out();
            } else {
                lose(&mut controller);
                model.lose();
            }
            assert_eq!(u64::from(controller.cwnd() / SMSS), model.cwnd);
        }
    }
}
