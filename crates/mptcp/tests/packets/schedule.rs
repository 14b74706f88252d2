//! Which subflow carries what, and how much the application may write.

use crate::script::{Script, config};
use ropewalk_mptcp::{Config, Event, GuardConfig, Limits, ReinjectAfterTimeout, Scheduler, SubflowId};

/// Retransmission timeouts come without a probe before.
fn without_probes(scheduler: Scheduler, reinject_after_timeout: ReinjectAfterTimeout) -> Config {
    let mut config = Config { scheduler, reinject_after_timeout, ..config() };
    config.tcp.tail_loss_probe = false;
    config
}

/// Of what leaves: on which subflow, the first octet, and how many.
fn carried(server: &mut Script) -> Vec<(u32, u64, u32)> {
    let out = server.take_out();
    let data = out.iter().filter(|(_, segment)| segment.payload.len > 0);
    data.map(|(id, segment)| (id.0, segment.payload.offset, segment.payload.len)).collect()
}

/// Segments of 1000 octets from `first` on.
fn thousands(id: u32, first: u64, count: u64) -> impl Iterator<Item = (u32, u64, u32)> {
    (0..count).map(move |at| (id, first + 1000 * at, 1000))
}

/// Two subflows with windows of three segments. Neither what waits to be sent nor the peer's window ends within a segment.
fn ample(config: Config) -> Script {
    let mut config = Config { scheduler: Scheduler::LowestRtt, ..config };
    config.tcp.initial_window = 3;
    let mut server = Script::accept(config, "S 0:1 win 60000 wscale 7 mss 1024 sackok capable");
    server.run(
        "0 > S. 0:1 ack 1 capable
         +20 0 < . 1:1 ack 1 win 60000 capable",
    );
    server.join();
    server.run("push 200000");
    server
}

#[test]
fn the_fastest_subflow_is_filled_and_then_the_next_one() {
    for trace in [false, true] {
        let mut server = ample(Config { trace, ..config() });
        let expected: Vec<_> = thousands(0, 0, 3).chain(thousands(1, 3000, 3)).collect();
        assert_eq!(carried(&mut server), expected);
        server.run("+20 0 < . 1:1 ack 3001 win 60000 dack 3000");
        assert_eq!(carried(&mut server), thousands(0, 6000, 6).collect::<Vec<_>>());
    }
}

#[test]
fn the_trace_tells_of_each_segment() {
    let scheduled = |event: Event| match event {
        Event::Scheduled { id, data, octets, .. } => Some((id.0, data, octets)),
        _ => None,
    };
    let events = ample(Config { trace: true, ..config() }).events();
    let told: Vec<_> = events.into_iter().filter_map(scheduled).collect();
    assert_eq!(told, thousands(0, 0, 3).chain(thousands(1, 3000, 3)).collect::<Vec<_>>());
}

/// RFC 8684 §3.3.5, though the peer's window ends far beyond the next segment.
#[test]
fn the_window_of_the_peer_is_filled_and_no_more() {
    let mut config = Config { scheduler: Scheduler::LowestRtt, ..config() };
    config.tcp.initial_window = 100;
    let mut server = Script::accept(config, "S 0:1 win 60000 wscale 1 mss 1024 sackok capable");
    server.run(
        "0 > S. 0:1 ack 1 capable
         +20 0 < . 1:1 ack 1 win 33000 capable
         push 200000",
    );
    assert_eq!(carried(&mut server), thousands(0, 0, 66).collect::<Vec<_>>());
}

/// RFC 9293 §3.7.4, once for the connection.
#[test]
fn less_than_a_segment_waits_until_what_was_sent_is_acknowledged() {
    let mut server = Script::server(config());
    server.run(
        "push 100
         0 > . 1:101 ack 1
         push 100
         > nothing
         +20 0 < . 1:1 ack 101 win 60000 dack 100
         0 > . 101:201 ack 1
         push 1000
         0 > . 201:1201 ack 1
         push 100
         > nothing
         finish
         0 > . 1201:1201 ack 1 fin
         0 > . 1201:1301 ack 1",
    );
}

#[test]
fn a_subflow_that_joins_carries_what_others_have_sent_if_all_carry_everything() {
    let mut server = Script::server(Config { scheduler: Scheduler::Redundant, ..config() });
    server.run("push 3000");
    assert_eq!(carried(&mut server), thousands(0, 0, 3).collect::<Vec<_>>());
    server.join();
    assert_eq!(carried(&mut server), thousands(1, 0, 3).collect::<Vec<_>>());
}

/// … each octet once, whatever its segments are.
#[test]
fn a_redundant_subflow_with_other_segments_carries_every_octet_once() {
    let mut server = Script::server(Config { scheduler: Scheduler::Redundant, ..config() });
    server.run("push 20000");
    assert_eq!(carried(&mut server), thousands(0, 0, 10).collect::<Vec<_>>());
    server.run(
        "+1 1 < S 0:1 win 60000 mss 724 sackok join
         1 > S. 0:1 ack 1 join
         +20 1 < . 1:1 ack 1 win 60000 join
         1 > . 1:1 ack 1",
    );
    let mut sent = carried(&mut server);
    server.run("+20 1 < . 1:1 ack 7001 win 60000 dack 0");
    sent.extend(carried(&mut server));
    let mut next = 0;
    for (_, data, octets) in sent.iter().filter(|sent| sent.0 == 1) {
        assert_eq!(*data, next, "{sent:?}");
        next += u64::from(*octets);
    }
    assert!(next > 12_000, "what the first subflow has carried, and new data: {sent:?}");
}

/// `docs/models/schedulers.md`: the rule of Linux gives more than windows let out.
#[test]
fn what_is_reinjected_takes_its_turn_before_everything_new() {
    let mut config = config();
    config.tcp.initial_window = 2;
    let mut server = Script::server(config);
    server.join();
    server.run(
        "0 < . 1:1 ack 1 win 60000 dack 0 prio 1
         push 5000
         1 > . 1:1001 map 0 1 1000
         1 > . 1001:2001 map 1000 1001 1000
         +5 1 < R 1:1
         0 > . 1:1001 map 0 1 1000
         0 > . 1001:2001 map 1000 1001 1000
         push 5000
         > nothing
         +20 0 < . 1:1 ack 2001 win 60000 dack 2000
         0 > . 2001:3001 map 2000 2001 1000
         0 > . 3001:4001 map 3000 3001 1000
         0 > . 4001:5001 map 4000 4001 1000
         0 > . 5001:6001 map 5000 5001 1000",
    );
}

/// A piece of the stream goes to one subflow as a whole, also the second time.
#[test]
fn what_is_reinjected_ends_where_a_piece_of_the_stream_ends() {
    const PIECE: u32 = 32_728;
    let mut server = Script::server(config());
    server.join();
    server.run("0 < . 1:1 ack 1 win 60000 dack 0 prio 1\n push 60000");
    for acknowledged in [10_001, 30_001] {
        let _ = server.take_out();
        server.run(&format!("+20 1 < . 1:1 ack {acknowledged} win 60000 dack 1000"));
    }
    let _ = (server.take_out(), server.events());
    server.run("+1 1 < R 1:1");
    let events = server.events();
    let reinjected = events.iter().filter(|event| matches!(event, Event::Reinjected { .. }));
    let (id, octets, opportunistic) = (SubflowId(0), PIECE - 1000, false);
    let expected = Event::Reinjected { id, data: 1000, octets, opportunistic };
    assert_eq!(reinjected.collect::<Vec<_>>(), [&expected]);
    let subflow = server.connection.subflow(id).expect("it is open");
    assert_eq!(subflow.reinjected_bytes(), u64::from(octets));
    assert_eq!(server.connection.stats().reinjected_bytes, u64::from(octets));
}

/// RFC 8684 §3.3.6: data is sent again on *different* subflows. What has no other one does not wait for it.
#[test]
fn what_no_other_subflow_can_carry_does_not_hold_new_data_up() {
    for scheduler in [Scheduler::Linux, Scheduler::RoundRobin] {
        let mut server = Script::server(without_probes(scheduler, ReinjectAfterTimeout::All));
        server.run("push 1000\n 0 > . 1:1001 ack 1 map 0 1 1000");
        server.pass_until_output(400);
        server.run(
            "0 > . 1:1001 ack 1 map 0 1 1000
             +20 0 < . 1:1 ack 1001 win 60000 dack 0
             > nothing
             push 1000
             0 > . 1001:2001 ack 1 map 1000 1001 1000
             > nothing",
        );
        assert_eq!(server.connection.stats().reinjected_bytes, 0);
    }
}

/// `docs/models/goodput-guard.md`: a path that is left out is probed when data are scheduled, and by no acknowledgement alone.
#[test]
fn a_path_left_out_is_probed_while_data_waits() {
    let scheduler = Scheduler::GoodputGuard(GuardConfig::default());
    let mut server = Script::server(without_probes(scheduler, ReinjectAfterTimeout::Head));
    // A hundred segments make the first path known. A loss on the second one, which comes later, would outlast the window.
    for acknowledged in (10_000..=100_000).step_by(10_000) {
        server.run("push 10000");
        let _ = server.take_out();
        server.run(&format!("+20 0 < . 1:1 ack {} win 60000 dack {acknowledged}", acknowledged + 1));
    }
    server.join();
    server.run("+500 push 10000");
    let on_second = |server: &mut Script| carried(server).iter().filter(|(id, ..)| *id == 1).count();
    assert_eq!(on_second(&mut server), 1);
    server.run(
        "+20 1 < . 1:1 ack 1001 win 60000 dack 100000\n +100 0 < . 1:1 ack 105001 win 60000 dack 105000",
    );
    assert_eq!(on_second(&mut server), 0);
    server.run("push 1000");
    assert!(on_second(&mut server) > 0);
}

/// What is known of a subflow is not said of another one that has its place: here, that a burst goes on there.
#[test]
fn a_burst_ends_with_its_subflow() {
    let limits = Limits { subflows: 2, ..Limits::default() };
    let mut server = Script::server(Config { limits, ..config() });
    server.join();
    server.run("0 < . 1:1 ack 1 win 60000 dack 0 prio 1\n push 32728");
    for acknowledged in [10_000, 30_000, 32_728] {
        let _ = server.take_out();
        server.run(&format!("+20 1 < . 1:1 ack {} win 60000 dack {acknowledged}", acknowledged + 1));
    }
    server.run("1 < R 1:1\n 0 < . 1:1 ack 1 win 60000 dack 32728 prio 0");
    server.join();
    server.run("push 1000\n 0 > . 1:1001 ack 1 map 32728 1 1000");
}

#[test]
fn the_send_buffer_of_a_subflow_goes_with_it() {
    let mut server = Script::server(config());
    let alone = server.connection.send_space();
    server.join();
    let together = server.connection.send_space();
    server.run("+1 1 < R 1:1");
    assert!(together > alone);
    assert_eq!(server.connection.send_space(), alone);
}

/// Linux `tcp_should_expand_sndbuf`: the buffer grows for an application that waits, and where the window is not used up.
#[test]
fn a_send_buffer_that_is_full_grows_when_its_window_has_room() {
    let mut server = Script::server(Config { scheduler: Scheduler::RoundRobin, ..config() });
    let space = server.connection.send_space();
    server.run(&format!("push {space}"));
    let _ = server.take_out();
    server.run("+20 0 < . 1:1 ack 10001 win 60000 dack 10000");
    assert_eq!(carried(&mut server).len(), 20);
    assert_eq!(server.connection.send_space(), 0, "the window lets nothing more out");
    server.run("+20 0 < . 1:1 ack 30001 win 60000 dack 30000");
    assert!(server.connection.send_space() > space, "{space}");
}

#[test]
fn a_send_buffer_that_was_never_full_does_not_grow() {
    let mut server = Script::server(Config { scheduler: Scheduler::RoundRobin, ..config() });
    server.run("push 10000");
    let _ = server.take_out();
    server.run("+20 0 < . 1:1 ack 10001 win 60000 dack 10000\n push 20000");
    let _ = server.take_out();
    server.run("+20 0 < . 1:1 ack 30001 win 60000 dack 30000");
    assert!(server.connection.subflow(SubflowId(0)).expect("it is open").tcp().cwnd() > 30_000);
    // Whatever changes, it adds what it did: two windows of ten segments.
    server.join();
    let space = server.connection.send_space();
    assert!(space < 80_000, "{space}");
}
