//! The connection's own retransmission timer (RFC 8684 §3.3.6), and what timeouts of subflows do.

use crate::script::{Script, config};
use ropewalk_mptcp::{Config, Limits, ReinjectAfterTimeout, Scheduler};

/// Two subflows take turns. What times out goes to others bit by bit, and no probe is sent before.
fn in_turns() -> Config {
    let (scheduler, reinject_after_timeout) = (Scheduler::RoundRobin, ReinjectAfterTimeout::Head);
    let mut config = Config { scheduler, reinject_after_timeout, ..config() };
    config.tcp.tail_loss_probe = false;
    config
}

/// Lets so many times ten milliseconds pass, whatever leaves.
fn pass(server: &mut Script, tens: u32) {
    for _ in 0..tens {
        let _ = server.take_out();
        server.run("+10");
    }
}

#[test]
fn the_wait_for_a_data_ack_begins_anew_with_each() {
    let mut server = Script::server(in_turns());
    server.run("push 2000");
    let _ = server.take_out();
    server.run(
        "+150 0 < . 1:1 ack 2001 win 60000 dack 1000
         +200 > nothing",
    );
    server.pass_until_output(100);
    server.run("0 > . 2000:2000 ack 1");
}

/// Its own subflow repairs what is on its way there.
#[test]
fn nothing_is_asked_for_while_the_oldest_data_is_on_its_way() {
    let mut server = Script::server(in_turns());
    server.run("push 1000\n 0 > . 1:1001 ack 1");
    server.pass_until_output(300);
    server.run("0 > . 1:1001 ack 1\n +400 > nothing");
    server.pass_until_output(100);
    server.run("0 > . 1:1001 ack 1");
}

/// Where another subflow can carry it, one request for a DATA_ACK is enough.
#[test]
fn data_without_a_data_ack_is_sent_again_after_one_request() {
    let mut server = Script::server(in_turns());
    server.run(
        "push 1000
         0 > . 1:1001 ack 1
         +20 0 < . 1:1 ack 1001 win 60000 dack 0",
    );
    server.join();
    server.pass_until_output(400);
    server.run("0 > . 1000:1000 ack 1");
    server.pass_until_output(1000);
    server.run("0 > . 1001:2001 ack 1 map 0 1001 1000");
}

/// The place of a carrier that is gone may have another subflow, which cannot be asked for what it never carried.
#[test]
fn data_whose_last_carrier_is_gone_is_sent_again_without_a_request() {
    let limits = Limits { subflows: 2, ..Limits::default() };
    let mut server = Script::server(Config { limits, ..in_turns() });
    server.join();
    server.run("push 1000\n 0 > . 1:1001 map 0 1 1000");
    server.pass_until_output(300);
    server.run(
        "0 > . 1:1001
         1 > . 1:1001 map 0 1 1000
         +20 0 < . 1:1 ack 1001 win 60000 dack 0
         1 < R 1:1",
    );
    server.join();
    server.pass_until_output(1000);
    server.run("0 > . 1001:2001 map 0 1001 1000");
}

#[test]
fn timeouts_reinject_nothing_where_that_is_off() {
    let mut server = Script::server(Config { reinjection: false, ..in_turns() });
    server.join();
    server.run("push 2000");
    let _ = server.take_out();
    server.run("+20 0 < . 1:1 ack 1001 win 60000 dack 1000");
    pass(&mut server, 300);
    assert_eq!(server.connection.stats().reinjected_bytes, 0);
}

#[test]
fn a_subflow_that_joins_carries_what_has_timed_out_elsewhere() {
    let mut server = Script::server(in_turns());
    server.run("push 1000\n 0 > . 1:1001 ack 1");
    server.pass_until_output(300);
    server.run("0 > . 1:1001 ack 1");
    server.join();
    server.run("1 > . 1:1001 map 0 1 1000");
}

#[test]
fn a_subflow_that_is_heard_of_again_carries_what_has_timed_out_elsewhere() {
    let mut server = Script::server(Config { stale_loss_cnt: 1, ..in_turns() });
    server.join();
    server.run("push 2000");
    let _ = server.take_out();
    server.pass_until_output(300);
    // Both have timed out, and neither may carry for the other.
    let _ = server.take_out();
    server.run(
        "+1 > nothing
         1 < . 1:1 ack 1001 win 60000 dack 0
         1 > . 1001:2001 map 0 1001 1000",
    );
}

/// RFC 9293 §3.8.6.1 is about windows that are closed. Here it is the subflow that gets no more: it has timed out.
#[test]
fn a_window_that_is_open_is_not_probed() {
    let mut server = Script::server(Config { stale_loss_cnt: 1, ..in_turns() });
    server.run("push 15000");
    let _ = server.take_out();
    server.run("+20 0 < . 1:1 ack 1 win 60000 dack 10000");
    pass(&mut server, 300);
    assert_eq!(server.connection.stats().window_probes, 0);
}
