//! Subflows that acknowledge in the order of the connection's data, a quirk of other simulators.

use crate::script::{Script, small_window};
use ropewalk_mptcp::{Config, Scheduler, SubflowId};
use ropewalk_tcp::SubflowAcks;

/// Two subflows; whatever comes has room in 10 000 octets.
fn server(subflow_acks: SubflowAcks) -> Script {
    let mut config = Config { scheduler: Scheduler::RoundRobin, ..small_window() };
    config.tcp.quirks.subflow_acks = subflow_acks;
    let mut server = Script::server(config);
    server.join();
    server
}

fn rcv_nxt(server: &Script, id: u32) -> u32 {
    let subflow = server.connection.subflow(SubflowId(id)).expect("it is open");
    subflow.tcp().rcv_nxt().since(subflow.tcp().irs())
}

#[test]
fn what_waits_for_other_data_is_acknowledged_when_these_have_come() {
    let mut server = server(SubflowAcks::InDataOrder);
    server.run("+1 1 < . 1:101 ack 1 win 60000 dack 0 map 100 1 100\n > nothing");
    assert_eq!((rcv_nxt(&server, 1), server.connection.readable()), (1, 0));
    server.run("+1 0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100");
    assert_eq!((rcv_nxt(&server, 1), server.connection.readable()), (101, 200));
}

#[test]
fn what_is_next_in_the_connection_does_not_wait() {
    let mut server = server(SubflowAcks::InDataOrder);
    server.run("+1 1 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100");
    assert_eq!((rcv_nxt(&server, 1), server.connection.readable()), (101, 100));
}

/// Its own subflow hears of a hole in that subflow at once.
#[test]
fn what_comes_after_a_hole_of_its_subflow_does_not_wait() {
    let mut server = server(SubflowAcks::InDataOrder);
    server.run("+1 1 < . 101:201 ack 1 win 60000 dack 0 map 200 101 100\n 1 > . 1:1 ack 1");
}

/// A mapping that ends beyond the window is none of the peer's that keep to it; nothing is kept for it.
#[test]
fn what_begins_at_the_edge_of_the_window_does_not_wait() {
    let mut server = server(SubflowAcks::InDataOrder);
    server.run("+1 1 < . 1:101 ack 1 win 60000 dack 0 map 10000 1 100\n 1 > . 1:1 ack 1");
    server.run("+1 1 < . 101:201 ack 1 win 60000 dack 0 map 0 101 100");
    assert_eq!(server.connection.readable(), 0);
}

#[test]
fn a_copy_of_what_waits_gets_another_ack_and_nothing_else() {
    let mut server = server(SubflowAcks::Twice);
    for _ in 0..2 {
        server.run(
            "+1 1 < . 1:101 ack 1 win 60000 dack 0 map 100 1 100\n 1 > . 1:1 ack 1 dack32 0\n > nothing",
        );
        assert_eq!((rcv_nxt(&server, 1), server.connection.readable()), (1, 0));
    }
    server.run("+1 0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100");
    assert_eq!((rcv_nxt(&server, 1), server.connection.readable()), (101, 200));
}

/// … but no acknowledgement without data, though its number is old.
#[test]
fn an_ack_from_before_what_waits_is_taken() {
    let mut server = server(SubflowAcks::Twice);
    server.run("+1 1 < . 1:101 ack 1 win 60000 dack 0 map 100 1 100\n 1 > . 1:1 ack 1 dack32 0\n push 10000");
    let sent = server.take_out();
    let last =
        sent.iter().rfind(|(id, _)| id.0 == 1).map(|(_, segment)| segment.end().since(server.ends[1].iss));
    server.run(&format!("+20 1 < . 1:1 ack {} win 60000 dack 0", last.expect("it carries some")));
    assert_eq!(server.connection.subflow(SubflowId(1)).map(|subflow| subflow.tcp().flight_size()), Some(0));
}

/// What its subflow has acknowledged is acknowledged again by TCP (RFC 9293 §3.10.7.4), though something waits.
#[test]
fn what_was_acknowledged_before_is_no_copy_of_what_waits() {
    let mut server = server(SubflowAcks::Twice);
    server.run("+1 1 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100");
    server.take_out();
    server.run(
        "+100 read\n +1 1 < . 101:201 ack 1 win 60000 dack 0 map 200 101 100\n 1 > . 1:1 ack 101 dack 100",
    );
    let before = server.connection.subflow(SubflowId(1)).map(|s| s.tcp().stats().duplicate_bytes_received);
    server.run("+1 1 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100");
    let after = server.connection.subflow(SubflowId(1)).map(|s| s.tcp().stats().duplicate_bytes_received);
    assert_eq!((before, after), (Some(0), Some(100)));
}

/// It brings what waits before it on its subflow.
#[test]
fn what_is_next_in_the_connection_behind_what_waits_is_no_copy_of_it() {
    let mut server = server(SubflowAcks::Twice);
    server.run("+1 1 < . 1:101 ack 1 win 60000 dack 0 map 100 1 100\n 1 > . 1:1 ack 1 dack32 0");
    server.run("+1 1 < . 101:201 ack 1 win 60000 dack 0 map 0 101 100");
    assert_eq!((rcv_nxt(&server, 1), server.connection.readable()), (201, 200));
}

/// … nor does it set free what waits.
#[test]
fn what_was_acknowledged_before_brings_nothing_that_waits() {
    let mut server = server(SubflowAcks::InDataOrder);
    server.run("+1 1 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100");
    server.take_out();
    server.run("+100 read\n +1 1 < . 101:201 ack 1 win 60000 dack 0 map 200 101 100\n > nothing");
    server.run("+1 1 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100");
    assert_eq!((rcv_nxt(&server, 1), server.connection.stats().bytes_delivered), (101, 100));
}

/// Data that leaves says how far the subflow has come (RFC 9293 §3.10.7.4); the ACKs that are owed one by one are others.
#[test]
fn data_is_no_ack_that_is_owed() {
    let mut config = Config { scheduler: Scheduler::RoundRobin, ..small_window() };
    config.tcp.quirks.subflow_acks = SubflowAcks::Twice;
    let mut server = Script::accept(config, "S 0:1 win 1000 mss 1024 sackok capable");
    server.run(
        "0 > S. 0:1 ack 1 capable
         +20 0 < . 1:1 ack 1 win 1000 capable
         +1 1 < S 0:1 win 1000 mss 1024 sackok join
         1 > S. 0:1 ack 1 join
         +20 1 < . 1:1 ack 1 win 1000 join
         1 > . 1:1 ack 1
         push 3000
         0 > . 1:1001 ack 1
         1 < . 1:101 ack 1 win 1000 dack 0 map 100 1 100
         1 > . 1:1 ack 1
         1 < . 101:201 ack 1 win 1000 dack 0 map 200 101 100
         1 > . 1:1 ack 1
         +1 0 < . 1:101 ack 1001 win 5000 dack 1000 map 0 1 100",
    );
    let out = server.take_out();
    let data = out.iter().find(|(id, segment)| id.0 == 1 && segment.payload.len > 0);
    assert_eq!(data.map(|(_, segment)| segment.ack.since(server.ends[1].irs)), Some(201), "{out:?}");
}
