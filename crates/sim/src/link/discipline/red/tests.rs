use super::super::testing::{Log, finds, ms, packet};
use super::*;
use crate::random::Streams;

const CONFIG: RedConfig =
    RedConfig { min_threshold: 5.0, max_threshold: 15.0, max_probability: 0.1, weight: 0.25, ecn: false };

fn red(config: RedConfig) -> Red {
    Red::new(QueueLimit::Packets(100), config)
}

#[test]
fn the_average_follows_the_queue_and_ages_while_idle() {
    let mut red = red(CONFIG);
    let mut log = Log::default();
    for (found, average) in [(4, 1.0), (4, 1.75), (0, 1.3125)] {
        red.enqueue(packet(1, 1_000, ms(0)), finds(ms(0), found, None), || 1.0, &mut log);
        assert!((red.average - average).abs() < 1e-12, "{}", red.average);
    }
    // Idle for the time of three packets: three samples of zero.
    red.enqueue(packet(1, 1_000, ms(0)), finds(ms(0), 0, Some(3.0)), || 1.0, &mut log);
    assert!((red.average - 1.3125 * 0.75f64.powi(3)).abs() < 1e-12);
    assert!(log.dropped.is_empty());
}

/// A RED whose average stays at `average`.
fn steady(average: f64, config: RedConfig) -> Red {
    let mut red = red(RedConfig { weight: 0.0, ..config });
    red.average = average;
    red
}

#[test]
fn the_choices_are_spread_evenly_at_the_configured_rate() {
    // Half way: p_b = 0.05. The count is 1 at the first packet after a choice (figure 2 of the paper), so the gap is
    // uniform on 1..=1/p_b - 1, with mean 10.
    let mut red = steady(10.0, CONFIG);
    let mut stream = Streams::new(3).stream("red");
    let mut log = Log::default();
    let n = 100_000;
    for id in 0..n {
        red.enqueue(packet(id, 1_000, ms(0)), finds(ms(0), 10, None), || stream.uniform(), &mut log);
    }
    let gaps: Vec<u32> = log.dropped.windows(2).map(|pair| pair[1].1 - pair[0].1).collect();
    assert!(gaps.iter().all(|&gap| (1..=19).contains(&gap)), "{:?}", gaps.iter().max());
    let mean = f64::from(gaps.iter().sum::<u32>()) / gaps.len() as f64;
    assert!((mean - 10.0).abs() < 0.2, "{mean}");
}

#[test]
fn below_the_lower_threshold_nothing_is_chosen() {
    let mut red = steady(4.99, CONFIG);
    let mut log = Log::default();
    for id in 0..1_000 {
        red.enqueue(packet(id, 1_000, ms(0)), finds(ms(0), 10, None), || 0.0, &mut log);
    }
    assert!(log.dropped.is_empty() && red.count.is_none());
}

#[test]
fn it_is_gentle_above_the_upper_threshold() {
    // p_b at average 22.5 is 0.1 + 0.9 / 2 = 0.55.
    let mut log = Log::default();
    steady(22.5, CONFIG).enqueue(packet(1, 1_000, ms(0)), finds(ms(0), 9, None), || 0.56, &mut log);
    assert!(log.dropped.is_empty());
    steady(22.5, CONFIG).enqueue(packet(2, 1_000, ms(0)), finds(ms(0), 9, None), || 0.54, &mut log);
    assert_eq!(log.dropped, [(ms(0), 2, DropReason::Aqm)]);
    // From twice the threshold on everything goes.
    steady(30.0, CONFIG).enqueue(packet(3, 1_000, ms(0)), finds(ms(0), 9, None), || 0.999, &mut log);
    assert_eq!(log.dropped.len(), 2);
}

#[test]
fn ecn_marks_under_moderate_congestion_only() {
    let config = RedConfig { ecn: true, ..CONFIG };
    let mut log = Log { ecn: true, ..Log::default() };
    let mut moderate = steady(14.0, config);
    moderate.enqueue(packet(1, 1_000, ms(0)), finds(ms(0), 9, None), || 0.0, &mut log);
    assert_eq!((log.marked.len(), log.dropped.len(), moderate.waiting.len()), (1, 0, 1));
    steady(16.0, config).enqueue(packet(2, 1_000, ms(0)), finds(ms(0), 9, None), || 0.0, &mut log);
    assert_eq!((log.marked.len(), log.dropped.len()), (1, 1));
    // A packet that is not ECN-capable is dropped.
    log.ecn = false;
    steady(14.0, config).enqueue(packet(3, 1_000, ms(0)), finds(ms(0), 9, None), || 0.0, &mut log);
    assert_eq!((log.marked.len(), log.dropped.len()), (1, 2));
}

#[test]
fn the_hard_limit_holds_whatever_the_average() {
    let mut red = steady(0.0, CONFIG);
    let mut log = Log::default();
    red.enqueue(packet(1, 1_000, ms(0)), finds(ms(0), 100, None), || 1.0, &mut log);
    assert_eq!(log.dropped, [(ms(0), 1, DropReason::QueueFull)]);
}
