//! Each key of a transport or a link changes what it names, by the unit it has, and nothing else. Which of two that say
//! something counts.

use crate::support::{Overrides, scenario, two_paths};
use ropewalk_mptcp::{
    Coupling, GuardConfig, PathManager, ReinjectAfterTimeout, Scheduler, ScriptedAction, ScriptedStep,
};
use ropewalk_scenario::plan::{
    Application, Bulk, ConstantRate, DataDirection, Frames, Interval, OnOff, Protocol, RateChange,
    RequestResponse,
};
use ropewalk_sim::{Change, DirectionConfig, Jitter, Loss, Queue, QueueLimit};
use ropewalk_tcp::{Blame, Config, CongestionControl, HyStart, LossRecovery, SpuriousResponse, SubflowAcks};
use ropewalk_units::{Duration, Instant, Probability, Rate};

const TWO_PATHS: &str = concat!(
    two_paths!(),
    r#"
[scenario]
name = "keys"
duration = "10 s"
[connections.x]
from = "a"
to = "b"
paths = ["l"]
"#
);

fn tcp(overrides: &Overrides<'_>) -> Config {
    match &scenario(TWO_PATHS, overrides).plan().connections[0].protocol {
        Protocol::Tcp(config) => (**config).clone(),
        other => panic!("{other:?}"),
    }
}

fn mptcp(overrides: &Overrides<'_>) -> ropewalk_mptcp::Config {
    let multipath = [("connections.x.protocol", "mptcp"), ("connections.x.paths", "[\"l\", \"m\"]")];
    match &scenario(TWO_PATHS, &[&multipath, overrides].concat()).plan().connections[0].protocol {
        Protocol::Mptcp(config) => (**config).clone(),
        other => panic!("{other:?}"),
    }
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// What a key and its value are to do.
type Effect<C> = (&'static str, &'static str, fn(&mut C));

/// All keys of TCP but the preset, each with another value than Linux's.
fn effects_of_tcp() -> Vec<Effect<Config>> {
    vec![
        ("mss", "1000", |c| c.mss = 1000),
        ("initial_window", "3", |c| c.initial_window = 3),
        ("initial_ssthresh", "64 kB", |c| c.initial_ssthresh = Some(64_000)),
        ("window_scale", "off", |c| c.window_scale = None),
        ("window_scale", "14", |c| c.window_scale = Some(14)),
        ("timestamps", "false", |c| c.timestamps = false),
        // Without SACK losses are found as by NewReno.
        ("sack", "false", |c| (c.sack, c.loss_recovery) = (false, LossRecovery::NewReno)),
        ("report_duplicates", "false", |c| c.report_duplicates = false),
        ("receive_buffer", "1 MiB", |c| c.receive_buffer = 1 << 20),
        ("octets_per_piece", "100", |c| c.octets_per_piece = 100),
        ("least_pieces", "7", |c| c.least_pieces = 7),
        ("receive_autotuning", "false", |c| c.receive_autotuning = false),
        ("send_buffer", "1 MB", |c| c.send_buffer = 1_000_000),
        ("send_autotuning", "false", |c| c.send_autotuning = false),
        ("memory_overhead", "640", |c| c.memory_overhead = 640),
        ("delayed_ack.segments", "3", |c| c.delayed_ack.segments = 3),
        ("delayed_ack.timeout", "0.1 s", |c| c.delayed_ack.timeout = ms(100)),
        ("delayed_ack.quick_acks", "0", |c| c.delayed_ack.quick_acks = 0),
        ("delayed_ack.after_reading", "false", |c| c.delayed_ack.after_reading = false),
        ("nagle", "false", |c| c.nagle = false),
        ("rto_initial", "3 s", |c| c.rto_initial = ms(3_000)),
        ("rto_min", "1 s", |c| c.rto_min = ms(1_000)),
        ("rto_floor_on_variance", "false", |c| c.rto_floor_on_variance = false),
        ("clock_granularity", "10 ms", |c| c.clock_granularity = ms(10)),
        ("handshake_rtt", "false", |c| c.handshake_rtt = false),
        ("rto_max", "1 min", |c| c.rto_max = ms(60_000)),
        ("max_retransmissions", "8", |c| c.max_retransmissions = 8),
        ("max_syn_retransmissions", "2", |c| c.max_syn_retransmissions = 2),
        ("loss_recovery", "sack", |c| c.loss_recovery = LossRecovery::Sack),
        ("loss_recovery", "newreno", |c| c.loss_recovery = LossRecovery::NewReno),
        ("limited_transmit", "false", |c| c.limited_transmit = false),
        ("fast_recovery", "false", |c| c.fast_recovery = false),
        ("push_packets", "false", |c| c.push_packets = false),
        ("defer_packets", "false", |c| c.defer_packets = false),
        ("recovery_ends_above", "false", |c| c.recovery_ends_above = false),
        ("prr", "false", |c| c.prr = false),
        ("tail_loss_probe", "false", |c| c.tail_loss_probe = false),
        ("pacing", "true", |c| c.pacing = true),
        ("rack_rtt_as_linux", "false", |c| c.rack_rtt_as_linux = false),
        ("growth_by_delivery", "false", |c| c.growth_by_delivery = false),
        ("cubic_catches_up", "true", |c| c.cubic_catches_up = true),
        ("whole_segments", "false", |c| c.whole_segments = false),
        ("ssthresh_from_cwnd", "false", |c| c.ssthresh_from_cwnd = false),
        ("slow_start_limit", "2", |c| c.slow_start_limit = Some(2)),
        ("spurious", "none", |c| c.spurious = SpuriousResponse::default()),
        ("spurious", "[\"eifel\"]", |c| {
            c.spurious = SpuriousResponse { eifel: true, ..SpuriousResponse::default() };
        }),
        ("door_t1", "0 s", |c| c.door_t1 = Some(ms(0))),
        ("door_t2", "50 ms", |c| c.door_t2 = Some(ms(50))),
        ("ecn", "true", |c| c.ecn = true),
        ("idle_restart", "false", |c| c.idle_restart = false),
        ("quirks.ssthresh_after_loss", "5", |c| c.quirks.ssthresh_after_loss = Some(5)),
        ("quirks.subflow_acks", "twice", |c| c.quirks.subflow_acks = SubflowAcks::Twice),
        ("quirks.subflow_acks", "in-data-order", |c| c.quirks.subflow_acks = SubflowAcks::InDataOrder),
        ("quirks.duplicates_blame", "nobody", |c| c.quirks.duplicates_blame = Blame::Nobody),
        ("quirks.duplicates_blame", "blocking", |c| c.quirks.duplicates_blame = Blame::Blocking),
        ("quirks.duplicates_blame", "blocking-undone", |c| c.quirks.duplicates_blame = Blame::BlockingUndone),
        ("time_wait", "1 s", |c| c.time_wait = ms(1_000)),
        ("hystart", "off", |c| c.congestion_control = CongestionControl::Cubic { hystart: HyStart::Off }),
        ("hystart", "true", |c| {
            c.congestion_control = CongestionControl::Cubic { hystart: HyStart::PlusPlus }
        }),
        ("congestion_control", "newreno", |c| {
            c.congestion_control = CongestionControl::NewReno { byte_counting: true };
        }),
        ("congestion_control", "bbr", |c| c.congestion_control = CongestionControl::Bbr),
        // DCTCP cannot do without marks.
        ("congestion_control", "dctcp", |c| (c.congestion_control, c.ecn) = (CongestionControl::Dctcp, true)),
    ]
}

#[test]
fn each_key_of_tcp_sets_its_constant_and_no_other() {
    assert_eq!(tcp(&[]), Config::linux(), "1500 octets less 40 are Linux's segment");
    for (key, value, effect) in effects_of_tcp() {
        let mut expected = Config::linux();
        effect(&mut expected);
        assert_ne!(expected, Config::linux(), "{key} = {value} is Linux's");
        for base in ["tcp", "connections.x.tcp"] {
            let key = format!("{base}.{key}");
            assert_eq!(tcp(&[(&key, value)]), expected, "{key} = {value}");
        }
    }
}

#[test]
fn each_key_of_tcp_is_among_those_that_are_tested() {
    let schema: serde_json::Value = serde_json::from_str(&ropewalk_scenario::schema()).expect("JSON");
    let tested: Vec<&str> = effects_of_tcp().iter().map(|(key, ..)| *key).collect();
    let missing = |table: &str, before: &str, left_out: &[&str]| {
        let keys = schema["$defs"][table]["properties"].as_object().expect("properties");
        let keys = keys.keys().filter(|key| !left_out.contains(&key.as_str()));
        keys.map(|key| format!("{before}{key}"))
            .filter(|key| !tested.contains(&key.as_str()))
            .collect::<Vec<_>>()
    };
    // `byte_counting` needs NewReno beside it.
    assert_eq!(missing("TcpTable", "", &["preset", "delayed_ack", "quirks", "byte_counting"]), [""; 0]);
    assert_eq!(missing("DelayedAckTable", "delayed_ack.", &[]), [""; 0]);
    assert_eq!(missing("QuirksTable", "quirks.", &[]), [""; 0]);
}

#[test]
fn a_connections_own_key_goes_before_that_of_all() {
    let both = tcp(&[("tcp.rto_min", "1 s"), ("tcp.nagle", "false"), ("connections.x.tcp.rto_min", "50 ms")]);
    assert_eq!((both.rto_min, both.nagle), (ms(50), false));
    // A preset of the connection goes before that of all, and under all keys that are given.
    let own = tcp(&[("tcp.preset", "linux"), ("tcp.sack", "true"), ("connections.x.tcp.preset", "classic")]);
    let expected = Config { sack: true, loss_recovery: LossRecovery::Sack, ..Config::classic() };
    assert_eq!(own, expected);
}

#[test]
fn the_segment_follows_the_mtu_of_the_narrowest_path() {
    let narrow = ("links.m.mtu", "1000");
    assert_eq!(tcp(&[narrow]).mss, 1460, "the other path is narrow");
    assert_eq!(mptcp(&[narrow]).tcp.mss, 960);
    assert_eq!(tcp(&[("scenario.address_family", "ipv6")]).mss, 1440);
    // The papers' segments are smaller than the path allows, and never greater.
    let classic = ("tcp.preset", "classic");
    assert_eq!(tcp(&[classic]).mss, 1400);
    assert_eq!(tcp(&[classic, ("links.l.mtu", "1200")]).mss, 1160);
    assert_eq!(tcp(&[classic, ("tcp.mss", "1460")]).mss, 1460, "given");
    assert_eq!(tcp(&[("links.l.mtu", "65535")]).mss, 65_495);
}

#[test]
fn sack_and_the_way_losses_are_found_go_together_unless_both_are_said() {
    let classic = ("tcp.preset", "classic");
    let found = |overrides: &Overrides<'_>| tcp(overrides).loss_recovery;
    assert_eq!(found(&[classic]), LossRecovery::NewReno);
    assert_eq!(found(&[classic, ("tcp.sack", "true")]), LossRecovery::Sack);
    assert_eq!(found(&[classic, ("tcp.sack", "true"), ("tcp.loss_recovery", "rack")]), LossRecovery::Rack);
    assert_eq!(found(&[("tcp.sack", "false")]), LossRecovery::NewReno);
    assert_eq!(found(&[("tcp.sack", "true")]), LossRecovery::Rack, "it was on before");
}

#[test]
fn byte_counting_belongs_to_newreno() {
    let newreno = ("tcp.congestion_control", "newreno");
    let control = |overrides: &Overrides<'_>| tcp(overrides).congestion_control;
    assert_eq!(
        control(&[newreno, ("tcp.byte_counting", "false")]),
        CongestionControl::NewReno { byte_counting: false }
    );
    let classic = ("tcp.preset", "classic");
    assert_eq!(control(&[classic]), CongestionControl::NewReno { byte_counting: false });
    assert_eq!(
        control(&[classic, ("tcp.byte_counting", "true")]),
        CongestionControl::NewReno { byte_counting: true }
    );
}

/// All keys of Multipath TCP with a value of their own, each with another value than Linux's.
fn effects_of_mptcp() -> Vec<Effect<ropewalk_mptcp::Config>> {
    vec![
        ("checksum", "true", |c| c.checksum = true),
        ("receive_buffer", "1 MiB", |c| c.receive_buffer = 1 << 20),
        ("least_mappings", "9", |c| c.least_mappings = 9),
        ("send_buffer", "1 MB", |c| c.send_buffer = 1_000_000),
        ("send_autotuning", "false", |c| c.send_autotuning = false),
        ("memory_overhead", "640", |c| c.memory_overhead = 640),
        ("hystart", "off", |c| c.hystart = HyStart::Off),
        ("hystart", "plus-plus", |c| c.hystart = HyStart::PlusPlus),
        ("byte_counting", "false", |c| c.byte_counting = false),
        ("opportunistic_retransmission", "true", |c| c.opportunistic_retransmission = true),
        ("penalization", "true", |c| c.penalization = true),
        ("reinjection", "false", |c| c.reinjection = false),
        ("reinject_after_timeout", "head", |c| c.reinject_after_timeout = ReinjectAfterTimeout::Head),
        ("reinject_after_timeout", "all", |c| c.reinject_after_timeout = ReinjectAfterTimeout::All),
        ("stale_loss_cnt", "2", |c| c.stale_loss_cnt = 2),
        ("add_addr_timeout", "5 s", |c| c.add_addr_timeout = ms(5_000)),
        ("close_timeout", "0 s", |c| c.close_timeout = Duration::ZERO),
        ("blackhole_timeout", "1 min", |c| c.blackhole_timeout = ms(60_000)),
        ("syn_retrans_before_tcp_fallback", "3", |c| c.syn_retrans_before_tcp_fallback = 3),
        ("allow_join_initial_addr_port", "false", |c| c.allow_join_initial_addr_port = false),
        ("congestion_control", "uncoupled", |c| c.coupling = Coupling::Uncoupled),
        ("congestion_control", "fully-coupled", |c| c.coupling = Coupling::FullyCoupled),
        ("congestion_control", "linked-increases", |c| c.coupling = Coupling::LinkedIncreases),
        ("congestion_control", "rtt-compensator", |c| c.coupling = Coupling::RttCompensator),
        ("congestion_control", "lia", |c| c.coupling = Coupling::Lia),
        ("congestion_control", "olia", |c| c.coupling = Coupling::Olia),
        ("congestion_control", "balia", |c| c.coupling = Coupling::Balia),
        ("congestion_control", "wvegas", |c| c.coupling = Coupling::Wvegas),
        ("congestion_control", "bbr", |c| c.coupling = Coupling::Bbr),
        ("scheduler", "round-robin", |c| c.scheduler = Scheduler::RoundRobin),
        ("scheduler", "lowest-rtt", |c| c.scheduler = Scheduler::LowestRtt),
        ("scheduler", "redundant", |c| c.scheduler = Scheduler::Redundant),
        ("scheduler", "blest", |c| c.scheduler = Scheduler::Blest),
        ("scheduler", "ecf", |c| c.scheduler = Scheduler::Ecf),
        // One segment each, if the weights are not given.
        ("scheduler", "weighted-round-robin", |c| {
            c.scheduler = Scheduler::WeightedRoundRobin { weights: vec![1, 1] };
        }),
        ("scheduler", "goodput-guard", |c| c.scheduler = Scheduler::GoodputGuard(GuardConfig::default())),
        ("path_manager", "ndiffports", |c| c.path_manager = PathManager::Ndiffports { subflows: 2 }),
        ("path_manager", "backup", |c| c.path_manager = PathManager::Backup),
        ("path_manager", "scripted", |c| c.path_manager = PathManager::Scripted { steps: Vec::new() }),
    ]
}

#[test]
fn each_key_of_multipath_tcp_sets_its_choice_and_no_other() {
    let linux = mptcp(&[]);
    assert_eq!(linux.tcp, Config::linux());
    for (key, value, effect) in effects_of_mptcp() {
        let mut expected = linux.clone();
        effect(&mut expected);
        assert_ne!(expected, linux, "{key} = {value} is Linux's");
        for base in ["mptcp", "connections.x.mptcp"] {
            let key = format!("{base}.{key}");
            assert_eq!(mptcp(&[(&key, value)]), expected, "{key} = {value}");
        }
    }
}

#[test]
fn multipath_tcp_has_the_preset_of_tcp_unless_it_has_its_own() {
    let classic = mptcp(&[("tcp.preset", "classic")]);
    assert_eq!((&classic.tcp, classic.coupling), (&Config::classic(), Coupling::LinkedIncreases));
    let mixed = mptcp(&[("tcp.preset", "classic"), ("mptcp.preset", "linux")]);
    assert_eq!((&mixed.tcp, mixed.reinjection, mixed.memory_overhead), (&Config::classic(), true, 512));
    let own = mptcp(&[("mptcp.preset", "linux"), ("connections.x.mptcp.preset", "classic")]);
    assert_eq!((own.tcp == Config::linux(), own.reinjection, own.receive_buffer), (true, false, 50_000_000));
}

#[test]
fn keys_of_a_scheduler_and_a_path_manager_reach_it() {
    let weighted = [("mptcp.scheduler", "weighted-round-robin"), ("mptcp.weights", "[3, 1]")];
    assert_eq!(mptcp(&weighted).scheduler, Scheduler::WeightedRoundRobin { weights: vec![3, 1] });
    let guard = [
        ("mptcp.scheduler", "goodput-guard"),
        ("mptcp.probe_interval", "3 s"),
        ("mptcp.probe_segments", "5"),
    ];
    let expected = GuardConfig { probe_interval: ms(3_000), probe_segments: 5 };
    assert_eq!(mptcp(&guard).scheduler, Scheduler::GoodputGuard(expected));
    let ports = [("mptcp.path_manager", "ndiffports"), ("mptcp.subflows", "5")];
    assert_eq!(mptcp(&ports).path_manager, PathManager::Ndiffports { subflows: 5 });
    // Constants of another scheduler wait for a connection that has it.
    let idle = mptcp(&[("mptcp.weights", "[3, 1]"), ("mptcp.probe_segments", "5"), ("mptcp.subflows", "5")]);
    assert_eq!(idle, mptcp(&[]));
}

#[test]
fn steps_name_paths_and_say_what_happens_there() {
    let steps = "[{ at = \"1 s\", action = \"open\", path = \"m\", backup = true }, \
                  { at = \"2 s\", action = \"open\", path = \"l\" }, \
                  { at = \"3 s\", action = \"set-backup\", path = \"m\" }, \
                  { at = \"4 s\", action = \"announce\", path = \"m\" }, \
                  { at = \"5 s\", action = \"withdraw\", path = \"m\" }, \
                  { at = \"6 s\", action = \"reset\", path = \"l\" }, \
                  { at = \"7 s\", action = \"close\", path = \"m\" }]";
    let step =
        |second: u64, path: u32, action: ScriptedAction| ScriptedStep { at: ms(1000 * second), path, action };
    let expected = vec![
        step(1, 1, ScriptedAction::Open { backup: true }),
        step(2, 0, ScriptedAction::Open { backup: false }),
        step(3, 1, ScriptedAction::SetBackup { backup: false }),
        step(4, 1, ScriptedAction::Announce),
        step(5, 1, ScriptedAction::Withdraw),
        step(6, 0, ScriptedAction::Reset),
        step(7, 1, ScriptedAction::Close),
    ];
    let scripted = mptcp(&[("mptcp.path_manager", "scripted"), ("mptcp.steps", steps)]);
    assert_eq!(scripted.path_manager, PathManager::Scripted { steps: expected });
}

fn direction(overrides: &Overrides<'_>, direction: usize) -> DirectionConfig {
    let scenario = scenario(TWO_PATHS, overrides);
    let link = scenario.plan().links.iter().find(|link| link.name == "l").expect("a link");
    link.wire().expect("a wire").directions[direction].clone()
}

/// All keys of a direction, each with another value than by default.
fn effects_of_links() -> Vec<Effect<DirectionConfig>> {
    let percent = |of: f64| Probability::new(of / 100.0).expect("a probability");
    assert_eq!(percent(2.0).get(), 0.02);
    vec![
        ("rate", "3.5 Mbit/s", |d| d.rate = Rate::from_bits_per_sec(3_500_000)),
        ("delay", "12.5 ms", |d| d.delay = Duration::from_micros(12_500)),
        ("jitter", "2 ms", |d| d.jitter = Jitter::Uniform(ms(2))),
        ("jitter", "{ distribution = \"uniform\", max = \"2 ms\" }", |d| d.jitter = Jitter::Uniform(ms(2))),
        ("jitter", "{ distribution = \"normal\", deviation = \"2 ms\" }", |d| {
            d.jitter = Jitter::Normal(ms(2));
        }),
        ("jitter", "{ distribution = \"exponential\", mean = \"2 ms\" }", |d| {
            d.jitter = Jitter::Exponential(ms(2));
        }),
        ("jitter", "{ distribution = \"wander\", max = \"2 ms\", interval = \"3 s\" }", |d| {
            d.jitter = Jitter::Wander { max: ms(2), interval: ms(3_000) };
        }),
        ("reorder", "true", |d| d.reorder = true),
        ("duplicate", "2 %", |d| d.duplicate = Probability::new(0.02).expect("a probability")),
        ("loss", "0.02", |d| d.loss = Loss::Bernoulli(Probability::new(0.02).expect("a probability"))),
        ("loss", "2 %", |d| d.loss = Loss::Bernoulli(Probability::new(0.02).expect("a probability"))),
        ("loss", "{ model = \"bit-errors\", probability = 0.5 }", |d| {
            d.loss = Loss::BitErrors(Probability::new(0.5).expect("a probability"));
        }),
        ("loss", "{ model = \"exact\", packets = [4, 2] }", |d| d.loss = Loss::Exact([2, 4].into())),
        ("queue", "9 packets", |d| {
            d.queue = Queue::DropTail { limit: QueueLimit::Packets(9), mark_above: None };
        }),
        ("queue", "64 KiB", |d| {
            d.queue = Queue::DropTail { limit: QueueLimit::Bytes(65_536), mark_above: None };
        }),
        ("queue", "{ discipline = \"drop-tail\", mark_above = 20 }", |d| {
            d.queue = Queue::DropTail { limit: QueueLimit::Packets(100), mark_above: Some(20) };
        }),
    ]
}

#[test]
fn each_key_of_a_link_sets_both_directions_or_the_one_it_is_said_of() {
    let plain = DirectionConfig::new(Rate::from_bits_per_sec(8_000_000));
    assert_eq!([0, 1].map(|one| direction(&[], one)), [plain.clone(), plain.clone()]);
    for (key, value, effect) in effects_of_links() {
        let mut changed = plain.clone();
        effect(&mut changed);
        assert_ne!(changed, plain, "{key} = {value} is the default");
        for (prefix, expected) in
            [("", [&changed, &changed]), ("forward.", [&changed, &plain]), ("backward.", [&plain, &changed])]
        {
            let path = format!("links.l.{prefix}{key}");
            let found = [0, 1].map(|one| direction(&[(&path, value)], one));
            assert_eq!(found.each_ref(), expected, "{path} = {value}");
        }
    }
    // What a direction says itself goes before what both say.
    let both = [("links.l.delay", "7 ms"), ("links.l.backward.delay", "9 ms")];
    assert_eq!([0, 1].map(|one| direction(&both, one).delay), [ms(7), ms(9)]);
}

#[test]
fn changes_are_in_order_of_time_for_the_direction_they_name() {
    let changes = "[{ at = \"3 s\", state = \"up\" }, { at = \"1 s\", direction = \"backward\", delay = \"4 ms\", loss = \"none\" }, \
                    { at = \"2 s\", direction = \"forward\", rate = \"1 Mbit/s\" }]";
    let scenario = scenario(TWO_PATHS, &[("links.l.changes", changes)]);
    let link = scenario.plan().links.iter().find(|link| link.name == "l").expect("a link");
    let found: Vec<_> = link
        .wire()
        .expect("a wire")
        .changes
        .iter()
        .map(|change| ((change.at - Instant::ZERO).as_secs_f64(), change.direction, change.change.clone()))
        .collect();
    let expected = [
        (1.0, 1, Change::Delay(ms(4))),
        (1.0, 1, Change::Loss(Loss::None)),
        (2.0, 0, Change::Rate(Rate::from_bits_per_sec(1_000_000))),
        (3.0, 0, Change::Up),
        (3.0, 1, Change::Up),
    ];
    assert_eq!(found, expected);
}

#[test]
fn each_application_has_its_numbers_and_defaults() {
    let application = |said: &str| {
        let scenario = scenario(TWO_PATHS, &[("connections.x.application", said)]);
        scenario.plan().connections[0].application.clone()
    };
    let rate = Rate::from_bits_per_sec(1_000_000);
    let cases = [
        ("{ kind = \"bulk\" }", Application::Bulk(Bulk { bytes: None, duration: None })),
        (
            "{ kind = \"bulk\", bytes = \"2 MB\", duration = \"3 s\" }",
            Application::Bulk(Bulk { bytes: Some(2_000_000), duration: Some(ms(3_000)) }),
        ),
        (
            "{ kind = \"constant-rate\", rate = \"1 Mbit/s\", changes = [{ at = \"1 s\", rate = \"2 Mbit/s\" }] }",
            Application::ConstantRate(ConstantRate {
                rate,
                packet_size: 1400,
                duration: None,
                changes: vec![RateChange {
                    at: Instant::ZERO + ms(1_000),
                    rate: Rate::from_bits_per_sec(2_000_000),
                }],
            }),
        ),
        (
            "{ kind = \"on-off\", rate = \"1 Mbit/s\", packet_size = \"100 B\", on = \"2 s\", off = \"1 s\" }",
            Application::OnOff(OnOff {
                rate,
                packet_size: 100,
                on: Interval::Constant(ms(2_000)),
                off: Interval::Constant(ms(1_000)),
                duration: None,
            }),
        ),
        (
            "{ kind = \"request-response\", request = \"1 kB\", response = \"2 MB\", think = \"5 s\", count = 3 }",
            Application::RequestResponse(RequestResponse {
                request: 1_000,
                response: 2_000_000,
                think: Interval::Constant(ms(5_000)),
                count: Some(3),
            }),
        ),
    ];
    for (said, expected) in cases {
        assert_eq!(application(said), expected, "{said}");
    }
    let said =
        "{ kind = \"frames\", interval = \"20 ms\", key_every = 9, key_packets = 7, spread = \"5 ms\" }";
    let over_udp = [
        ("connections.x.protocol", "udp"),
        ("connections.x.paths", "[\"l\"]"),
        ("connections.x.application", said),
    ];
    let frames = scenario(TWO_PATHS, &over_udp).plan().connections[0].application.clone();
    let expected = Frames {
        interval: ms(20),
        packet_size: 1400,
        packets: 1,
        key_every: Some(9),
        key_packets: Some(7),
        spread: ms(5),
        duration: None,
    };
    assert_eq!(frames, Application::Frames(expected));
}

#[test]
fn a_packet_is_no_longer_than_its_path_takes() {
    let udp = ("connections.x.protocol", "udp");
    let what = ("connections.x.application", "{ kind = \"constant-rate\", rate = \"1 Mbit/s\" }");
    let size = |overrides: &Overrides<'_>| {
        let scenario = scenario(TWO_PATHS, overrides);
        match &scenario.plan().connections[0].application {
            Application::ConstantRate(paced) => paced.packet_size,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(size(&[what]), 1400);
    assert_eq!(size(&[what, udp]), 1400);
    assert_eq!(size(&[what, udp, ("links.l.mtu", "1000")]), 972, "20 and 8 octets are headers");
    assert_eq!(size(&[what, ("links.l.mtu", "1000")]), 1400, "TCP cuts it");
    let ipv6 = ("scenario.address_family", "ipv6");
    assert_eq!(size(&[what, udp, ipv6, ("links.l.mtu", "1280")]), 1232);
}

#[test]
fn connections_open_when_they_are_told_to() {
    let starts = |overrides: &Overrides<'_>| {
        let scenario = scenario(TWO_PATHS, overrides);
        let plan = scenario.plan();
        let start = |one: &ropewalk_scenario::plan::ConnectionPlan| {
            (one.name.clone(), (one.start - Instant::ZERO).as_secs_f64())
        };
        plan.connections.iter().map(start).collect::<Vec<_>>()
    };
    let named =
        |list: &[(&str, f64)]| list.iter().map(|&(name, at)| (name.to_owned(), at)).collect::<Vec<_>>();
    assert_eq!(starts(&[]), named(&[("x", 0.0)]));
    assert_eq!(starts(&[("connections.x.start", "1500 ms")]), named(&[("x", 1.5)]));
    let copies =
        [("connections.x.count", "3"), ("connections.x.spread", "3 s"), ("connections.x.start", "1 s")];
    assert_eq!(starts(&copies), named(&[("x-1", 1.0), ("x-2", 2.0), ("x-3", 3.0)]));
    let often = [("connections.x.starts", "[\"4 s\", \"2 s\"]"), ("connections.x.count", "2")];
    assert_eq!(starts(&often), named(&[("x-1", 4.0), ("x-2", 4.0), ("x-3", 2.0), ("x-4", 2.0)]));
}

#[test]
fn the_sender_is_who_sends_the_octets_that_count() {
    let sender = |overrides: &Overrides<'_>| {
        let scenario = scenario(TWO_PATHS, overrides);
        let plan = scenario.plan();
        let one = &plan.connections[0];
        (plan.nodes[one.sender()].name.clone(), one.data, one.server_sends())
    };
    let a = |data| ("a".to_owned(), data, false);
    let b = |data| ("b".to_owned(), data, true);
    assert_eq!(sender(&[]), a(DataDirection::Forward));
    assert_eq!(sender(&[("connections.x.data", "backward")]), b(DataDirection::Backward));
    let asks = ("connections.x.application", "{ kind = \"request-response\" }");
    assert_eq!(sender(&[asks]), b(DataDirection::Forward), "answers count");
}
