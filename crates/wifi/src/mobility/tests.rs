use super::*;
use crate::position::Area;
use ropewalk_sim::Streams;
use ropewalk_units::Duration;

const AREA: Area = Area { width: 300.0, height: 100.0 };

fn waypoint(start: Start) -> RandomWaypoint {
    RandomWaypoint { area: AREA, speed_min: 1.0, speed_max: 19.0, pause: Duration::from_secs(10), start }
}

fn gauss_markov() -> GaussMarkov {
    GaussMarkov {
        area: AREA,
        memory: 0.75,
        speed: 5.0,
        speed_deviation: 1.5,
        direction_deviation: 0.4,
        interval: Duration::from_secs(1),
        from: None,
    }
}

fn seconds(at: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(at)
}

fn is_near(a: Position, b: Position) -> bool {
    a.distance(b) < 1e-6
}

/// What counts about a random waypoint station at a time: the distance from the centre, and its
/// speed (0 in a pause).
fn sample(model: RandomWaypoint, name: &str, at: f64) -> (f64, f64) {
    let stream = Streams::new(3).stream(name);
    let mut trajectory = WaypointTrajectory::new(model, stream).unwrap();
    let here = trajectory.position(seconds(at));
    let soon = trajectory.position(seconds(at + 0.001));
    (here.distance(Position::new(150.0, 50.0)), here.distance(soon) / 0.001)
}

/// Means over stations at one time: distance from the centre, part in pause, speed of those that
/// move.
fn ensemble(model: RandomWaypoint, at: f64, stations: u32) -> (f64, f64, f64) {
    let (mut distance, mut pauses, mut speed) = (0.0, 0.0, 0.0);
    for k in 0..stations {
        let (d, v) = sample(model, &format!("station/{k}"), at);
        distance += d;
        speed += v;
        pauses += if v == 0.0 { 1.0 } else { 0.0 };
    }
    let n = f64::from(stations);
    (distance / n, pauses / n, speed / (n - pauses))
}

#[test]
fn the_mean_distance_is_that_of_drawn_pairs() {
    assert!((Area { width: 1.0, height: 1.0 }.mean_distance() - 0.521_405_433).abs() < 1e-8);
    let mut stream = Streams::new(1).stream("pairs");
    let mut point = || Position::new(300.0 * stream.uniform(), 100.0 * stream.uniform());
    let mean = (0..200_000).map(|_| point().distance(point())).sum::<f64>() / 200_000.0;
    // The standard deviation of a distance here is 67 m: a standard error is 0.15 m.
    assert!((mean - AREA.mean_distance()).abs() < 0.6, "{mean} for {}", AREA.mean_distance());
}

#[test]
fn a_stationary_start_has_the_means_of_the_long_run_at_once() {
    let model = waypoint(Start::Stationary);
    for at in [0.0, 60.0, 1000.0] {
        let (_, pauses, speed) = ensemble(model, at, 8000);
        // Standard errors: below 0.006 of the share, 0.07 m/s of the speed.
        assert!((pauses - model.pause_share()).abs() < 0.02, "{at}: {pauses} for {}", model.pause_share());
        assert!((speed - model.mean_speed()).abs() < 0.25, "{at}: {speed} for {}", model.mean_speed());
    }
    // By hand: 18 / ln 19.
    assert!((model.mean_speed() - 6.113).abs() < 1e-3);
}

#[test]
fn a_warm_up_ends_where_a_stationary_start_begins() {
    let stationary = ensemble(waypoint(Start::Stationary), 0.0, 8000);
    let discarded = Duration::from_secs(2000);
    let warm = ensemble(waypoint(Start::WarmUp { from: None, discarded }), 0.0, 8000);
    // The standard deviation of the distance is about 45 m: of the difference of the means 0.7 m.
    assert!((stationary.0 - warm.0).abs() < 2.8, "{stationary:?} {warm:?}");
    assert!((stationary.1 - warm.1).abs() < 0.03, "{stationary:?} {warm:?}");
    assert!((stationary.2 - warm.2).abs() < 0.35, "{stationary:?} {warm:?}");
    // Without a warm-up all move, faster, and are spread wider.
    let cold = ensemble(waypoint(Start::WarmUp { from: None, discarded: Duration::ZERO }), 0.0, 8000);
    assert!(cold.1 == 0.0 && (cold.2 - 10.0).abs() < 0.3 && cold.0 > stationary.0 + 5.0, "{cold:?}");
}

#[test]
fn a_position_does_not_depend_on_how_often_it_is_asked_for() {
    let streams = Streams::new(9);
    let make = |kind: usize| match kind {
        0 => Trajectory::Waypoint(
            WaypointTrajectory::new(waypoint(Start::Stationary), streams.stream("m")).unwrap(),
        ),
        _ => {
            Trajectory::GaussMarkov(GaussMarkovTrajectory::new(gauss_markov(), streams.stream("m")).unwrap())
        }
    };
    for kind in [0, 1] {
        let (mut often, mut seldom) = (make(kind), make(kind));
        let mut before = often.position(Instant::ZERO);
        for k in 1..=20_000u32 {
            let here = often.position(seconds(f64::from(k) * 0.1));
            assert!(AREA.contains(here), "{here:?}");
            assert!(here.distance(before) < 2.0, "a jump at step {k}");
            before = here;
        }
        assert_eq!(seldom.position(seconds(2000.0)), before);
        assert!(!seldom.is_fixed());
    }
}

#[test]
fn gauss_markov_speeds_have_their_mean_deviation_and_memory() {
    let model = gauss_markov();
    let mut trajectory = GaussMarkovTrajectory::new(model, Streams::new(4).stream("g")).unwrap();
    let speeds: Vec<f64> = (0..100_000u32)
        .map(|k| {
            trajectory.position(seconds(f64::from(k)));
            trajectory.speed()
        })
        .collect();
    let n = speeds.len() as f64;
    let mean = speeds.iter().sum::<f64>() / n;
    let variance = speeds.iter().map(|s| (s - mean) * (s - mean)).sum::<f64>() / n;
    let covariance = speeds.windows(2).map(|s| (s[0] - mean) * (s[1] - mean)).sum::<f64>() / n;
    // Correlation 0.75 leaves a seventh of the draws: a standard error of 0.0125 m/s of the mean.
    assert!((mean - 5.0).abs() < 0.05, "{mean}");
    assert!((variance.sqrt() - 1.5).abs() < 0.03, "{}", variance.sqrt());
    assert!((covariance / variance - 0.75).abs() < 0.01, "{}", covariance / variance);
}

#[test]
fn gauss_markov_without_noise_goes_straight_and_bounces() {
    let model = GaussMarkov {
        memory: 1.0,
        speed_deviation: 0.0,
        direction_deviation: 0.0,
        from: Some(Position::new(10.0, 20.0)),
        ..gauss_markov()
    };
    let mut trajectory = GaussMarkovTrajectory::new(model, Streams::new(4).stream("g")).unwrap();
    let first = trajectory.position(seconds(0.5));
    let (dx, dy) = ((first.x - 10.0) / 0.5, (first.y - 20.0) / 0.5);
    assert!((dx * dx + dy * dy - 25.0).abs() < 1e-6);
    // The way is a straight line folded at the edges.
    let fold = |way: f64, extent: f64| {
        let within = (way % (2.0 * extent) + 2.0 * extent) % (2.0 * extent);
        if within > extent { 2.0 * extent - within } else { within }
    };
    for k in 1..200 {
        let at = 3.7 * f64::from(k);
        let expected = Position::new(fold(10.0 + dx * at, 300.0), fold(20.0 + dy * at, 100.0));
        assert!(trajectory.position(seconds(at)).distance(expected) < 1e-4, "at {at} s");
    }
}

#[test]
fn parameters_out_of_range_are_named() {
    let base = waypoint(Start::Stationary);
    let outside = Start::WarmUp { from: Some(Position::new(400.0, 1.0)), discarded: Duration::ZERO };
    for (model, part) in [
        (RandomWaypoint { speed_min: 0.0, ..base }, "speed_min must be above 0 m/s, not 0"),
        (RandomWaypoint { speed_max: 0.5, ..base }, "speed_max"),
        (RandomWaypoint { speed_max: f64::NAN, ..base }, "speed_max"),
        (RandomWaypoint { area: Area { width: 0.0, height: 1.0 }, ..base }, "area.width"),
        (RandomWaypoint { start: outside, ..base }, "start.from.x must be inside the area, not 400"),
    ] {
        let error = WaypointTrajectory::new(model, Streams::new(1).stream("w")).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    let base = gauss_markov();
    for (model, part) in [
        (GaussMarkov { memory: 1.1, ..base }, "memory must be from 0 to 1"),
        (GaussMarkov { speed: -1.0, ..base }, "speed"),
        (GaussMarkov { speed_deviation: f64::INFINITY, ..base }, "speed_deviation"),
        (GaussMarkov { direction_deviation: f64::NAN, ..base }, "direction_deviation"),
        (GaussMarkov { interval: Duration::ZERO, ..base }, "interval"),
        (GaussMarkov { from: Some(Position::new(0.0, 101.0)), ..base }, "from.y"),
    ] {
        let error = GaussMarkovTrajectory::new(model, Streams::new(1).stream("g")).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

const FILE: &str = "\
#
# nodes: 2, pause: 2.00, max speed: 10.00
#
$node_(0) set X_ 10.0
$node_(0) set Y_ 20.0
$node_(0) set Z_ 0.000000000000
$node_(7) set X_ 1e2
$node_(7) set Y_ 0
$god_ set-dist 0 7 2
$ns_ at 20.0 \"$node_(0) setdest 10.0 70.0 5.0\"
$ns_ at 5.000 \"$node_(0) setdest 40.0 20.0 2.0\"

$ns_ at 12.0 \"$god_ set-dist 0 7 1\"
  $ns_ at 25.0 \"$node_(0) setdest 0.0 0.0 0.0\"
";

#[test]
fn a_movement_file_is_followed() {
    let movement = Movement::parse(FILE).unwrap();
    assert_eq!(movement.nodes().collect::<Vec<_>>(), [0, 7]);
    let mut moving = Trajectory::Scripted(movement.trajectory(0).unwrap());
    for (at, x, y) in [
        (0.0, 10.0, 20.0),
        (5.0, 10.0, 20.0),
        (10.0, 20.0, 20.0),
        // 15 s at 2 m/s: just arrived as the next order comes, however it was written.
        (20.0, 40.0, 20.0),
        // 58.3 m at 5 m/s, stopped after five seconds: 25 m of (-30, 50).
        (25.0, 40.0 - 30.0 * 25.0 / 58.309_518_948, 20.0 + 50.0 * 25.0 / 58.309_518_948),
        (99.0, 40.0 - 30.0 * 25.0 / 58.309_518_948, 20.0 + 50.0 * 25.0 / 58.309_518_948),
    ] {
        let here = moving.position(seconds(at));
        assert!(is_near(here, Position::new(x, y)), "at {at} s: {here:?}");
    }
    // Asked only once, late: the same.
    let mut late = Trajectory::Scripted(movement.trajectory(0).unwrap());
    assert_eq!(late.position(seconds(99.0)), moving.position(seconds(99.0)));
    let mut standing = Trajectory::Scripted(movement.trajectory(7).unwrap());
    assert_eq!(standing.position(seconds(50.0)), Position::new(100.0, 0.0));
    assert!(movement.trajectory(1).is_none());
}

#[test]
fn an_order_breaks_off_the_movement_before() {
    let text = "$node_(0) set X_ 0\n$node_(0) set Y_ 0\n\
                $ns_ at 0 \"$node_(0) setdest 100 0 1\"\n$ns_ at 10 \"$node_(0) setdest 10 50 2\"\n";
    let mut moving = Trajectory::Scripted(Movement::parse(text).unwrap().trajectory(0).unwrap());
    assert!(is_near(moving.position(seconds(15.0)), Position::new(10.0, 10.0)));
    assert!(is_near(moving.position(seconds(35.0)), Position::new(10.0, 50.0)));
}

#[test]
fn what_is_wrong_with_a_movement_file_is_named_with_its_line() {
    let start = "$node_(0) set X_ 0\n$node_(0) set Y_ 0\n";
    for (text, line, part) in [
        ("", 1, "names no node"),
        ("# only this\n", 1, "names no node"),
        ("$node_(0) set X_ 0\n", 1, "$node_(0) set Y_ is missing"),
        ("\n$ns_ at 1 \"$node_(3) setdest 1 2 3\"\n", 2, "node 3 has no first position"),
        ("$node_(0) set X_ ten\n", 1, "X_: expected a number, found \"ten\""),
        ("$node_(0) set X_ nan\n", 1, "X_ must be a finite number"),
        ("$node_(0) set Z_ 1.5\n", 1, "Z_ must be 0"),
        ("$node_(0) set W_ 1.5\n", 1, "found \"$node_(0) set W_ 1.5\""),
        ("$node_(x) set X_ 1.5\n", 1, "expected $node_(0) set X_"),
        ("$node_(-1) set X_ 1.5\n", 1, "expected $node_(0) set X_"),
        (&format!("{start}$node_(0) set X_ 3\n"), 3, "X_ of node 0 is set a second time"),
        (&format!("{start}$ns_ at -1 \"$node_(0) setdest 1 2 3\"\n"), 3, "time must be from 0"),
        (&format!("{start}$ns_ at 1e30 \"$node_(0) setdest 1 2 3\"\n"), 3, "time must be from 0"),
        (&format!("{start}$ns_ at 1 \"$node_(0) setdest 1 2 -3\"\n"), 3, "speed must be finite"),
        (&format!("{start}$ns_ at 1 \"$node_(0) setdest 1 inf 3\"\n"), 3, "y must be a finite"),
        (&format!("{start}$ns_ at 1 \"$node_(0) setdest 1 2\"\n"), 3, "found \"$ns_ at 1"),
        (&format!("{start}\n$ns_ at 1 \"$node_(0) start\"\n"), 4, "found \"$ns_ at 1"),
    ] {
        let error = Movement::parse(text).unwrap_err();
        assert_eq!(error.line, line, "{error}");
        assert!(error.to_string().contains(part), "{error}");
    }
}

proptest::proptest! {
    #[test]
    fn no_text_is_too_strange_for_the_parser(text in "[$\\w(){}\" .#\\n-]{0,200}") {
        drop(Movement::parse(&text));
    }
}
