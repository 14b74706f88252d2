//! Under any schedule of loss, duplication, reordering, delay, option stripping, path death and closed windows the
//! stream arrives whole, once and in order, or the connection ends with an error; nothing hangs while a path
//! works.

use super::network::{Application, Network, PathModel, Random, Seen};
use crate::{Config, Coupling, Event, GuardConfig, PathManager, Scheduler};
use proptest::prelude::*;
use ropewalk_units::{Duration, Instant};
use ropewalk_wire::Flags;

/// Longer than any chain of back-offs that a scenario below can cause.
const LIMIT: Duration = Duration::from_secs(3_000);

#[derive(Clone, Debug)]
struct Scenario {
    client: Config,
    server: Config,
    models: Vec<PathModel>,
    octets: [u64; 2],
    reads: [(u64, u64); 2],
    seed: u64,
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn scheduler() -> impl Strategy<Value = Scheduler> {
    prop_oneof![
        Just(Scheduler::RoundRobin),
        Just(Scheduler::LowestRtt),
        Just(Scheduler::Linux),
        Just(Scheduler::WeightedRoundRobin { weights: vec![3, 1] }),
        Just(Scheduler::Redundant),
        Just(Scheduler::Blest),
        Just(Scheduler::Ecf),
        Just(Scheduler::GoodputGuard(GuardConfig::default())),
    ]
}

fn coupling() -> impl Strategy<Value = Coupling> {
    prop::sample::select(vec![
        Coupling::Uncoupled,
        Coupling::FullyCoupled,
        Coupling::LinkedIncreases,
        Coupling::RttCompensator,
        Coupling::Lia,
        Coupling::Olia,
        Coupling::Balia,
        Coupling::Wvegas,
        Coupling::Bbr,
        Coupling::Cubic,
    ])
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
    let waits = prop::bool::weighted(0.1);
    (scheduler(), coupling(), path_manager(), buffer(), buffer(), (switches, waits)).prop_map(
        |(scheduler, coupling, path_manager, receive_buffer, send_buffer, (switches, waits))| {
            let [linux, checksum, opportunistic_retransmission, penalization, reinjection, nagle] = switches;
            let mut config = if linux { Config::linux() } else { Config::classic() };
            config.tcp.nagle = nagle;
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
                acks_wait_for_data_order: waits,
                add_addr_timeout: Duration::from_secs(2),
                ..config
            }
        },
    )
}

fn model() -> impl Strategy<Value = PathModel> {
    let chances = (0u32..150, 0u32..100, 0u32..200);
    (1u64..200, 1u64..20, 5_000u64..100_000, chances).prop_map(|(delay, mbps, queue, chances)| {
        let mut model = PathModel::new(delay, mbps);
        model.queue = queue;
        (model.loss, model.duplication, model.reordering) = chances;
        model
    })
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let reads = prop::array::uniform2((prop::sample::select(vec![0u64, 100, 2_000]), 1u64..20));
    let octets = prop::array::uniform2(prop_oneof![Just(0u64), 1u64..3_000, 3_000u64..300_000]);
    (config(), config(), prop::collection::vec(model(), 1..=4), octets, reads, any::<u64>()).prop_map(
        |(client, server, models, octets, reads, seed)| Scenario {
            client,
            server,
            models,
            octets,
            reads,
            seed,
        },
    )
}

fn run(scenario: &Scenario) -> Network {
    simulate(scenario, std::env::var_os("ROPEWALK_SEEN").is_some())
}

fn simulate(scenario: &Scenario, record: bool) -> Network {
    let Scenario { client, server, models, octets, reads, seed } = scenario.clone();
    let mut network = Network::new(client, server, models, octets, seed);
    for (application, (chunk, pause)) in network.applications.iter_mut().zip(reads) {
        application.read_chunk = chunk;
        application.read_pause = Duration::from_millis(pause);
    }
    network.record = record;
    network.run(LIMIT);
    network
}

/// When the client first sends on a path other than the first one that it has joined; `None`: the connection ends before.
fn joined_at(scenario: &Scenario, path: usize) -> Option<Instant> {
    let network = simulate(scenario, true);
    let is_up =
        |seen: &&Seen| seen.from_client && seen.path == path && !seen.segment.flags.contains(Flags::SYN);
    network.seen.iter().find(is_up).map(|seen| seen.at)
}

fn arrived(network: &Network, octets: [u64; 2]) -> bool {
    let whole = |application: &Application, octets| application.received == octets && application.finished;
    whole(&network.applications[0], octets[1]) && whole(&network.applications[1], octets[0])
}

fn describe(network: &Network) -> String {
    let side = |a: &Application| {
        let last: Vec<_> = a.events.iter().rev().take(12).collect();
        format!(
            "received {} finished {} closed {} failed {:?}\n  {last:?}",
            a.received, a.finished, a.closed, a.failed
        )
    };
    let mut seen = String::new();
    let skip = network.seen.len().saturating_sub(60);
    for (number, segment) in network.seen.iter().enumerate().filter(|(n, _)| *n < 60 || *n > skip) {
        seen += &format!("{number} {}\n", segment.line());
    }
    format!(
        "{seen}at {}\nclient {}\n  {:?}\n  next {:?}\nserver {}\n  {:?}\n  next {:?}",
        network.now,
        side(&network.applications[0]),
        network.client.stats(),
        network.client.poll_timeout(),
        side(&network.applications[1]),
        network.server.as_ref().map(crate::Connection::stats),
        network.server.as_ref().and_then(crate::Connection::poll_timeout),
    )
}

/// Everything must have arrived, and both sides closed in an orderly way.
fn completes(scenario: &Scenario) -> Result<(), TestCaseError> {
    let network = run(scenario);
    let up = network.applications.iter().all(|a| a.events.contains(&Event::Established));
    if !up {
        // Every try of the handshake was lost.
        prop_assert!(network.applications[0].failed.is_some(), "{}", describe(&network));
        return Ok(());
    }
    prop_assert!(arrived(&network, scenario.octets), "{}", describe(&network));
    for application in &network.applications {
        prop_assert!(application.is_over(), "{}", describe(&network));
    }
    Ok(())
}

/// Everything arrived, or somebody was told that it did not; and nobody hangs.
fn ends(scenario: &Scenario) -> Result<(), TestCaseError> {
    let network = run(scenario);
    for (application, other) in
        [(0, 1), (1, 0)].map(|(a, b)| (&network.applications[a], &network.applications[b]))
    {
        let started = !application.events.is_empty();
        // A RST that is lost leaves an idle receiver in the dark, as with TCP.
        prop_assert!(application.is_over() || !started || other.failed.is_some(), "{}", describe(&network));
    }
    let failed = network.applications.iter().any(|a| a.failed.is_some());
    prop_assert!(
        failed || arrived(&network, scenario.octets),
        "{:?} {}",
        scenario.octets,
        describe(&network)
    );
    Ok(())
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

    /// Any path but one dies for a while, or for good, at any time: the first one once the survivor has been joined.
    #[test]
    fn dying_paths_deliver_everything(
        mut scenario in scenario(),
        deaths in prop::collection::vec((100u64..8_000, 500u64..30_000, any::<bool>()), 4),
        survivor in any::<prop::sample::Index>(),
    ) {
        let on_first = matches!(scenario.client.path_manager, PathManager::Ndiffports { .. });
        let survivor = if on_first { 0 } else { survivor.index(scenario.models.len()) };
        let first = deaths[0];
        for (index, (from, lasts, for_good)) in deaths.into_iter().enumerate() {
            if index > 0 && index < scenario.models.len() && index != survivor {
                let to = if for_good { Instant::MAX } else { at(from + lasts) };
                scenario.models[index].down.push((at(from), to));
            }
        }
        if survivor != 0 {
            scenario.models[0].loss = scenario.models[0].loss.min(50);
            // Before the first DATA_ACK nothing may be joined (RFC 8684 §3.1), and the first path's death is the connection's. So it dies once
            // the survivor has been joined; until then nothing is different.
            let (from, lasts, for_good) = first;
            if let Some(joined) = joined_at(&scenario, survivor) {
                let from = joined + Duration::from_millis(from);
                let to = if for_good { Instant::MAX } else { from + Duration::from_millis(lasts) };
                scenario.models[0].down.push((from, to));
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
            let path = path % scenario.models.len();
            scenario.models[path].strip_from[direction] = Some(at(from));
        }
        ends(&scenario)?;
    }

    #[test]
    fn altered_data_is_caught_by_checksums(
        mut scenario in scenario(),
        path in any::<prop::sample::Index>(),
        from in 0u64..1_000,
    ) {
        scenario.client.checksum = true;
        let path = path.index(scenario.models.len());
        // A burst of alterations: what is sent again later must get through.
        scenario.models[path].corrupt = Some((at(from), at(from + 50)));
        let network = run(&scenario);
        let failed = network.applications.iter().any(|a| a.failed.is_some());
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
            let mut random = Random(seed);
            for model in &mut scenario.models {
                if random.chance(200) {
                    model.strip_from[(random.next() % 2) as usize] = Some(at(random.next() % 5_000));
                }
                if random.chance(200) {
                    let from = random.next() % 10_000;
                    model.down.push((at(from), at(from + random.next() % 60_000)));
                }
            }
            ends(&scenario)
        })
        .unwrap();
}

/// Options are stripped when the client's only data has been acknowledged without a DATA_ACK, and a join is under way: the server falls back
/// and gives the join up; the client, which does not know yet, must not send the data again where it would pass for new.
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
    let [mut first, mut second] = [PathModel::new(28, 1), PathModel::new(111, 1)];
    (first.queue, second.queue) = (5000, 5000);
    (first.loss, first.reordering) = (105, 64);
    first.strip_from[0] = Some(at(123));
    let scenario = Scenario {
        client: config(Config::linux(), PathManager::Backup),
        server: config(Config::classic(), PathManager::FullMesh),
        models: vec![first, second],
        octets: [1001, 1],
        reads: [(0, 1), (2000, 1)],
        seed: 7_016_181_663_450_168_922,
    };
    ends(&scenario).expect("the stream in order, or an error");
}
