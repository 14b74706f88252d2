//! What the three detectors are worth on paths that delay and turn round, but lose little.

use super::{delivered, lossy, seconds, transfer};
use ropewalk_tcp::{Config, CongestionControl, LossRecovery, SpuriousResponse};

use ropewalk_testnet::{Line, QueueLimit, Standstill};
use ropewalk_units::{Duration, Rate};

const NONE: SpuriousResponse = SpuriousResponse { dsack: false, eifel: false, frto: false, door: false };
const DSACK: SpuriousResponse = SpuriousResponse { dsack: true, ..NONE };
const EIFEL: SpuriousResponse = SpuriousResponse { eifel: true, ..NONE };
const FRTO: SpuriousResponse = SpuriousResponse { frto: true, ..NONE };
const ALL: SpuriousResponse = SpuriousResponse::all();
const DOOR: SpuriousResponse = SpuriousResponse { door: true, ..NONE };

struct Outcome {
    mbps: f64,
    undone: u64,
    timeouts: u64,
    retransmissions: u64,
}

fn config(spurious: SpuriousResponse) -> Config {
    Config {
        congestion_control: CongestionControl::NewReno { byte_counting: true },
        loss_recovery: LossRecovery::Sack,
        tail_loss_probe: false,
        spurious,
        ..Config::linux()
    }
}

fn run(config: &Config, path: &[Line; 2]) -> Outcome {
    let mut network = transfer([config.clone(), config.clone()], u64::MAX, path.clone(), 7);
    network.run(seconds(120));
    let stats = network.host(0).connection().stats();
    let outcome = Outcome {
        mbps: delivered(&network) as f64 * 8.0 / 120.0 / 1e6,
        undone: stats.undone,
        timeouts: stats.timeouts,
        retransmissions: stats.retransmissions,
    };
    let Outcome { mbps, undone, timeouts, retransmissions } = outcome;
    eprintln!(
        "{:?}: {mbps:.2} undone {undone} timeouts {timeouts} retransmissions {retransmissions}",
        config.spurious
    );
    outcome
}

/// 10 Mbit/s, 100 ms, a queue of one bandwidth-delay product; it stands still for 1.2 s every 8 s.
fn standing_still() -> [Line; 2] {
    let mut path = lossy(Rate::from_bits_per_sec(10_000_000), Duration::from_millis(50), 0.0);
    path[0].queue = QueueLimit::Bytes(125_000);
    path[0].middlebox.standstill =
        Some(Standstill { every: Duration::from_secs(8), lasting: Duration::from_millis(1_200) });
    path
}

#[test]
fn a_timeout_in_vain_is_found_by_each_and_costs_less() {
    let none = run(&config(NONE), &standing_still());
    assert!(none.timeouts >= 12 && none.undone == 0, "{} timeouts", none.timeouts);
    for spurious in [EIFEL, FRTO, ALL] {
        let outcome = run(&config(spurious), &standing_still());
        // Fourteen times it stood still; the second timeout of a series is no new case.
        assert!((12..=16).contains(&outcome.undone), "{spurious:?}: {}", outcome.undone);
        assert!(outcome.retransmissions * 2 < none.retransmissions, "{spurious:?}: go-back-N goes on");
        assert!(outcome.mbps > none.mbps, "{spurious:?}: {:.2} against {:.2}", outcome.mbps, none.mbps);
    }
    // DSACK reports after everything was sent again: it restores the window, but saves no retransmission.
    let late = run(&config(DSACK), &standing_still());
    assert!(late.undone > 0 && late.mbps > 0.95 * none.mbps);
}

/// 10 Mbit/s, 40 ms, segments up to 8 ms late: seven overtake each other.
fn turning_round() -> [Line; 2] {
    let mut path = lossy(Rate::from_bits_per_sec(10_000_000), Duration::from_millis(20), 0.0);
    path[0].jitter = Duration::from_millis(8);
    path
}

#[test]
fn reordering_is_not_taken_for_loss_once_it_is_known() {
    let none = run(&config(NONE), &turning_round());
    for spurious in [DSACK, EIFEL, ALL] {
        let outcome = run(&config(spurious), &turning_round());
        assert!(outcome.undone > 0, "{spurious:?}");
        assert!(outcome.mbps > 1.5 * none.mbps, "{spurious:?}: {:.2} against {:.2}", outcome.mbps, none.mbps);
    }
    // F-RTO looks at timeouts alone.
    let frto = run(&config(FRTO), &turning_round());
    assert!((frto.mbps / none.mbps - 1.0).abs() < 0.2, "{:.2} against {:.2}", frto.mbps, none.mbps);
}

#[test]
fn out_of_order_arrival_leaves_the_window_as_it_is() {
    let none = run(&config(NONE), &turning_round());
    let outcome = run(&config(DOOR), &turning_round());
    assert!(outcome.mbps > 1.5 * none.mbps, "DOOR {:.2} against {:.2}", outcome.mbps, none.mbps);
    // It waits for nothing: what overtakes three segments is sent again still.
    assert!(outcome.retransmissions > none.retransmissions, "{}", outcome.retransmissions);
}

/// T1 alone keeps the window; T2 alone gives it back; without either it is as if there were no detector.
#[test]
fn each_period_of_door_does_its_part() {
    let none = run(&config(NONE), &turning_round());
    let with =
        |t1, t2| run(&Config { door_t1: Some(t1), door_t2: Some(t2), ..config(DOOR) }, &turning_round());
    let (off, on) = (Duration::ZERO, Duration::from_millis(40));
    let neither = with(off, off);
    assert!((neither.mbps / none.mbps - 1.0).abs() < 0.05, "{:.2} against {:.2}", neither.mbps, none.mbps);
    assert_eq!(neither.undone, 0);
    let (quiet, young) = (with(on, off), with(off, on));
    assert_eq!(quiet.undone, 0);
    assert!(young.undone > 0);
    for outcome in [quiet, young] {
        assert!(outcome.mbps > 1.2 * none.mbps, "{:.2} against {:.2}", outcome.mbps, none.mbps);
    }
}

#[test]
fn rack_waits_for_what_is_only_late() {
    let rack = Config { loss_recovery: LossRecovery::Rack, ..config(NONE) };
    let sack = run(&config(NONE), &turning_round());
    let outcome = run(&rack, &turning_round());
    assert!(outcome.mbps > 1.5 * sack.mbps, "RACK {:.2} against {:.2}", outcome.mbps, sack.mbps);
}

#[test]
fn nothing_is_undone_where_losses_are_real() {
    let path = lossy(Rate::from_bits_per_sec(10_000_000), Duration::from_millis(20), 0.02);
    let none = run(&config(NONE), &path);
    for spurious in [DSACK, EIFEL, FRTO, ALL, DOOR] {
        let outcome = run(&config(spurious), &path);
        assert!(outcome.undone * 50 <= outcome.retransmissions, "{spurious:?}: {}", outcome.undone);
        let ratio = outcome.mbps / none.mbps;
        assert!((0.9..1.1).contains(&ratio), "{spurious:?}: {ratio:.3}");
    }
}
