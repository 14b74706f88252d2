//! Whole transfers over well-behaved paths.

use super::{COUPLINGS, at, impaired, line, received, run, schedulers};
use ropewalk_mptcp::{Config, Coupling, Event, PathManager, Scheduler, SubflowId};
use ropewalk_tcp::{Blame, Quirks, Stats, SubflowAcks};
use ropewalk_testnet::{Line, MptcpHost, Network, Prediction, QueueLimit, both_ways, mptcp_network};
use ropewalk_units::{Duration, Instant, Rate};

fn two_paths() -> Vec<[Line; 2]> {
    vec![both_ways(line(10, 10)), both_ways(line(30, 10))]
}

fn transfer(config: Config, lines: Vec<[Line; 2]>, octets: [u64; 2]) -> Network<MptcpHost> {
    let mut network = mptcp_network([config.clone(), config], octets, lines, 1);
    run(&mut network, Duration::from_secs(300));
    for (side, other) in [(0, 1), (1, 0)] {
        let host = network.host(side);
        assert_eq!(received(&network, side), (octets[other], true), "side {side}: {:?}", host.events);
        assert!(host.closed, "side {side}: {:?}", host.events);
    }
    network
}

#[test]
fn two_subflows_carry_a_transfer_together() {
    let network = transfer(Config::linux(), two_paths(), [5_000_000, 0]);
    let established = network.host(0).events.iter();
    assert_eq!(established.filter(|e| matches!(e, Event::SubflowEstablished(_))).count(), 2);
    let seconds = network.now().as_secs_f64();
    assert!(seconds < 3.0, "10 + 10 Mbit/s carry 5 MB in {seconds} s");
}

#[test]
fn nearly_every_segment_of_a_stream_over_two_paths_is_expected() {
    let lines = [10, 30].map(|delay| both_ways(Line::ideal(Duration::from_millis(delay)))).to_vec();
    let mut network = mptcp_network([Config::linux(), Config::linux()], [1_000_000, 0], lines, 1);
    (0..2).for_each(|side| network.host_mut(side).prediction = Some(Prediction::default()));
    run(&mut network, Duration::from_secs(300));
    for side in 0..2 {
        let Prediction { expected, others } = network.host(side).prediction.expect("asked for");
        assert!(
            expected > 300 && others * 10 < expected,
            "{expected} segments were expected, {others} were not"
        );
    }
}

/// The way back drops options once the handshake is over. The client falls back, and its infinite mapping tells the server,
/// which has seen mappings and would take data without them for a broken subflow (RFC 8684 §3.7).
#[test]
fn options_dropped_on_the_way_back_only_make_both_ends_plain_tcp() {
    let mut lines = vec![both_ways(Line::ideal(Duration::from_millis(10)))];
    lines[0][1].middlebox.strips_from = Some(at(25));
    let network = transfer(Config::linux(), lines, [1_000_000, 0]);
    for host in network.hosts() {
        assert!(host.mptcp().is_fallen_back(), "{:?}", host.events);
    }
}

#[test]
fn both_directions_at_once() {
    transfer(Config::linux(), two_paths(), [3_000_000, 3_000_000]);
}

#[test]
fn only_the_server_sends() {
    let network = transfer(Config::linux(), two_paths(), [0, 3_000_000]);
    assert!(network.now().as_secs_f64() < 3.0, "{}", network.now());
}

#[test]
fn every_scheduler_and_coupling_finishes() {
    for scheduler in schedulers() {
        for coupling in COUPLINGS {
            for preset in [Config::linux(), Config::classic()] {
                let config = Config { scheduler: scheduler.clone(), coupling, ..preset };
                let mut lines = two_paths();
                lines[1].iter_mut().for_each(|line| line.loss = 0.01);
                transfer(config, lines, [500_000, 1000]);
            }
        }
    }
}

/// It steps once a round trip by what it measures, whatever the scheduler looks at.
#[test]
fn wvegas_fills_a_path_and_not_its_queue() {
    for scheduler in [Scheduler::LowestRtt, Scheduler::Linux] {
        let config = Config { scheduler, coupling: Coupling::Wvegas, ..Config::linux() };
        let mut network = transfer(config, vec![both_ways(line(20, 10))], [5_000_000, 0]);
        let seconds = network.now().as_secs_f64();
        assert!(seconds < 5.0, "10 Mbit/s carry 5 MB in {seconds} s");
        assert_eq!(network.line(0, 0).drops_queue, 0, "ten segments at most wait in a queue for seventy");
    }
}

#[test]
fn acks_that_wait_for_the_order_of_data_stall_a_fast_path_for_a_slow_one() {
    let after_two_seconds = |subflow_acks| {
        let mut config = Config { scheduler: Scheduler::RoundRobin, ..Config::classic() };
        config.tcp.quirks.subflow_acks = subflow_acks;
        let lines = vec![both_ways(line(5, 10)), both_ways(line(100, 1))];
        let mut network = mptcp_network([config.clone(), config], [5_000_000, 0], lines, 1);
        run(&mut network, Duration::from_secs(2));
        let fast = network.host(0).mptcp().subflow(SubflowId(0));
        let carried = fast.map(|fast| fast.tcp().stats().bytes_acked);
        run(&mut network, Duration::from_secs(300));
        assert_eq!(received(&network, 1).0, 5_000_000);
        carried.expect("the first subflow")
    };
    let (free, waiting) = (after_two_seconds(SubflowAcks::Own), after_two_seconds(SubflowAcks::InDataOrder));
    assert!(waiting + 100_000 < free, "{free} octets, {waiting} octets");
}

/// 2 MB in turns over a slow path and a fast one that lose nothing: what the two subflows counted, at the sender and at the
/// receiver.
fn in_turns(subflow_acks: SubflowAcks, duplicates_blame: Blame) -> [[Stats; 2]; 2] {
    let mut config = Config { scheduler: Scheduler::RoundRobin, ..Config::classic() };
    config.tcp.quirks = Quirks { subflow_acks, duplicates_blame, ..Quirks::classic() };
    config.tcp.delayed_ack.segments = 1;
    // What was sent again tells no round trip: the undo needs one before that.
    config.tcp.handshake_rtt = true;
    let lines = vec![both_ways(line(5, 10)), both_ways(line(60, 3))];
    let mut network = mptcp_network([config.clone(), config], [2_000_000, 0], lines, 1);
    run(&mut network, Duration::from_secs(300));
    assert_eq!(received(&network, 1), (2_000_000, true));
    [0, 1].map(|side| {
        [0, 1].map(|id| {
            let subflow = network.host(side).mptcp().subflow(SubflowId(id)).expect("both subflows are open");
            *subflow.tcp().stats()
        })
    })
}

#[test]
fn an_extra_ack_goes_out_for_data_ahead_of_the_order() {
    let acks = |subflow_acks| {
        let [sender, receiver] = in_turns(subflow_acks, Blame::Nobody);
        (receiver[0].segments_sent, sender[0].segments_sent)
    };
    let (own, data) = acks(SubflowAcks::Own);
    assert!(own <= data, "{own} ACKs for {data} segments");
    let (twice, data) = acks(SubflowAcks::Twice);
    // Many segments of the fast path come before those of the slow one that precede them.
    assert!(10 * twice > 13 * data, "{twice} ACKs for {data} segments");
    let (late, data) = acks(SubflowAcks::InDataOrder);
    assert!(late < data, "{late} ACKs for {data} segments");
}

#[test]
fn duplicates_can_be_made_to_cut_the_window_of_the_subflow_that_blocks() {
    let [sender, _] = in_turns(SubflowAcks::Twice, Blame::Nobody);
    assert_eq!(sender.map(|stats| (stats.fast_recoveries, stats.retransmissions)), [(0, 0); 2]);
    let [[_, kept], _] = in_turns(SubflowAcks::Twice, Blame::Blocking);
    assert!(kept.fast_recoveries > 0 && kept.undone == 0, "{kept:?}");
    let [[_, undone], _] = in_turns(SubflowAcks::Twice, Blame::BlockingUndone);
    assert!(undone.undone > 0, "{undone:?}");
}

#[test]
fn a_data_fin_that_overtook_data_does_not_keep_subflows_from_joining() {
    // The server is done and has seen the client's DATA_FIN, but not all data before it, when two of three paths are
    // dead and the last one has to be joined again.
    let model = |delay: u64, rate: u64, queue: u64, chances| {
        let (rate, queue) = (Rate::from_bits_per_sec(8 * rate), QueueLimit::Bytes(queue));
        let line = Line { queue, ..Line::of_rate(rate, Duration::from_millis(delay)) };
        both_ways(impaired(chances, line))
    };
    let mut lines = vec![
        model(160, 500_000, 18_720, [23, 66, 101]),
        model(177, 750_000, 13_011, [0, 0, 66]),
        model(54, 125_000, 5_000, [84, 0, 25]),
        model(1, 125_000, 5_000, [0, 0, 0]),
    ];
    let mut down = |line: usize, from, to| {
        lines[line].iter_mut().for_each(|direction| direction.down.push((from, to)));
    };
    down(0, at(6_357), Instant::MAX);
    down(1, at(3_177), Instant::MAX);
    down(3, at(100), at(3_641));
    let common = |mut config: Config| {
        config.tcp.nagle = false;
        config.tcp.rto_max = Duration::from_secs(20);
        config.tcp.time_wait = Duration::from_secs(1);
        let add_addr_timeout = Duration::from_secs(2);
        let (scheduler, coupling) = (Scheduler::RoundRobin, Coupling::Uncoupled);
        Config { scheduler, coupling, add_addr_timeout, reinjection: false, ..config }
    };
    let client = Config { receive_buffer: 4_000, send_buffer: 100_000, ..common(Config::linux()) };
    let server = Config {
        path_manager: PathManager::Backup,
        receive_buffer: 4_000_000,
        send_buffer: 1_000,
        ..common(Config::classic())
    };
    let mut joined_late = 0;
    for seed in 0..60 {
        let configs = [client.clone(), server.clone()];
        let mut network = mptcp_network(configs, [159_617, 1], lines.clone(), seed);
        run(&mut network, Duration::from_secs(3_000));
        assert_eq!(received(&network, 1).0, 159_617, "seed {seed}");
        assert!(network.hosts().iter().all(|host| host.closed), "seed {seed}");
        let events = &network.host(1).events;
        let place = |wanted: fn(&Event) -> bool| events.iter().position(wanted);
        let done = place(|event| matches!(event, Event::FinishAcknowledged));
        let whole = place(|event| matches!(event, Event::PeerFinished));
        let joined = events.iter().rposition(|event| matches!(event, Event::SubflowEstablished(_)));
        joined_late += u32::from(done.is_some() && done < joined && joined < whole);
    }
    assert!(joined_late > 0, "no subflow was joined between the server's end and the last data");
}
