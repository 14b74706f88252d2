//! Under any schedule of loss, duplication, reordering, delay, option stripping, path death and closed windows the
//! stream arrives whole, once and in order, or the connection ends with an error; nothing hangs while a path
//! works.

use super::{COUPLINGS, at, impaired, line, received, schedulers};
use proptest::prelude::*;
use ropewalk_adversary::{Random, Source};
use ropewalk_mptcp::{Config, Connection, Coupling, Event, PathManager, Scheduler};
use ropewalk_tcp::{Blame, Quirks, SubflowAcks};
use ropewalk_testnet::{
    Line, MptcpHost, Network, Prediction, QueueLimit, Seen, Stack, both_ways, mptcp_network,
};
use ropewalk_units::{Duration, Instant};
use ropewalk_wire::Flags;

/// Longer than any chain of back-offs that a scenario below can cause.
const LIMIT: Duration = Duration::from_secs(3_000);

#[derive(Clone, Debug)]
struct Scenario {
    client: Config,
    server: Config,
    lines: Vec<[Line; 2]>,
    octets: [u64; 2],
    reads: [(u64, u64); 2],
    seed: u64,
}

fn path_manager() -> impl Strategy<Value = PathManager> {
    prop_oneof![
        3 => Just(PathManager::FullMesh),
        1 => Just(PathManager::Ndiffports { subflows: 3 }),
        1 => Just(PathManager::Backup),
    ]
}

fn buffer() -> impl Strategy<Value = u32> {
    prop::sample::select(vec![1_000, 4_000, 20_000, 100_000, 4_000_000])
}

fn config() -> impl Strategy<Value = Config> {
    let switches = prop::array::uniform6(any::<bool>());
    let quirks = prop_oneof![
        8 => Just((SubflowAcks::Own, Blame::Own)),
        1 => Just((SubflowAcks::InDataOrder, Blame::Own)),
        1 => (Just(SubflowAcks::Twice), prop::sample::select(&[Blame::Nobody, Blame::BlockingUndone][..])),
    ];
    (
        prop::sample::select(schedulers()),
        prop::sample::select(&COUPLINGS[..]),
        path_manager(),
        buffer(),
        buffer(),
        (switches, quirks),
    )
        .prop_map(
            |(scheduler, coupling, path_manager, receive_buffer, send_buffer, (switches, quirks))| {
                let [linux, checksum, opportunistic_retransmission, penalization, reinjection, nagle] =
                    switches;
                let mut config = if linux { Config::linux() } else { Config::classic() };
                config.tcp.nagle = nagle;
                (config.tcp.quirks.subflow_acks, config.tcp.quirks.duplicates_blame) = quirks;
                config.tcp.time_wait = Duration::from_secs(1);
                config.tcp.rto_max = Duration::from_secs(20);
                Config {
                    scheduler,
                    coupling,
                    path_manager,
                    checksum,
                    receive_buffer,
                    send_buffer,
                    opportunistic_retransmission,
                    penalization,
                    reinjection,
                    add_addr_timeout: Duration::from_secs(2),
                    ..config
                }
            },
        )
}

fn drawn_line() -> impl Strategy<Value = [Line; 2]> {
    let chances = (0u32..150, 0u32..100, 0u32..200);
    (1u64..200, 1u64..20, 5_000u64..100_000, chances).prop_map(|(delay, mbps, queue, chances)| {
        let line = Line { queue: QueueLimit::Bytes(queue), ..line(delay, mbps) };
        both_ways(impaired(chances.into(), line))
    })
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let reads = prop::array::uniform2((prop::sample::select(vec![0u64, 100, 2_000]), 1u64..20));
    let octets = prop::array::uniform2(prop_oneof![Just(0u64), Just(1), 1u64..3_000, 3_000u64..300_000]);
    (config(), config(), prop::collection::vec(drawn_line(), 1..=4), octets, reads, any::<u64>()).prop_map(
        |(client, server, lines, octets, reads, seed)| Scenario {
            client,
            server,
            lines,
            octets,
            reads,
            seed,
        },
    )
}

fn run(scenario: &Scenario) -> Network<MptcpHost> {
    simulate(scenario, std::env::var_os("ROPEWALK_SEEN").is_some())
}

fn simulate(scenario: &Scenario, record: bool) -> Network<MptcpHost> {
    let mut network = network_of(scenario);
    if record {
        network.record();
    }
    super::run(&mut network, LIMIT);
    network
}

fn network_of(scenario: &Scenario) -> Network<MptcpHost> {
    let Scenario { client, server, lines, octets, reads, seed } = scenario.clone();
    let mut network = mptcp_network([client, server], octets, lines, seed);
    for (side, (chunk, pause)) in reads.into_iter().enumerate() {
        let application = network.host_mut(side).application_mut();
        if chunk > 0 {
            application.read_chunk = chunk;
            application.read_pause = Duration::from_millis(pause);
        }
    }
    network
}

/// When the client first sends on a line other than the first one that it has joined; `None`: the connection ends
/// before.
fn joined_at(scenario: &Scenario, line: usize) -> Option<Instant> {
    let network = simulate(scenario, true);
    let is_up =
        |seen: &&Seen| seen.side == 0 && seen.line == line && !seen.segment.flags.contains(Flags::SYN);
    network.seen.iter().find(is_up).map(|seen| seen.at)
}

fn arrived(network: &Network<MptcpHost>, octets: [u64; 2]) -> bool {
    received(network, 0) == (octets[1], true) && received(network, 1) == (octets[0], true)
}

fn describe(network: &Network<MptcpHost>) -> String {
    let side = |side: usize| {
        let host = network.host(side);
        let last: Vec<_> = host.events.iter().rev().take(12).collect();
        let (octets, finished) = received(network, side);
        let connection = host.connection.as_ref();
        format!(
            "received {octets} finished {finished} closed {} failed {:?}\n  {last:?}\n  {:?}\n  next {:?}",
            host.closed,
            host.failed,
            connection.map(Connection::stats),
            connection.and_then(Connection::poll_timeout),
        )
    };
    let mut seen = String::new();
    let skip = network.seen.len().saturating_sub(60);
    for (number, segment) in network.seen.iter().enumerate().filter(|(n, _)| *n < 60 || *n > skip) {
        seen += &format!("{number} {segment}\n");
    }
    format!("{seen}at {}\nclient {}\nserver {}", network.now(), side(0), side(1))
}

/// Everything must have arrived, and both sides closed in an orderly way.
fn completes(scenario: &Scenario) -> Result<(), TestCaseError> {
    let network = run(scenario);
    let up = network.hosts().iter().all(|host| host.events.contains(&Event::Established));
    if !up {
        // Every try of the handshake was lost.
        prop_assert!(network.host(0).failed.is_some(), "{}", describe(&network));
        return Ok(());
    }
    prop_assert!(arrived(&network, scenario.octets), "{}", describe(&network));
    for host in network.hosts() {
        prop_assert!(host.is_over(), "{}", describe(&network));
    }
    Ok(())
}

/// Everything arrived, or somebody was told that it did not; and nobody hangs.
fn ends(scenario: &Scenario) -> Result<(), TestCaseError> {
    let network = run(scenario);
    for (host, other) in [(0, 1), (1, 0)].map(|(a, b)| (network.host(a), network.host(b))) {
        let started = !host.events.is_empty();
        // A RST that is lost leaves an idle receiver in the dark, as with TCP.
        prop_assert!(host.is_over() || !started || other.failed.is_some(), "{}", describe(&network));
    }
    let failed = network.hosts().iter().any(|host| host.failed.is_some());
    prop_assert!(
        failed || arrived(&network, scenario.octets),
        "{:?} {}",
        scenario.octets,
        describe(&network)
    );
    Ok(())
}

/// Nothing passes in between, either way.
fn kill(line: &mut [Line; 2], from: Instant, to: Instant) {
    line.iter_mut().for_each(|direction| direction.down.push((from, to)));
}

fn cases() -> ProptestConfig {
    let cases = number("ROPEWALK_CASES").unwrap_or(60);
    ProptestConfig { cases, max_shrink_iters: 2_000, failure_persistence: None, ..ProptestConfig::default() }
}

fn number(variable: &str) -> Option<u32> {
    std::env::var(variable).ok().and_then(|n| n.parse().ok())
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn lossy_paths_deliver_everything(scenario in scenario()) {
        completes(&scenario)?;
    }

    #[test]
    fn header_prediction_changes_nothing(scenario in scenario()) {
        let mut network = network_of(&scenario);
        (0..2).for_each(|side| network.host_mut(side).prediction = Some(Prediction::default()));
        super::run(&mut network, LIMIT);
    }

    /// Any path but one dies for a while, or for good, at any time: the first one once the survivor has been joined.
    #[test]
    fn dying_paths_deliver_everything(
        mut scenario in scenario(),
        deaths in prop::collection::vec((100u64..8_000, 500u64..30_000, any::<bool>()), 4),
        survivor in any::<prop::sample::Index>(),
    ) {
        let on_first = matches!(scenario.client.path_manager, PathManager::Ndiffports { .. });
        let survivor = if on_first { 0 } else { survivor.index(scenario.lines.len()) };
        for config in [&mut scenario.client, &mut scenario.server] {
            // Its subflows acknowledge nothing that waits for a dead one, however often it comes.
            if config.tcp.quirks.subflow_acks == SubflowAcks::Twice {
                config.tcp.quirks = Quirks::linux();
            }
        }
        let first = deaths[0];
        for (index, (from, lasts, for_good)) in deaths.into_iter().enumerate() {
            if index > 0 && index < scenario.lines.len() && index != survivor {
                let to = if for_good { Instant::MAX } else { at(from + lasts) };
                kill(&mut scenario.lines[index], at(from), to);
            }
        }
        if survivor != 0 {
            scenario.lines[0].iter_mut().for_each(|line| line.loss = line.loss.min(0.05));
            // Before the first DATA_ACK nothing may be joined (RFC 8684 §3.1), and the first path's death is the
            // connection's. So it dies once the survivor has been joined; until then nothing is different.
            let (from, lasts, for_good) = first;
            if let Some(joined) = joined_at(&scenario, survivor) {
                let from = joined + Duration::from_millis(from);
                let to = if for_good { Instant::MAX } else { from + Duration::from_millis(lasts) };
                kill(&mut scenario.lines[0], from, to);
            }
        }
        completes(&scenario)?;
    }

    #[test]
    fn stripped_options_end_well_or_with_an_error(
        mut scenario in scenario(),
        strips in prop::collection::vec((0usize..4, 0usize..2, 0u64..3_000), 1..4),
    ) {
        for (path, direction, from) in strips {
            let path = path % scenario.lines.len();
            scenario.lines[path][direction].middlebox.strips_from = Some(at(from));
        }
        ends(&scenario)?;
    }

    /// A path dies within half a second of when options begin to be stripped on one, and nobody reinjects after timeouts.
    #[test]
    fn a_death_around_a_fallback_ends_well_or_with_an_error(
        mut scenario in scenario(),
        (strips, from, ways) in (any::<prop::sample::Index>(), 0u64..2_000, 1usize..=3),
        (dies, after, lasts) in (any::<prop::sample::Index>(), 0u64..1_000, prop::option::of(200u64..60_000)),
    ) {
        scenario.client.reinjection = false;
        scenario.server.reinjection = false;
        let paths = scenario.lines.len();
        for (way, line) in scenario.lines[strips.index(paths)].iter_mut().enumerate() {
            if ways & (1 << way) != 0 {
                line.middlebox.strips_from = Some(at(from + 500));
            }
        }
        let begins = from + after;
        let ends_at = lasts.map_or(Instant::MAX, |lasts| at(begins + lasts));
        kill(&mut scenario.lines[dies.index(paths)], at(begins), ends_at);
        ends(&scenario)?;
    }

    #[test]
    fn altered_data_is_caught_by_checksums(
        mut scenario in scenario(),
        path in any::<prop::sample::Index>(),
        from in 0u64..1_000,
    ) {
        scenario.client.checksum = true;
        let path = path.index(scenario.lines.len());
        // A burst of alterations: what is sent again later must get through.
        for line in &mut scenario.lines[path] {
            line.middlebox.alters = Some((at(from), at(from + 50)));
        }
        let network = run(&scenario);
        let failed = network.hosts().iter().any(|host| host.failed.is_some());
        prop_assert!(failed || arrived(&network, scenario.octets), "{:?} {}", scenario.octets, describe(&network));
    }
}

/// Many more lives than CI can afford: `ROPEWALK_LIVES=100000 cargo test -p ropewalk-mptcp lives`.
#[test]
fn more_lives_on_demand() {
    let lives = number("ROPEWALK_LIVES").unwrap_or(20);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig { cases: lives, ..cases() });
    let strategy = (scenario(), any::<u64>());
    runner
        .run(&strategy, |(mut scenario, seed)| {
            let mut random = Random::new(seed);
            if random.one_in(4) {
                // All at the same moment, perhaps each for another time.
                let from = random.below(10_000);
                scenario
                    .lines
                    .iter_mut()
                    .for_each(|line| kill(line, at(from), at(from + random.below(40_000))));
            }
            for line in &mut scenario.lines {
                if random.one_in(5) {
                    let direction = random.below(2) as usize;
                    line[direction].middlebox.strips_from = Some(at(random.below(5_000)));
                }
                if random.one_in(5) {
                    let from = random.below(10_000);
                    kill(line, at(from), at(from + random.below(60_000)));
                }
            }
            ends(&scenario)
        })
        .unwrap();
}

/// Options are stripped when the client's only data has been acknowledged without a DATA_ACK, and a join is under way:
/// the server falls back and gives the join up; the client, which does not know yet, must not send the data again
/// where it would pass for new.
#[test]
fn what_a_peer_has_that_fell_back_during_a_join_does_not_come_twice() {
    let config = |base: Config, path_manager: PathManager| Config {
        scheduler: Scheduler::RoundRobin,
        coupling: Coupling::Uncoupled,
        path_manager,
        receive_buffer: 1000,
        send_buffer: 1000,
        opportunistic_retransmission: false,
        penalization: false,
        reinjection: false,
        ..base
    };
    let [mut first, mut second] = [line(28, 1), line(111, 1)];
    (first.queue, second.queue) = (QueueLimit::Bytes(5000), QueueLimit::Bytes(5000));
    let mut first = both_ways(impaired([105, 0, 64], first));
    first[0].middlebox.strips_from = Some(at(151));
    let mut fallen_back = 0;
    for seed in 0..200 {
        let scenario = Scenario {
            client: config(Config::linux(), PathManager::Backup),
            server: config(Config::classic(), PathManager::FullMesh),
            lines: vec![first.clone(), both_ways(second.clone())],
            octets: [1001, 1],
            reads: [(0, 1), (2000, 1)],
            seed,
        };
        ends(&scenario).expect("the stream in order, or an error");
        fallen_back +=
            u32::from(run(&scenario).host(1).connection.as_ref().is_some_and(Connection::is_fallen_back));
    }
    assert!(fallen_back > 20, "{fallen_back} of 200 fell back");
}
