//! Explicit congestion notification (RFC 3168 §6.1).

use crate::script::Script;
use crate::script::configs::plain;
use ropewalk_tcp::Config;

fn ecn() -> Config {
    Config { ecn: true, ..plain() }
}

/// An active opener, the peer's window 60 000.
fn established() -> Script {
    let mut s = Script::connect(ecn());
    s.run("> SEW 0:1 notect\n +20 < S.E 0:1 ack 1 mss 1000\n > . 1:1 ack 1 notect");
    s
}

#[test]
fn only_both_bits_of_a_syn_ask_for_ecn() {
    for (syn, answer, data) in
        [("SEW", "S.E", "ect"), ("SE", "S.", "notect"), ("SW", "S.", "notect"), ("S", "S.", "notect")]
    {
        let mut s = Script::accept(ecn(), &format!("{syn} 0:1 mss 1000"));
        s.run(&format!("> {answer} 0:1 ack 1 notect\n +20 < . 1:1 ack 1\n push 1000\n > . 1:1001 {data}"));
    }
}

#[test]
fn only_ece_alone_of_a_syn_ack_agrees_to_ecn() {
    for (answer, data) in [("S.E", "ect"), ("S.EW", "notect"), ("S.W", "notect"), ("S.", "notect")] {
        let mut s = Script::connect(ecn());
        s.run(&format!("> SEW 0:1 notect\n +20 < {answer} 0:1 ack 1 mss 1000\n > . 1:1 ack 1 notect"));
        s.run(&format!("push 1000\n > . 1:1001 {data}"));
    }
}

#[test]
fn who_does_not_want_ecn_says_nothing_and_sends_nothing_of_it() {
    let mut s = Script::connect(plain());
    s.run("> S 0:1 notect\n +20 < S.E 0:1 ack 1 mss 1000\n > . 1:1 ack 1\n push 1000\n > . 1:1001 notect");
    let mut s = Script::accept(plain(), "SEW 0:1 mss 1000");
    s.run("> S. 0:1 notect\n +20 < . 1:1 ack 1\n push 1000\n > . 1:1001 notect\n < . 1:1001 ack 1 ce\n +100 > . 1001:1001");
}

#[test]
fn after_a_plain_syn_data_is_not_ecn_capable() {
    let mut s = Script::connect(ecn());
    s.run(
        "
        > SEW 0:1
        +1000 > S 0:1
        +20 < S.E 0:1 ack 1 mss 1000
        > . 1:1 ack 1
        push 1000
        > . 1:1001 notect
    ",
    );
}

#[test]
fn a_retransmission_is_not_ecn_capable_and_the_next_new_data_says_cwr_once() {
    let mut s = established();
    s.run(
        "
        push 4000
        > . 1:1001 ect
        > . 1001:2001 ect
        > . 2001:3001 ect
        > . 3001:4001 ect
        +20 < . 1:1 ack 1
        < . 1:1 ack 1
        < . 1:1 ack 1
        > . 1:1001 notect
        +20 < . 1:1 ack 4001
        push 2000
        > .W 4001:5001 ect
        > . 5001:6001 ect
    ",
    );
}

#[test]
fn a_timeout_is_followed_by_cwr_too() {
    let mut s = established();
    s.run(
        "
        push 1000
        > . 1:1001 ect
        +200 > . 1:1001 notect
        +20 < . 1:1 ack 1001
        push 1000
        > .W 1001:2001 ect
    ",
    );
}

#[test]
fn a_mark_outside_the_window_is_ignored() {
    let mut s = established();
    s.run(
        "
        < . 30000:30500 ack 1 ce
        > . 1:1 ack 1
        < . 1:1001 ack 1
        < . 1001:2001 ack 1
        > . 1:1 ack 2001
    ",
    );
}

#[test]
fn window_probes_are_not_ecn_capable() {
    let mut s = established();
    s.run("push 1000\n > . 1:1001\n +20 < .E 1:1 ack 1001 win 0\n push 500\n > nothing\n +200 > . 1000:1000 notect");
}

#[test]
fn a_plain_syn_after_the_first_takes_ecn_back() {
    let mut s = Script::accept(ecn(), "SEW 0:1 mss 1000");
    s.run("> S.E 0:1 ack 1\n +500 < S 0:1 mss 1000\n > S. 0:1 ack 1\n +20 < . 1:1 ack 1\n push 1000\n > . 1:1001 notect");
    let mut s = Script::accept(ecn(), "SEW 0:1 mss 1000");
    s.run("> S.E 0:1 ack 1\n +500 < SEW 0:1 mss 1000\n > S.E 0:1 ack 1\n +20 < . 1:1 ack 1\n push 1000\n > . 1:1001 ect");
}

#[test]
fn an_ack_that_tells_of_congestion_does_not_open_the_window() {
    let mut s = Script::connect(Config { initial_window: 4, ..ecn() });
    s.run("> SEW 0:1\n +20 < S.E 0:1 ack 1 mss 1000\n > . 1:1 ack 1");
    s.run(
        "
        push 20000
        > . 1:1001
        > . 1001:2001
        > . 2001:3001
        > . 3001:4001
        > nothing
        +20 < .E 1:1 ack 1001
        < .E 1:1 ack 2001
        < .E 1:1 ack 3001
        > .W 4001:5001
        < .E 1:1 ack 4001
        > . 5001:6001
    ",
    );
    assert_eq!((s.tcp.cwnd(), s.tcp.stats().ecn_reductions), (2000, 1));
    s.run("+20 < . 1:1 ack 6001\n > . 6001:7001\n > . 7001:8001\n > . 8001:9001\n > nothing");
}

#[test]
fn a_fin_without_data_is_not_ecn_capable() {
    let mut s = established();
    s.run("finish\n > F. 1:2 notect");
}
