//! Every controller under arbitrary operations.

use super::{AckSample, SMSS};
use crate::{Config, CongestionControl, HyStart};
use crate::{Controller, Coupling, Snapshot, Timeout};
use proptest::prelude::*;
use ropewalk_units::{Duration, Instant};

#[derive(Clone, Debug)]
enum Operation {
    Ack { octets: u32, rtt_us: u32, limited: bool },
    Loss { flight: u32 },
    Mark { flight: u32 },
    Timeout { flight: u32, first: bool },
    LeaveRecovery,
    Idle { ms: u32 },
    Keep,
    Undo,
    Penalize,
    Couple { increase: f64, ssthresh: f64 },
    Segment { smss: u32 },
    Wait { us: u32 },
}

fn operation() -> impl Strategy<Value = Operation> {
    let flight = || 0..200_000_000_u32;
    prop_oneof![
        20 => (1..3_000_000_u32, 1..2_000_000_u32, any::<bool>())
            .prop_map(|(octets, rtt_us, limited)| Operation::Ack { octets, rtt_us, limited }),
        2 => flight().prop_map(|flight| Operation::Loss { flight }),
        1 => flight().prop_map(|flight| Operation::Mark { flight }),
        1 => (flight(), any::<bool>()).prop_map(|(flight, first)| Operation::Timeout { flight, first }),
        2 => Just(Operation::LeaveRecovery),
        1 => (0..100_000_u32).prop_map(|ms| Operation::Idle { ms }),
        1 => Just(Operation::Keep),
        1 => Just(Operation::Undo),
        1 => Just(Operation::Penalize),
        1 => (prop_oneof![-10.0..10.0, Just(f64::NAN), Just(f64::INFINITY), Just(f64::NEG_INFINITY)],
              prop_oneof![-10.0..1e6, Just(f64::NAN), Just(f64::INFINITY)])
            .prop_map(|(increase, ssthresh)| Operation::Couple { increase, ssthresh }),
        1 => (1..9_000_u32).prop_map(|smss| Operation::Segment { smss }),
        5 => (0..5_000_000_u32).prop_map(|us| Operation::Wait { us }),
    ]
}

fn configuration() -> impl Strategy<Value = Config> {
    let control = prop_oneof![
        any::<bool>().prop_map(|byte_counting| CongestionControl::NewReno { byte_counting }),
        proptest::sample::select(vec![HyStart::Off, HyStart::Linux, HyStart::PlusPlus])
            .prop_map(|hystart| CongestionControl::Cubic { hystart }),
        any::<bool>().prop_map(|byte_counting| CongestionControl::Coupled { byte_counting }),
    ];
    (control, any::<[bool; 2]>(), proptest::option::of(1..4_u32), 1..20_u32).prop_map(
        |(congestion_control, [ssthresh_from_cwnd, whole_segments], slow_start_limit, initial_window)| {
            Config {
                congestion_control,
                whole_segments,
                ssthresh_from_cwnd,
                slow_start_limit,
                initial_window,
                ..super::config(congestion_control)
            }
        },
    )
}

/// The controller with the world around it.
struct Machine {
    controller: Controller,
    now: Instant,
    una: u64,
    kept: Option<Snapshot>,
}

impl Machine {
    fn new(config: &Config) -> Self {
        let controller = Controller::new(config, SMSS, Instant::ZERO);
        Self { controller, now: Instant::ZERO, una: 0, kept: None }
    }

    fn apply(&mut self, operation: &Operation) {
        let controller = &mut self.controller;
        match *operation {
            Operation::Ack { octets, rtt_us, limited } => {
                let rtt = Some(Duration::from_micros(u64::from(rtt_us)));
                self.una += u64::from(octets);
                let (acked, sent) = (self.una, self.una + u64::from(controller.cwnd()));
                let newly_acked = octets;
                let sample =
                    AckSample { newly_acked, srtt: rtt, latest_rtt: rtt, acked, sent, cwnd_limited: limited };
                controller.on_ack(self.now, &sample);
            }
            Operation::Loss { flight } => {
                let ssthresh = controller.on_loss(flight);
                controller.set_cwnd(ssthresh);
            }
            Operation::Mark { flight } => {
                controller.on_ecn(flight);
            }
            Operation::Timeout { flight, first } => {
                let timeout = if first { Timeout::First } else { Timeout::Repeated };
                controller.on_timeout(flight, timeout);
            }
            Operation::LeaveRecovery => controller.exit_recovery(),
            Operation::Idle { ms } => {
                let idle = Duration::from_millis(u64::from(ms));
                self.now += idle;
                controller.restart_after_idle(idle, Duration::from_millis(200));
            }
            Operation::Keep => self.kept = Some(controller.snapshot()),
            Operation::Undo => {
                if let Some(kept) = self.kept.take() {
                    controller.restore(&kept);
                }
            }
            Operation::Penalize => controller.penalize(),
            Operation::Couple { increase, ssthresh } => {
                controller.set_coupling(Coupling { increase, ssthresh_after_loss: ssthresh });
            }
            Operation::Segment { smss } => {
                controller.set_smss(smss);
                self.kept = None;
            }
            Operation::Wait { us } => self.now += Duration::from_micros(u64::from(us)),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn windows_stay_within_bounds(
        config in configuration(),
        operations in proptest::collection::vec(operation(), 1..400),
    ) {
        let coupled = matches!(config.congestion_control, CongestionControl::Coupled { .. });
        let (mut first, mut second) = (Machine::new(&config), Machine::new(&config));
        for operation in &operations {
            let before = (first.controller.cwnd(), first.controller.ssthresh());
            first.apply(operation);
            second.apply(operation);
            let (cwnd, ssthresh) = (first.controller.cwnd(), first.controller.ssthresh());
            let smss = first.controller.window.smss;
            prop_assert!(cwnd >= smss && cwnd <= 1 << 30, "{operation:?}: cwnd {cwnd}");
            if matches!(operation, Operation::Loss { .. } | Operation::Timeout { first: true, .. }) {
                prop_assert!(ssthresh >= if coupled { smss } else { 2 * smss }, "{operation:?}: {ssthresh}");
            }
            if matches!(operation, Operation::Ack { .. }) && !coupled {
                prop_assert!(cwnd >= before.0, "an ACK never lowers cwnd");
            }
            if matches!(operation, Operation::Undo) && first.kept.is_none() {
                prop_assert!(cwnd >= before.0 && ssthresh >= before.1, "undo never lowers");
            }
            prop_assert_eq!((cwnd, ssthresh), (second.controller.cwnd(), second.controller.ssthresh()));
        }
    }
}
