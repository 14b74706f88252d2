//! Edges of rules whose middle other scripts show.

use crate::script::{Script, address, config};
use ropewalk_mptcp::{
    Config, Coupling, Event, FailureReason, FallbackReason, Limits, Path, PathManager, Scheduler,
    ScriptedAction, ScriptedStep, Subflow, SubflowId, is_join,
};
use ropewalk_tcp::{CongestionControl, HyStart, SubflowAcks};
use ropewalk_units::Duration;
use ropewalk_wire::{Flags, Join, MptcpOption};

/// RFC 8684 §3.2: a random number, another one for each join.
#[test]
fn every_join_has_a_number_of_its_own() {
    let mut server = Script::server(config());
    let mut nonces = Vec::new();
    for at in 1..4 {
        server.run(&format!("+1 {at} < S 0:1 win 60000 mss 1024 sackok join"));
        let nonce = |option: &MptcpOption| match option {
            MptcpOption::Join(Join::SynAck { nonce, .. }) => Some(*nonce),
            _ => None,
        };
        let out = server.take_out();
        nonces.extend(
            out.iter().flat_map(|(_, segment)| segment.options.mptcp.rare().iter().filter_map(nonce)),
        );
    }
    nonces.sort_unstable();
    nonces.dedup();
    assert_eq!(nonces.len(), 3, "{nonces:?}");
    assert!(!nonces.contains(&0), "{nonces:?}");
}

/// A RST ends its subflow; the connection has lost its way, not its peer.
#[test]
fn the_last_subflow_s_reset_is_not_the_connection_s() {
    let mut server = Script::server(Config { close_timeout: Duration::ZERO, ..config() });
    server.run("+1 0 < R 1:1");
    let failed = server.events().into_iter().find(|event| matches!(event, Event::Failed(_)));
    assert_eq!(failed, Some(Event::Failed(FailureReason::NoSubflowLeft)));
}

#[test]
fn the_coupling_says_what_controls_a_subflow() {
    let controls = |coupling| {
        let server = Script::server(Config { coupling, ..config() });
        let subflow = server.connection.subflows().next().expect("the first");
        subflow.tcp().config().congestion_control
    };
    assert_eq!(controls(Coupling::Bbr), CongestionControl::Bbr);
    assert!(matches!(controls(Coupling::Cubic), CongestionControl::Cubic { .. }));
    assert!(matches!(controls(Coupling::Uncoupled), CongestionControl::NewReno { .. }));
    assert!(matches!(controls(Coupling::Lia), CongestionControl::Coupled { .. }));
}

/// Linux's CUBIC has HyStart whatever else is set.
#[test]
fn slow_start_of_subflows_is_multipath_tcp_s_own() {
    let mut other = config();
    other.tcp.congestion_control = CongestionControl::NewReno { byte_counting: false };
    let control = |coupling| {
        let server = Script::server(Config {
            coupling,
            hystart: HyStart::PlusPlus,
            byte_counting: true,
            ..other.clone()
        });
        let subflow = server.connection.subflows().next().expect("the first");
        subflow.tcp().config().congestion_control
    };
    assert_eq!(control(Coupling::Cubic), CongestionControl::Cubic { hystart: HyStart::PlusPlus });
    assert_eq!(control(Coupling::Uncoupled), CongestionControl::NewReno { byte_counting: true });
    assert_eq!(control(Coupling::Lia), CongestionControl::Coupled { byte_counting: true });
}

/// RFC 8684 §3.4.1: an ADD_ADDR without an echo is sent again, no sooner than its time.
#[test]
fn an_announcement_that_is_not_echoed_waits_for_its_time() {
    let steps =
        vec![ScriptedStep { at: Duration::from_millis(1), path: 1, action: ScriptedAction::Announce }];
    let path_manager = PathManager::Scripted { steps };
    let mut server =
        Script::server(Config { path_manager, add_addr_timeout: Duration::from_secs(1), ..config() });
    server.pass_until_output(10);
    let adds = |server: &mut Script| {
        let is_add =
            |option: &MptcpOption| matches!(option, MptcpOption::AddAddress(add) if add.hmac.is_some());
        server
            .take_out()
            .iter()
            .filter(|(_, segment)| segment.options.mptcp.rare().iter().any(is_add))
            .count()
    };
    assert_eq!(adds(&mut server), 1);
    // After an RTO of 220 ms, and then of twice that; an event in between does not send it sooner.
    for (early, late) in [(150, 100), (350, 100)] {
        server.run(&format!("+{early} 0 < . 1:1 ack 1 win 60000 dack 0"));
        assert_eq!(adds(&mut server), 0);
        server.run(&format!("+{late} read"));
        assert_eq!(adds(&mut server), 1);
    }
}

/// RFC 8684 §3.7: what goes missing after the handshake was not its options.
#[test]
fn data_without_options_after_the_handshake_were_stripped() {
    let mut client = Script::client(config());
    client.run("+1 0 < . 1:101 ack 1 win 60000");
    assert!(client.events().contains(&Event::FellBack(FallbackReason::Stripped)));
}

/// What waited for the order of data is taken when its turn comes, though later segments have acknowledged more meanwhile than
/// RFC 5961 §5.2 allows it to be behind.
#[test]
fn what_waited_for_the_order_of_data_is_taken_however_old_its_acknowledgement_is() {
    let mut config = config();
    config.tcp.quirks.subflow_acks = SubflowAcks::InDataOrder;
    let mut server = Script::accept(config, "S 0:1 win 1000 mss 1024 sackok capable");
    server.run(
        "0 > S. 0:1 ack 1 capable
         +20 0 < . 1:1 ack 1 win 1000 capable
         +1 1 < S 0:1 win 1000 mss 1024 sackok join
         1 > S. 0:1 ack 1 join
         +20 1 < . 1:1 ack 1 win 1000 join
         1 > . 1:1 ack 1
         0 < . 1:1 ack 1 win 1000 dack 0 prio 1
         1 < . 1:101 ack 1 win 1000 dack 0 map 100 1 100
         > nothing
         push 1000
         1 > . 1:1001 ack 1
         +20 1 < . 101:101 ack 1001 win 1000 dack 1000
         push 1000
         1 > . 1001:2001 ack 1
         +20 1 < . 101:101 ack 2001 win 1000 dack 2000
         0 < . 1:101 ack 1 win 1000 dack 2000 map 0 1 100",
    );
    assert_eq!(server.connection.readable(), 200);
}

/// The bound on joins that the peer has begun is none on those that it has finished.
#[test]
fn joins_that_are_complete_do_not_count_as_begun() {
    let limits = Limits { half_open_subflows: 1, ..Limits::default() };
    let mut server = Script::server(Config { limits, ..config() });
    for _ in 0..3 {
        server.join();
    }
    server.run("+1 > nothing");
    let open = (0..4).filter(|&id| server.connection.subflow(SubflowId(id)).is_some_and(Subflow::is_usable));
    assert_eq!(open.count(), 4);
}

#[test]
fn a_trace_tells_from_when_to_when_data_waits_behind_a_hole() {
    let mut server = Script::server(Config { trace: true, ..config() });
    let mut told = |line: &str| {
        server.run(line);
        let _ = server.take_out();
        let events = server.events();
        let is_told = |event: &Event| matches!(event, Event::Blocked { .. } | Event::Unblocked { .. });
        events.into_iter().filter(is_told).collect::<Vec<_>>()
    };
    assert_eq!(told("+1 0 < . 1:101 ack 1 win 60000 dack 0 map 100 1 100"), [Event::Blocked { data: 0 }]);
    assert_eq!(told("+10 0 < . 101:151 ack 1 win 60000 dack 0 map 50 101 50"), []);
    let waited = Duration::from_millis(30);
    assert_eq!(
        told("+20 0 < . 151:201 ack 1 win 60000 dack 0 map 0 151 50"),
        [Event::Unblocked { data: 200, waited }]
    );
}

/// A host asks each SYN whether it belongs to a connection that exists.
#[test]
fn a_syn_with_mp_join_is_known_from_others() {
    let paths = vec![
        Path { local: address(0, 1, 40_000), remote: address(0, 2, 5001) },
        Path { local: address(1, 1, 0), remote: address(0, 2, 5001) },
    ];
    let mut client = Script::connect_over(Config { path_manager: PathManager::FullMesh, ..config() }, paths);
    let syn = client.take_out().remove(0).1;
    assert!(syn.flags.contains(Flags::SYN) && !is_join(&syn));
    client.run(
        "+20 0 < S. 0:1 ack 1 win 60000 mss 1024 sackok capable
         0 > . 1:1 ack 1 capable
         +1 0 < . 1:1 ack 1 win 60000 dack 0",
    );
    let join = client.take_out().remove(0).1;
    assert!(join.flags.contains(Flags::SYN) && is_join(&join));
}

/// Octets by which the window of subflow 1 grows with five segments acknowledged, after so many timeouts in a row of subflow 0.
fn growth_beside(timeouts: u32) -> u32 {
    let base = config();
    let (coupling, scheduler) = (Coupling::Olia, Scheduler::RoundRobin);
    let mut config = Config { coupling, scheduler, reinjection: false, ..base };
    config.tcp.initial_ssthresh = Some(5000);
    let mut server = Script::server(config);
    server.run("push 10000");
    server.take_out();
    server.run("+20 0 < . 1:1 ack 10001 win 60000 dack 10000");
    server.join();
    server.run("push 10000");
    server.take_out();
    server.run("+20 1 < . 1:1 ack 5001 win 60000 dack 10000");
    let of = |server: &Script, id| {
        let tcp = server.connection.subflow(SubflowId(id)).expect("it is open").tcp();
        (tcp.cwnd(), tcp.consecutive_timeouts())
    };
    while of(&server, 0).1 < timeouts {
        server.run("+1");
        server.take_out();
    }
    server.run("push 20000");
    server.take_out();
    let before = of(&server, 1).0;
    server.run("+20 1 < . 1:1 ack 10001 win 60000 dack 10000");
    of(&server, 1).0 - before
}

/// OLIA compares what was acknowledged between the last two losses, and since the last one. Timeouts are losses: after the second
/// in a row nothing speaks for that path any more, and the other one's window gives nothing up for it.
#[test]
fn timeouts_count_for_the_coupling_as_losses() {
    let (one, two) = (growth_beside(1), growth_beside(2));
    assert!(two > 2 * one && one > 0, "{one}, {two}");
}

/// Octets by which the window of the first subflow grows beside a third one, when so many may be kept: the third has the place of the
/// second or one of its own.
fn growth_beside_a_third(subflows: u32) -> u32 {
    let limits = Limits { subflows, ..Limits::default() };
    let (coupling, scheduler) = (Coupling::Olia, Scheduler::RoundRobin);
    let mut config = Config { coupling, scheduler, limits, reinjection: false, ..config() };
    config.tcp.initial_ssthresh = Some(5000);
    let mut server = Script::server(config);
    let cwnd =
        |server: &Script, id| server.connection.subflow(SubflowId(id)).expect("it is open").tcp().cwnd();
    let (mut sent, mut data) = ([0; 2], 0);
    let mut round = |server: &mut Script, at: usize| {
        let octets = cwnd(server, at as u32) / 1000 * 1000;
        server.run(&format!("push {octets}"));
        server.take_out();
        sent[at] += octets;
        data += octets;
        server.run(&format!("+20 {at} < . 1:1 ack {} win 60000 dack {data}", 1 + sent[at]));
        server.take_out();
        data
    };
    let first = (0..3).map(|_| round(&mut server, 0)).max().expect("three");
    server.join();
    server.run(&format!("0 < . 1:1 ack {} win 60000 dack {first} prio 1", 1 + first));
    // No longer than the first may be idle and keep its window.
    let all = (0..5).map(|_| round(&mut server, 1)).max().expect("five");
    server.run("1 < R 1:1");
    server.join();
    server.run(&format!("0 < . 1:1 ack {} win 60000 dack {all} prio 0\n push 40000", 1 + first));
    server.take_out();
    let before = cwnd(&server, 0);
    assert!(before > cwnd(&server, 2) + 1000, "{before}");
    server.run(&format!("+20 0 < . 1:1 ack {} win 60000 dack {all}", 10_001 + first));
    cwnd(&server, 0) - before
}

/// What the coupling has learned of a subflow ends with it.
#[test]
fn a_subflow_in_the_place_of_another_has_nothing_of_its_past() {
    let fresh = growth_beside_a_third(64);
    assert!(fresh > 0);
    assert_eq!(growth_beside_a_third(2), fresh);
}
