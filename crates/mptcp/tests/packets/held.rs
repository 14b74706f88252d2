//! What a host asks that keeps the octets itself, and the counters of the connection.

use crate::script::{Script, config};
use ropewalk_mptcp::Config;
use ropewalk_units::Duration;
use ropewalk_wire::Payload;

/// Ranges of the stream, in order.
fn in_order(mut ranges: Vec<Payload>) -> Vec<(u64, u64)> {
    ranges.sort_unstable_by_key(|range| range.offset);
    ranges.iter().map(|range| (range.offset, range.offset + u64::from(range.len))).collect()
}

fn held(script: &Script) -> Vec<(u64, u64)> {
    let mut ranges = Vec::new();
    script.connection.visit_held(&mut |range| ranges.push(range));
    in_order(ranges)
}

/// Octets of which something is not acknowledged, `most` of them.
fn unacknowledged(script: &Script, most: u64) -> Vec<bool> {
    let mut octets = vec![false; most as usize];
    script.connection.visit_unacknowledged(&mut |range| {
        let end = range.offset + u64::from(range.len);
        octets[range.offset as usize..end as usize].fill(true);
    });
    octets
}

#[test]
fn what_came_and_was_not_read_is_named_wherever_it_waits() {
    let mut server = Script::server(config());
    server.run("0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100");
    let _ = server.take_out();
    // Behind a hole of the connection, and behind one of the subflow.
    server.run("0 < . 101:121 ack 1 win 60000 dack 0 map 200 101 20");
    let _ = server.take_out();
    server.run("0 < . 181:191 ack 1 win 60000 dack 0 map 280 181 10");
    assert_eq!(held(&server), [(0, 100), (200, 220), (280, 290)]);
    assert_eq!(server.connection.held_octets(), 130);
    let _ = server.take_out();
    server.run("read");
    assert_eq!(held(&server), [(200, 220), (280, 290)]);
}

#[test]
fn the_number_expected_next_is_one_beyond_what_came_in_order() {
    let mut server = Script::server(config());
    let first = server.keys(0).data().0;
    assert_eq!(server.connection.expected_dsn(), first);
    server.run("0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100");
    assert_eq!(server.connection.expected_dsn(), first + 100);
}

/// By DATA_ACK, or by the subflow that carries it: either may ask for it again.
#[test]
fn what_is_not_acknowledged_on_both_levels_is_named() {
    let mut server = Script::server(config());
    server.run("push 3000");
    let _ = server.take_out();
    assert_eq!(unacknowledged(&server, 4000), [vec![true; 3000], vec![false; 1000]].concat());
    server.run("+20 0 < . 1:1 ack 2001 win 60000 dack 1000");
    assert_eq!(
        unacknowledged(&server, 4000),
        [vec![false; 1000], vec![true; 2000], vec![false; 1000]].concat()
    );
    let _ = server.take_out();
    server.run("+1 0 < . 1:1 ack 2001 win 60000 dack 3000");
    assert_eq!(
        unacknowledged(&server, 4000),
        [vec![false; 2000], vec![true; 1000], vec![false; 1000]].concat()
    );
    let _ = server.take_out();
    server.run("+1 0 < . 1:1 ack 3001 win 60000 dack 3000");
    assert_eq!(unacknowledged(&server, 4000), [false; 4000]);
}

/// A subflow that has ended asks for nothing.
#[test]
fn what_a_subflow_that_is_gone_had_on_its_way_is_not_named_for_its_sake() {
    let mut server = Script::server(Config { reinjection: false, ..config() });
    server.run("push 1000");
    let _ = server.take_out();
    server.run("+20 0 < . 1:1 ack 1 win 60000 dack 1000");
    assert_eq!(unacknowledged(&server, 1000), [true; 1000]);
    let _ = server.take_out();
    server.run("0 < R 1:1");
    assert_eq!(unacknowledged(&server, 1000), [false; 1000]);
}

#[test]
fn counters_tell_what_came_twice_and_what_waits_and_for_how_long() {
    let mut server = Script::server(config());
    server.join();
    server.run("0 < . 1:101 ack 1 win 60000 dack 0 map 100 1 100");
    let _ = server.take_out();
    let stats = server.connection.stats();
    assert_eq!((stats.reorder_buffer, stats.reorder_buffer_max, stats.duplicate_bytes), (100, 100, 0));
    server.run("+30 1 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100");
    let _ = server.take_out();
    server.run("1 < . 101:151 ack 1 win 60000 dack 0 map 100 101 50");
    let stats = server.connection.stats();
    assert_eq!((stats.reorder_buffer, stats.reorder_buffer_max, stats.duplicate_bytes), (0, 100, 50));
    assert_eq!(stats.hol_blocked, Duration::from_millis(30));
    assert_eq!(stats.bytes_delivered, 200);
}
