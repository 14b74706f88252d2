//! Mappings, DATA_ACKs and windows (RFC 8684 §3.3.1 to §3.3.6).

use crate::script::{Script, config, small_window};
use ropewalk_mptcp::{Config, Coupling, Event, Scheduler, Secret, SubflowId};
use ropewalk_wire::{DataAck, Dss, Flags, Segment};

#[test]
fn every_segment_carries_a_mapping_until_a_data_ack_comes_and_one_sent_again_the_same() {
    let mut server = Script::server(config());
    server.run(
        "push 3000
         0 > . 1:1001 ack 1 map 0 1 1000
         0 > . 1001:2001 ack 1 map 1000 1001 1000
         0 > . 2001:3001 ack 1 map 2000 2001 1000
         +20 0 < . 1:1 ack 1 win 60000 dack 0 sack 1001-2001
         +1 0 < . 1:1 ack 1 win 60000 dack 0 sack 1001-3001",
    );
    server.pass_until_output(400);
    server.run("0 > . 1:1001 ack 1 map 0 1 1000");
}

#[test]
fn numbers_of_64_bits_are_acknowledged_with_64_bits() {
    let mut server = Script::server(config());
    server.run(
        "push 10
         0 > . 1:11 ack 1 dack32 0
         +20 0 < . 1:101 ack 11 win 60000 dack 10 map 0 1 100
         0 > . 11:11 ack 101 dack 100",
    );
}

/// The octets that a full segment leaves free are those of a DATA_ACK of 32 bits.
#[test]
fn a_full_segment_has_no_room_for_64_bits() {
    let mut server = Script::server(config());
    server.run(
        "+20 0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100
         0 > . 1:1 ack 101 dack 100
         push 1000
         0 > . 1:1001 ack 101 dack32 100 map 0 1 1000
         +20 0 < . 101:101 ack 1001 win 60000 dack 1000
         push 996
         0 > . 1001:1997 ack 101 dack 100 map 1000 1001 996",
    );
}

#[test]
fn short_data_acks_are_understood() {
    let mut server = Script::server(config());
    server.run(
        "push 1000
         0 > . 1:1001 ack 1 map 0 1 1000
         +20 0 < . 1:1 ack 1001 win 60000 dack32 1000",
    );
    assert_eq!(server.connection.stats().bytes_acked, 1000);
}

#[test]
fn a_subflow_s_ack_says_nothing_of_the_connection_s_data() {
    let mut server = Script::server(config());
    server.run(
        "push 1000
         0 > . 1:1001 ack 1 map 0 1 1000
         +20 0 < . 1:1 ack 1001 win 60000 dack 0",
    );
    assert_eq!(server.connection.stats().bytes_acked, 0, "the peer may still drop it");
    server.run("+1 0 < . 1:1 ack 1001 win 60000 dack 1000");
    assert_eq!(server.connection.stats().bytes_acked, 1000);
}

#[test]
fn of_two_subflows_windows_the_one_that_lets_most_out_counts() {
    let mut server = Script::server(config());
    server.join();
    server.run(
        "+1 0 < . 1:1 ack 1 win 5000 dack 0
         +1 1 < . 1:1 ack 1 win 7000 dack 0
         push 100000",
    );
    let sent: u32 = server.take_out().iter().map(|(_, s)| s.payload.len).sum();
    assert!(sent > 7000, "the window of the handshake, 60 000, is not taken back: {sent}");
}

#[test]
fn the_right_edge_of_our_window_never_moves_back() {
    let mut small = config();
    small.receive_buffer = 20_000;
    let mut server = Script::server(small);
    let mut edge = 0;
    for i in 0..18u64 {
        let (from, to) = (1 + 1000 * i, 1001 + 1000 * i);
        server.run(&format!("+1 0 < . {from}:{to} ack 1 win 60000 dack 0 map {} {from} 1000", from - 1));
        for (_, segment) in server.take_out() {
            let arrived = u64::from(segment.ack.since(server.ends[0].irs)) - 1;
            let ours = arrived + u64::from(segment.window);
            assert!(ours >= edge, "{ours} after {edge}");
            edge = ours;
        }
    }
    assert!(edge >= 18_000);
}

/// Linux `tcp_cleanup_rbuf`, of each subflow.
#[test]
fn an_opened_window_is_told_where_a_small_one_was_told_before() {
    let mut server = Script::server(small_window());
    server.join();
    // Its window is told while data is missing, so 10 000 octets are left of it.
    server.run("+1 1 < . 1:1001 ack 1 win 60000 dack 0 map 1000 1 1000\n 1 > . ack 1001 dack 0\n > nothing");
    server.run("+1 0 < . 1:1001 ack 1 win 60000 dack 0 map 0 1 1000\n 0 > . ack 1001 dack 2000");
    server.run("+1 0 < . 1001:8001 ack 1 win 60000 dack 0 map 2000 1001 7000\n 0 > . ack 8001 dack 9000");
    server.run("> nothing\n read\n 0 > . ack 8001 dack 9000\n > nothing");
    // With another 6 000 octets it has less than half of the buffer left.
    server.run("+1 1 < . 1001:7001 ack 1 win 60000 dack 0 map 9000 1001 6000\n 1 > . ack 7001 dack 15000");
    server.run("+1 0 < . 8001:11001 ack 1 win 60000 dack 0 map 15000 8001 3000\n 0 > . ack 11001 dack 18000");
    server.run("> nothing\n read\n 0 > . ack 11001 dack 18000\n 1 > . ack 7001 dack 18000\n > nothing");
}

#[test]
fn data_sent_again_elsewhere_is_sent_again_on_its_own_subflow_too() {
    let mut server = Script::server(config());
    server.run(
        "push 1000
         0 > . 1:1001 ack 1 map 0 1 1000",
    );
    server.join();
    let mut carried = [0; 2];
    for _ in 0..20 {
        server.run("+200");
        for (id, segment) in server.take_out() {
            carried[id.0 as usize] += segment.payload.len;
        }
        if carried[1] > 0 {
            server.run("1 < . 1:1 ack 1001 win 60000 dack 1000");
        }
    }
    assert_eq!(carried[1], 1000, "another subflow carries what timed out");
    assert!(carried[0] >= 1000, "the first one's own hole is repaired as well: {carried:?}");
}

#[test]
fn what_one_subflow_has_not_acknowledged_is_still_sent_on_it_after_the_data_ack() {
    let mut server = Script::server(config());
    server.run(
        "push 1000
         0 > . 1:1001 ack 1 map 0 1 1000
         +20 0 < . 1:1 ack 1 win 60000 dack 1000",
    );
    assert_eq!(server.connection.stats().bytes_acked, 1000);
    server.pass_until_output(3000);
    server.run("0 > . 1:1001 ack 1 map 0 1 1000");
}

#[test]
fn data_acks_may_come_only_when_they_advance() {
    let mut server = Script::server(config());
    server.run(
        "push 1000
         0 > . 1:1001 ack 1 map 0 1 1000
         +20 0 < . 1:1 ack 1001 win 60000 dack 1000
         push 2000
         0 > . 1001:2001 ack 1
         0 > . 2001:3001 ack 1
         +20 0 < . 1:1 ack 2001 win 60000
         +1 0 < . 1:1 ack 3001 win 60000 dack 3000",
    );
    assert_eq!(server.connection.stats().bytes_acked, 3000);
    assert!(server.events().iter().all(|event| !matches!(event, ropewalk_mptcp::Event::FellBack(_))));
}

#[test]
fn a_window_counts_only_beside_a_data_ack() {
    let mut wide = config();
    wide.tcp.initial_window = 100;
    let mut server = Script::server(wide);
    server.run("push 100000");
    let sent = |server: &mut Script| server.take_out().iter().map(|(_, s)| s.payload.len).sum::<u32>();
    assert_eq!(sent(&mut server), 60_000, "the window of the handshake");
    server.run("+20 0 < . 1:1 ack 1001 win 60000 dack 1000");
    assert_eq!(sent(&mut server), 1000);
    server.run("+1 0 < . 1:1 ack 2001 win 65000");
    assert_eq!(sent(&mut server), 0, "no DATA_ACK, so the window says nothing");
    server.run("+1 0 < . 1:1 ack 3001 win 60000 dack 3000");
    assert_eq!(sent(&mut server), 2000);
}

#[test]
fn data_without_a_mapping_costs_the_subflow() {
    let mut server = Script::server(config());
    server.join();
    server.run(
        "+1 0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100
         0 > . 1:1 ack 101 dack 100
         +1 1 < . 1:101 ack 1 win 60000 dack 0
         1 > R. ack 101 tcprst 6",
    );
    assert_eq!(server.connection.stats().bytes_delivered, 100, "nobody knows where the rest belongs");
}

#[test]
fn old_data_that_comes_again_on_another_subflow_is_acknowledged_there_and_dropped() {
    let mut server = Script::server(config());
    server.join();
    server.run("+1 0 < . 1:201 ack 1 win 60000 dack 0 map 0 1 200");
    let _ = server.take_out();
    server.run("+1 1 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100");
    let _ = server.take_out();
    server.run("+1 1 < . 101:301 ack 1 win 60000 dack 0 map 100 101 200");
    let out = server.take_out();
    let acked = out.iter().rfind(|(id, _)| id.0 == 1).map(|(_, s)| s.ack.since(server.ends[1].irs));
    assert_eq!(acked, Some(301), "{out:?}");
    assert_eq!(server.connection.readable(), 300);
}

#[test]
fn a_mapping_beyond_the_receive_window_is_refused_with_its_data_and_answered() {
    let mut server = Script::server(small_window());
    server.run(
        "+1 0 < . 1:1001 ack 1 win 60000 dack 0 map 10000 1 1000
         0 > . 1:1 ack 1
         +1 0 < . 1:1001 ack 1 win 60000 dack 0 map 0 1 1000",
    );
    let _ = server.take_out();
    assert_eq!(server.connection.readable(), 1000, "the octets are free for another mapping");
    assert_eq!(server.connection.stats().bytes_beyond_window, 0);
}

#[test]
fn a_mapping_that_ends_beyond_the_receive_window_counts_up_to_it() {
    let mut server = Script::server(small_window());
    for i in 0..9 {
        let (from, to) = (1000 * i, 1000 * (i + 1));
        server.run(&format!(
            "+1 0 < . {}:{} ack 1 win 60000 dack 0 map {from} {} 1000",
            from + 1,
            to + 1,
            from + 1
        ));
        let _ = server.take_out();
    }
    server.run("+1 0 < . 9001:11001 ack 1 win 60000 dack 0 map 9000 9001 2000");
    let _ = server.take_out();
    assert_eq!(server.connection.readable(), 10_000);
    assert_eq!(server.connection.stats().bytes_beyond_window, 1000);
}

/// DATA_ACKs of 32 bits whose numbers wrap while data is on its way.
#[test]
fn data_acks_of_32_bits_are_understood_across_their_wrap() {
    // Its key's initial DSN lies 2 462 octets below a multiple of 2³².
    let mut secret = [7; 32];
    secret[28..].copy_from_slice(&7_087_190_u32.to_be_bytes());
    let mut server = Script::server_with(config(), Secret(secret));
    server.run("push 6000 finish");
    let low = |segment: &Segment| {
        segment.options.mptcp.dss.and_then(|dss| dss.mapping()).map(|m| m.dsn.get() as u32)
    };
    let sent: Vec<u32> = server.take_out().iter().filter_map(|(_, segment)| low(segment)).collect();
    assert!(sent.first() > sent.last(), "they wrap: {sent:?}");
    for acknowledged in (1000..=6000).step_by(1000) {
        server.run(&format!("+20 0 < . 1:1 ack {} win 60000 dack32 {acknowledged}", acknowledged + 1));
        let _ = server.take_out();
        assert_eq!(server.connection.stats().bytes_acked, acknowledged);
    }
    server.run("+20 0 < . 1:1 ack 6001 win 60000 dack32 6001");
    assert!(server.events().contains(&Event::FinishAcknowledged));
}

#[test]
fn a_data_ack_of_what_was_never_sent_counts_nothing() {
    let mut server = Script::server(config());
    server.run(
        "push 1000
         0 > . 1:1001 ack 1 map 0 1 1000
         +20 0 < . 1:1 ack 1001 win 60000 dack 5000",
    );
    assert_eq!(server.connection.stats().bytes_acked, 0);
    server.run("+1 0 < . 1:1 ack 1001 win 60000 dack 1000");
    assert_eq!(server.connection.stats().bytes_acked, 1000);
}

#[test]
fn an_infinite_mapping_beside_another_subflow_costs_its_own() {
    let mut server = Script::server(config());
    server.join();
    server.run(
        "+1 0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 0
         0 > R. tcprst 1",
    );
    assert_eq!(server.connection.stats().bytes_delivered, 0);
}

/// RFC 8684 §3.3.2 over RFC 5961 §5.2: what is older than SND.UNA says nothing new about the connection.
#[test]
fn a_data_ack_on_an_old_acknowledgement_counts_nothing() {
    let mut server = Script::server(config());
    server.run("push 2000");
    let _ = server.take_out();
    server.run("+20 0 < . 1:1 ack 2001 win 60000 dack 1000");
    let _ = server.take_out();
    server.run("0 < . 1:1 ack 1001 win 60000 dack 2000");
    assert_eq!(server.connection.stats().bytes_acked, 1000);
    server.run("0 < . 1:1 ack 2001 win 60000 dack 2000");
    assert_eq!(server.connection.stats().bytes_acked, 2000);
}

/// wVegas with too few samples of the round-trip time takes one step of Reno.
#[test]
fn a_window_that_the_coupling_owns_grows_with_what_is_acknowledged() {
    let mut config = Config { coupling: Coupling::Wvegas, ..config() };
    config.tcp.initial_ssthresh = Some(4_000);
    let mut server = Script::server(config);
    server.join();
    let _ = server.take_out();
    let cwnd = |server: &Script| server.connection.subflows().next().expect("there").tcp().cwnd();
    let before = cwnd(&server);
    server.run("push 10000");
    let _ = server.take_out();
    for at in 1..=10 {
        server.run(&format!("+2 0 < . 1:1 ack {at}001 win 60000 dack {at}000"));
        let _ = server.take_out();
    }
    assert!(cwnd(&server) > before);
}

/// The window of the first of two subflows after ten ACKs, which `ack` describes by their number.
fn window_after(coupling: Coupling, ack: fn(u32) -> String) -> u32 {
    let mut config = Config { coupling, ..config() };
    config.tcp.initial_ssthresh = Some(4_000);
    let mut server = Script::server(config);
    server.join();
    server.run("push 10000");
    let _ = server.take_out();
    for at in 1..=10 {
        server.run(&format!("+2 0 < . {} ack {at}001 win 60000 dack {at}000", ack(at)));
        let _ = server.take_out();
    }
    server.connection.subflows().next().expect("there").tcp().cwnd()
}

/// RFC 6356 §3: what is acknowledged counts, whether the ACK comes with data or alone.
#[test]
fn a_coupled_window_grows_alike_with_acks_that_carry_data() {
    for coupling in [Coupling::Lia, Coupling::Olia, Coupling::Balia, Coupling::Wvegas] {
        let alone = window_after(coupling, |_| "1:1".to_owned());
        let with_data = window_after(coupling, |at| format!("{at}:{} map {} {at} 1", at + 1, at - 1));
        assert_eq!(alone, with_data, "{coupling:?}");
    }
}

/// RFC 8684 §3.3.5: the window is told beside any DATA_ACK, one on data that says nothing else new included. Header prediction takes
/// such a segment.
#[test]
fn a_window_that_opens_on_a_data_segment_lets_data_out() {
    let mut stamped = config();
    stamped.tcp.timestamps = true;
    let mut server = Script::accept(stamped, "S 0:1 win 0 mss 1024 sackok ts 1 0 capable");
    server.run(
        "0 > S. 0:1 ack 1 capable
         +20 0 < . 1:1 ack 1 win 0 ts 21 0 capable
         +1 0 < . 1:101 ack 1 win 0 ts 22 0 dack 0 map 0 1 100",
    );
    server.take_out();
    server.run("push 5000\n > nothing\n +1 0 < . 101:201 ack 1 win 2500 ts 23 0 dack 0 map 100 101 100");
    let sent = server.take_out();
    assert_eq!(sent.iter().map(|(_, segment)| segment.payload.len).sum::<u32>(), 2500, "{sent:?}");
}

/// RFC 9293 §3.7.4, for the connection.
#[test]
fn less_than_a_segment_waits_for_what_is_on_its_way_unless_it_is_the_last() {
    let mut server = Script::server(config());
    server.run(
        "push 1000
         0 > . 1:1001 ack 1
         push 100
         > nothing
         +20 0 < . 1:1 ack 1001 win 60000 dack 1000
         0 > . 1001:1101 ack 1
         push 100
         > nothing
         finish",
    );
    assert!(server.take_out().iter().any(|(_, segment)| segment.payload.len == 100), "nothing follows it");
}

#[test]
fn octets_stay_in_the_send_buffer_until_the_data_ack() {
    let mut server = Script::server(Config { send_autotuning: false, send_buffer: 10_000, ..config() });
    server.join();
    assert_eq!(server.connection.send_space(), 10_000);
    server.run("push 4000");
    server.take_out();
    assert_eq!(server.connection.send_space(), 6000);
    server.run("push 6000");
    server.take_out();
    assert_eq!(server.connection.send_space(), 0, "whatever the subflows could hold");
    server.run("+20 0 < . 1:1 ack 4001 win 60000 dack 0");
    assert_eq!(server.connection.send_space(), 0);
    server.run("+1 0 < . 1:1 ack 4001 win 60000 dack 4000");
    assert_eq!(server.connection.send_space(), 4000);
}

/// It writes within the event that makes the room.
#[test]
fn an_application_that_waits_hears_at_once_by_how_much_the_send_buffer_grows() {
    let mut server = Script::server(config());
    let space = server.connection.send_space();
    server.run(&format!("push {space}"));
    server.take_out();
    assert_eq!(server.connection.send_space(), 0);
    server.run("+20 0 < . 1:1 ack 10001 win 60000 dack 10000");
    server.take_out();
    let end = server.ends[0];
    let mut ack = Segment {
        seq: end.irs + 1,
        ack: end.iss + 20_001,
        flags: Flags::ACK,
        window: 60_000,
        ..Segment::default()
    };
    let data_ack = DataAck::Long(server.keys(0).data().1 + 20_000);
    ack.options.mptcp.dss = Some(Dss::new(Some(data_ack), None));
    server.run("+20");
    server.connection.handle_segment(server.now, SubflowId(0), &ack);
    let at_once = server.connection.send_space();
    server.run("read");
    assert!(at_once > 0);
    assert_eq!(server.connection.send_space(), at_once, "nothing else makes room");
}

/// wVegas: one step for each round trip, whatever the scheduler looks at.
#[test]
fn wvegas_takes_its_next_step_when_its_round_is_over() {
    let scheduler = Scheduler::RoundRobin;
    let mut config = Config { coupling: Coupling::Wvegas, scheduler, ..config() };
    config.tcp.initial_ssthresh = Some(4_000);
    let mut server = Script::server(config);
    server.run("push 10000");
    let _ = server.take_out();
    let mut windows = Vec::new();
    for at in 1..=10 {
        server.run(&format!("+2 0 < . 1:1 ack {at}001 win 60000 dack {at}000"));
        let _ = server.take_out();
        windows.push(server.connection.subflows().next().expect("there").tcp().cwnd());
    }
    assert!(windows[0] > 10_000, "one step of Reno for the first: {windows:?}");
    assert!(windows[..9].iter().all(|window| *window == windows[0]), "{windows:?}");
    assert_eq!(windows[9], windows[8] + 1000, "next to nothing waits in queues: {windows:?}");
}

/// RFC 2018 §4: the first blocks are the newest. Those that do not fit behind a DATA_ACK are left out.
#[test]
fn of_sack_blocks_the_newest_that_fit_beside_the_data_ack_are_sent() {
    let mut server = Script::server(config());
    server.run(
        "+20 0 < . 1001:2001 ack 1 win 60000 dack 0 map 1000 1001 1000
         0 > . 1:1 ack 1 sack 1001-2001 dack 0
         0 < . 3001:4001 ack 1 win 60000 dack 0 map 3000 3001 1000
         0 > . 1:1 ack 1 sack 3001-4001,1001-2001 dack 0
         0 < . 5001:6001 ack 1 win 60000 dack 0 map 5000 5001 1000
         0 > . 1:1 ack 1 sack 5001-6001,3001-4001,1001-2001 dack 0
         0 < . 7001:8001 ack 1 win 60000 dack 0 map 7000 7001 1000
         0 > . 1:1 ack 1 sack 7001-8001,5001-6001,3001-4001 dack 0",
    );
}

/// wVegas: fewer than three samples of the round-trip time say nothing. What was measured before a loss is none of them.
#[test]
fn wvegas_takes_a_step_of_reno_when_two_acks_repair_a_loss() {
    let scheduler = Scheduler::RoundRobin;
    let mut config = Config { coupling: Coupling::Wvegas, scheduler, ..config() };
    config.tcp.initial_ssthresh = Some(4_000);
    config.tcp.tail_loss_probe = false;
    let mut server = Script::server(config);
    server.run("push 10000");
    let _ = server.take_out();
    server.run("+20");
    // The first and the fifth segment are lost.
    for blocks in ["1001-2001", "1001-3001", "1001-4001", "5001-6001,1001-4001", "5001-10001,1001-4001"] {
        server.run(&format!("0 < . 1:1 ack 1 win 60000 dack 0 sack {blocks}"));
        let _ = server.take_out();
    }
    let cwnd = |server: &Script| server.connection.subflows().next().expect("there").tcp().cwnd();
    server.run("+20 0 < . 1:1 ack 4001 win 60000 dack 4000 sack 5001-10001");
    let _ = server.take_out();
    server.run("+1 0 < . 1:1 ack 10001 win 60000 dack 10000");
    assert_eq!(cwnd(&server), 5_200, "half of ten, and a fifth");
}
