//! Clocks that drift apart while a line is filled.

use crate::apps::{ConstantRate, Flow};
use crate::net::{Bond, at, line, ms};
use ropewalk_bonding::{Config, PathConfig, PathId, SchedulerConfig};
use ropewalk_testnet::Line;
use ropewalk_units::Duration;

/// Round trips by keepalives over a line of 20 Mbit/s and 20 ms, each second of a minute. More comes than it carries. The peer's clock drifts, and
/// the way back takes 30 ms longer for all of it but the first 5 s if `others` fill it.
fn round_trips(ppm: i64, others: bool) -> Vec<Duration> {
    let config = Config::new(vec![PathConfig::new("p0", None)], SchedulerConfig::RateAware);
    let longer = if others { vec![(at(5.0), ms(40.0))] } else { Vec::new() };
    let back = Line { delays: longer, ..line(20.0, 10.0) };
    let mut bond = Bond::new(&config, vec![[line(20.0, 10.0), back]], 1);
    bond.let_drift(1, ppm);
    let mut app =
        ConstantRate::new(vec![Flow { start: at(1.0), stop: at(60.0), ..Flow::new(1, 25.0, 1400) }]);
    let mut each = |second: u32| {
        bond.run(at(f64::from(second)), &mut app);
        bond.end(0).path(PathId(0)).srtt.expect("keepalives are answered")
    };
    (10..60).map(&mut each).collect()
}

/// In a minute they drift apart by 3 to 30 ms.
#[test]
fn a_controller_lets_no_queue_grow_that_the_clocks_hide() {
    let alone = [-500, -50, 50, 500].map(|ppm| (ppm, false));
    let beside_others = [-500, -50, 50].map(|ppm| (ppm, true));
    for (ppm, others) in alone.into_iter().chain(beside_others) {
        let round_trips = round_trips(ppm, others);
        let empty = ms(if others { 50.0 } else { 20.0 });
        let most = *round_trips.iter().max().expect("some were measured");
        // A clock that gains seems a queue of others, until its rate is known. Then BBR probes, whose queues last for less than five seconds.
        let longest = if (ppm, others) == (50, true) {
            assert!(most < empty + ms(20.0), "{ppm} ppm, others: {others}: {most}, no more than BBR holds");
            let least = |of_five: &[Duration]| *of_five.iter().min().expect("there are five");
            round_trips.windows(5).map(least).max().expect("some were measured")
        } else {
            most
        };
        assert!(longest < empty + ms(4.0), "{ppm} ppm, others: {others}: {longest}");
    }
}
