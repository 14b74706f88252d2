//! What a path loses is sent again.

use crate::apps::{ConstantRate, Flow, Tally};
use crate::net::{Bond, at, line};
use ropewalk_bonding::{Class, Config, Order, PathConfig, PathId, SchedulerConfig};
use ropewalk_units::Duration;

fn config() -> Config {
    let paths = (0..2).map(|place| PathConfig::new(format!("p{place}"), Some(place))).collect();
    Config::new(paths, SchedulerConfig::RateAware)
}

/// Ten seconds of 60 Mbit/s over 40 + 40 Mbit/s (10 and 30 ms of round trip), each losing this
/// share of what it carries, either way.
fn run(config: &Config, loss: f64, class: Class) -> (Bond, Tally) {
    run_with_seed(config, loss, class, 1)
}

fn run_with_seed(config: &Config, loss: f64, class: Class, seed: u64) -> (Bond, Tally) {
    let link = |ms: f64| {
        let mut link = line(40.0, ms);
        link.loss = loss;
        link
    };
    let mut bond = Bond::new(config, vec![[link(5.0), link(5.0)], [link(15.0), link(15.0)]], seed);
    let mut flow = Flow { start: at(5.0), stop: at(15.0), ..Flow::new(1, 60.0, 1400) };
    flow.key.class = class;
    let mut app = ConstantRate::new(vec![flow]);
    bond.run(at(16.0), &mut app);
    let tally = app.tallies[0].clone();
    assert_eq!(tally.duplicates, 0);
    (bond, tally)
}

fn undelivered(tally: &Tally) -> f64 {
    (tally.sent - tally.delivered) as f64 / tally.sent as f64
}

#[test]
fn a_flow_misses_nothing_of_what_lossy_paths_lose() {
    for seed in 1..=6 {
        let (bond, tally) = run_with_seed(&config(), 0.01, Class::Normal, seed);
        is_repaired(&bond, &tally);
    }
}

fn is_repaired(bond: &Bond, tally: &Tally) {
    assert_eq!(tally.out_of_order, 0);
    // Such a packet was lost three times in a row: the packet, and twice its repair or the request
    // for it.
    assert!(undelivered(tally) <= 1e-4, "{} of {}", tally.sent - tally.delivered, tally.sent);
    let views = || [0, 1].map(|path| bond.end(0).path(PathId(path)));
    let lost: u64 = views().iter().map(|view| view.lost_reported).sum();
    let repaired: u64 = views().iter().map(|view| view.repaired).sum();
    assert!(lost as f64 >= 0.008 * tally.sent as f64, "{lost} lost: repairs do not hide what the paths do");
    assert_eq!(repaired, bond.repairs()[0]);
    assert!((0.9..=1.2).contains(&(repaired as f64 / lost as f64)), "{repaired} sent again of {lost}");
    // The last of the flow waits for a keepalive that shows it to be missing, and for its repair.
    assert!(
        tally.percentile_ms(1.0) <= 15.0 + 50.0 + 2.0 * (12.5 + 10.0) + 10.0,
        "{}",
        tally.percentile_ms(1.0)
    );
}

/// In a round trip of 37 packets two are often lost by chance. That is no sign of a buffer that
/// overflows (BBRStartupFullLossCnt).
#[test]
fn losses_at_random_do_not_make_the_paths_slower() {
    for (loss, seed) in [(0.01, 19), (0.015, 8), (0.02, 12)] {
        let (bond, tally) = run_with_seed(&config(), loss, Class::Normal, seed);
        assert_eq!(bond.unsent(), 0, "{loss} of 60 Mbit/s over 80");
        assert!(undelivered(&tally) <= 1e-4, "{} of {} at {loss}", tally.sent - tally.delivered, tally.sent);
    }
}

#[test]
fn paths_that_lose_a_fifth_are_not_refilled() {
    let (bond, tally) = run(&config(), 0.2, Class::Normal);
    assert!(bond.repairs()[0] <= tally.sent / 8 + 2 * 64, "{} of {}", bond.repairs()[0], tally.sent);
}

#[test]
fn nothing_is_sent_again_for_who_does_not_wait_for_it() {
    let undelivered_of = |config: &Config, class: Class| {
        let (bond, tally) = run(config, 0.01, class);
        assert_eq!(bond.repairs(), [0, 0]);
        undelivered(&tally)
    };
    let without = |change: fn(&mut Config)| {
        let mut config = config();
        change(&mut config);
        config
    };
    let settings = [
        (config(), Class::Unordered),
        (without(|config| config.repair = false), Class::Normal),
        (without(|config| config.order = Order::Off), Class::Normal),
        (without(|config| config.resequencer.timeout = Some(Duration::from_millis(80))), Class::Normal),
    ];
    for (config, class) in settings {
        let lost = undelivered_of(&config, class);
        assert!((0.008..0.013).contains(&lost), "{lost}");
    }
}
