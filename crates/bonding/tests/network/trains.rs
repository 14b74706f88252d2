//! What trains of probes show of lines that nobody uses.

use crate::apps::{ConstantRate, Flow};
use crate::net::{Bond, Link, at, ms};
use ropewalk_bonding::{Config, PathConfig, PathId, PathView, RateAwareConfig, SchedulerConfig};

/// The path as its sender sees it, `seconds` after it came up together with another.
fn seen(link: &Link, seconds: f64, app: &mut ConstantRate) -> PathView {
    let paths = vec![PathConfig::new("line", Some(0)), PathConfig::new("other", Some(1))];
    let config = Config::new(paths, SchedulerConfig::RateAware(RateAwareConfig::default()));
    let other = Link::new(50.0, 12.0);
    let mut bond = Bond::new(&config, vec![[link.clone(), link.clone()], [other.clone(), other]], 1);
    bond.run(at(seconds), app);
    bond.ends[0].path(PathId(0))
}

fn idle() -> ConstantRate {
    ConstantRate::new(Vec::new())
}

#[test]
fn they_show_the_rate_of_any_line() {
    for mbps in [2.0, 10.0, 29.0, 64.0, 140.0] {
        for queue in [5, 20, 100] {
            for rtt in [5.0, 40.0, 200.0] {
                let mut link = Link::new(mbps, rtt / 2.0);
                link.queue = queue;
                let path = seen(&link, 5.0, &mut idle());
                let shown = path.delivery_rate.bits_per_sec() as f64 / 1e6;
                println!("{mbps} Mbit/s, {queue} packets, {rtt} ms: {shown} by {} probes", path.probes);
                // Keepalives and reports take some.
                let error = (shown - mbps).abs();
                assert!(error < 0.03 * mbps + 0.1, "{shown} of {mbps} Mbit/s, {queue} packets, {rtt} ms");
                assert!(path.probes < 1_900, "{} probes", path.probes);
            }
        }
    }
}

#[test]
fn they_show_no_rate_where_delays_vary_too_much() {
    let mut link = Link::new(45.0, 30.0);
    link.reordering = ms(28.0);
    let path = seen(&link, 5.0, &mut idle());
    assert_eq!(path.delivery_rate.bits_per_sec(), 0);
    assert!(path.probes <= 10, "{} probes", path.probes);
}

#[test]
fn nobody_who_uses_a_line_meets_more_than_the_first() {
    let mut app = ConstantRate::new(vec![Flow { stop: at(4.0), ..Flow::new(1, 1.0, 1452) }]);
    let path = seen(&Link::new(64.0, 10.0), 4.0, &mut app);
    assert_eq!(path.probes, 10);
    assert_eq!(app.tallies[0].sent, app.tallies[0].delivered + 1, "one is on its way");
}
