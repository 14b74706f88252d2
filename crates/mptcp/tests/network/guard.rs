//! The goodput guard over real subflows: never below TCP on the best path, and no less than the others where these
//! help.

use super::{impaired, run};
use ropewalk_mptcp::{Config, Coupling, GuardConfig, Scheduler, Subflow};
use ropewalk_testnet::{Line, MptcpHost, Network, QueueLimit, Stack, mptcp_network};
use ropewalk_units::{Duration, Instant, Rate};

const SMALL: u32 = 65_536;
const AMPLE: u32 = 4 << 20;
const SEEDS: u64 = 3;
/// More than any line here carries.
const ENDLESS: u64 = 1 << 40;

/// A line with a DropTail queue of 50 packets and losses in a thousand; ACKs come back without queueing or loss.
fn line(kbps: u64, delay_ms: u64, loss: u32) -> [Line; 2] {
    let delay = Duration::from_millis(delay_ms);
    let forward = Line::of_rate(Rate::from_bits_per_sec(kbps * 1000), delay);
    // And one in transmission.
    let forward = Line { queue: QueueLimit::Packets(51), ..impaired([loss, 0, 0], forward) };
    [forward, Line::ideal(delay)]
}

/// Paper 001's paths.
fn good() -> [Line; 2] {
    line(10_000, 10, 5)
}

fn poor(loss: u32) -> [Line; 2] {
    line(2_000, 10, loss)
}

fn guard() -> Scheduler {
    Scheduler::GoodputGuard(GuardConfig::default())
}

/// A transfer without end through a connection-level window of so many octets.
fn transfer(
    lines: &[[Line; 2]],
    scheduler: Scheduler,
    coupling: Coupling,
    window: u32,
    seconds: u64,
    seed: u64,
) -> Network<MptcpHost> {
    let mut config = Config { scheduler, coupling, receive_buffer: window, ..Config::classic() };
    config.tcp.delayed_ack.segments = 1;
    config.tcp.window_scale = Some(7);
    let mut network = mptcp_network([config.clone(), config], [ENDLESS, 0], lines.to_vec(), seed);
    run(&mut network, Duration::from_secs(seconds));
    network
}

/// Mean goodput over the seeds, Mbit/s.
fn mean(lines: &[[Line; 2]], scheduler: &Scheduler, coupling: Coupling, window: u32) -> f64 {
    let seconds = 40;
    let received = |seed| {
        let network = transfer(lines, scheduler.clone(), coupling, window, seconds, seed);
        network.host(1).application().received
    };
    (1..=SEEDS).map(received).sum::<u64>() as f64 * 8e-6 / (SEEDS * seconds) as f64
}

fn alone(window: u32) -> f64 {
    mean(&[good()], &Scheduler::LowestRtt, Coupling::Uncoupled, window)
}

#[test]
fn never_below_tcp_on_the_best_path() {
    for window in [SMALL, AMPLE] {
        let reference = alone(window);
        for coupling in [Coupling::Uncoupled, Coupling::Lia, Coupling::Balia, Coupling::FullyCoupled] {
            for loss in [5, 30, 70] {
                let goodput = mean(&[good(), poor(loss)], &guard(), coupling, window);
                // Three seeds scatter by some 2 %.
                assert!(goodput > 0.965 * reference, "{coupling:?} {window} {loss}: {goodput} < {reference}");
            }
        }
    }
}

/// Without the guard the same transfers fall far below: what it guards against is real.
#[test]
fn lowest_rtt_falls_below() {
    let reference = alone(SMALL);
    for coupling in [Coupling::Lia, Coupling::Balia] {
        let goodput = mean(&[good(), poor(70)], &Scheduler::LowestRtt, coupling, SMALL);
        assert!(goodput < 0.8 * reference, "{coupling:?}: {goodput}, {reference}");
    }
}

#[test]
fn keeps_what_a_second_path_brings() {
    let reference = alone(AMPLE);
    for loss in [5, 30, 70] {
        let goodput = mean(&[good(), poor(loss)], &guard(), Coupling::Uncoupled, AMPLE);
        assert!(goodput > 1.1 * reference, "{loss}: {goodput}, {reference}");
    }
    let clean = line(10_000, 10, 0);
    for coupling in [Coupling::Uncoupled, Coupling::Lia, Coupling::Olia] {
        let goodput = mean(&[clean.clone(), clean.clone()], &guard(), coupling, AMPLE);
        assert!(goodput > 19.0, "{coupling:?}: {goodput}");
    }
}

#[test]
fn the_initial_path_need_not_be_the_best() {
    let reference = alone(SMALL);
    let goodput = mean(&[poor(50), good()], &guard(), Coupling::Lia, SMALL);
    assert!(goodput > 0.965 * reference, "{goodput} < {reference}");
}

#[test]
fn a_path_that_is_too_slow_for_the_window_is_hardly_used() {
    let slow = line(200, 300, 10);
    let reference = alone(SMALL);
    let guarded = mean(&[good(), slow.clone()], &guard(), Coupling::Uncoupled, SMALL);
    assert!(guarded > 0.97 * reference, "{guarded} of {reference}");
    let unguarded = mean(&[good(), slow], &Scheduler::LowestRtt, Coupling::Uncoupled, SMALL);
    assert!(unguarded < 0.3 * reference, "{unguarded} of {reference}");
}

#[test]
fn a_path_left_out_is_probed_and_returns_when_it_heals() {
    let ill = poor(200);
    let mut healing = ill.clone();
    healing[0].until = Instant::ZERO + Duration::from_secs(10);
    let (mut ill_carried, mut healing_carried) = (0, 0);
    for seed in 1..=SEEDS {
        let carried = |line: &[Line; 2]| {
            let lines = [good(), line.clone()];
            let mut network = transfer(&lines, guard(), Coupling::Uncoupled, 2 * SMALL, 60, seed);
            // Probes are copies, and each is told of both where it went and in all.
            let client = network.host(0).mptcp();
            let copies: Vec<u64> = client.subflows().map(Subflow::reinjected_bytes).collect();
            assert_eq!(copies.iter().sum::<u64>(), client.stats().reinjected_bytes);
            assert!(copies[1] > 60_000, "{copies:?}");
            network.line(1, 0).offered
        };
        let alone = carried(&ill);
        assert!(alone > 60, "probes");
        ill_carried += alone;
        healing_carried += carried(&healing);
    }
    assert!(healing_carried > 5 * ill_carried, "{healing_carried} {ill_carried}");
}

/// A probe blocks nobody: it carries what another path has carried last, and the peer may have that already.
#[test]
fn a_probe_carries_a_copy_of_what_was_sent_last() {
    let (scheduler, receive_buffer) = (guard(), SMALL);
    let mut config = Config { scheduler, receive_buffer, ..Config::classic() };
    config.coupling = Coupling::Uncoupled;
    config.tcp.window_scale = Some(7);
    let lines = vec![good(), line(200, 300, 0)];
    let mut network = mptcp_network([config.clone(), config], [ENDLESS, 0], lines, 1);
    network.record();
    run(&mut network, Duration::from_secs(10));
    let copies: Vec<u64> = network.host(0).mptcp().subflows().map(Subflow::reinjected_bytes).collect();
    assert!(copies[1] > 3000, "{copies:?}");
    assert_eq!(network.host(0).mptcp().stats().reinjected_bytes, copies.iter().sum());
    let mut newest = 0;
    for seen in network.seen.iter().filter(|seen| seen.side == 0 && seen.segment.payload.len > 0) {
        let data = seen.segment.payload.offset;
        assert!(seen.line == 0 || data + 2 * u64::from(SMALL) > newest, "{data} of {newest}");
        newest = newest.max(data);
    }
}
