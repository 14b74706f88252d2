//! What is done about a connection-level window that a subflow holds up: opportunistic retransmission and penalization (Raiciu et
//! al., NSDI 2012 §4.2).

use crate::idle_reinjection::{held_up, penalties};
use crate::script::{Script, config};
use ropewalk_mptcp::{Config, Event, Scheduler, SubflowId};

fn penalizing() -> Config {
    Config { penalization: true, reinjection: false, scheduler: Scheduler::LowestRtt, ..config() }
}

/// Subflows that were penalized since the last call, and octets sent again with where they begin.
fn relief(server: &mut Script) -> (Vec<u32>, Vec<(u64, u32)>) {
    server.take_out();
    let (mut penalized, mut again) = (Vec::new(), Vec::new());
    for event in server.events() {
        match event {
            Event::Penalized(id) => penalized.push(id.0),
            Event::Reinjected { data, octets, opportunistic: true, .. } => again.push((data, octets)),
            _ => {}
        }
    }
    (penalized, again)
}

#[test]
fn the_oldest_segment_of_a_full_window_goes_to_the_subflow_with_room_once() {
    let mut server = held_up(Config { opportunistic_retransmission: true, ..penalizing() });
    assert_eq!(relief(&mut server), (vec![], vec![(0, 1000)]), "the slow one has room, too");
    server.run(
        "+5 1 < . 1:1 ack 10001 win 5000 dack 10000
         1 > . 10001:11001 map 10000 10001 1000
         +1 1 < . 1:1 ack 10001 win 5000 dack 10000
         > nothing",
    );
    assert_eq!(relief(&mut server), (vec![0], vec![(10_000, 1000)]));
    let stats = server.connection.stats();
    assert_eq!((stats.opportunistic_retransmissions, stats.penalizations), (2, 1));
}

#[test]
fn a_window_that_keeps_nothing_back_is_not_relieved() {
    let both = Config { opportunistic_retransmission: true, ..penalizing() };
    let mut server = Script::accept(both, "S 0:1 win 15000 mss 1024 sackok capable");
    server.run(
        "0 > S. 0:1 ack 1 capable
         +20 0 < . 1:1 ack 1 win 15000 capable
         +1 1 < S 0:1 win 15000 mss 1024 sackok join
         1 > S. 0:1 ack 1 join
         +5 1 < . 1:1 ack 1 win 15000 join
         1 > . 1:1 ack 1
         push 15000",
    );
    server.take_out();
    server.run("+5 1 < . 1:1 ack 10001 win 5000 dack 10000");
    assert_eq!(relief(&mut server), (vec![], vec![]), "nothing waits for the window");
    server.run("+1 1 < . 1:1 ack 10001 win 10000 dack 10000\n push 100\n > nothing");
    assert_eq!(
        relief(&mut server),
        (vec![], vec![]),
        "the window is open, what waits is too short for a segment"
    );
}

#[test]
fn a_slow_subflow_that_does_not_carry_the_oldest_octets_is_not_penalized() {
    let mut server = Script::accept(penalizing(), "S 0:1 win 25000 mss 1024 sackok capable");
    server.run(
        "0 > S. 0:1 ack 1 capable
         +20 0 < . 1:1 ack 1 win 25000 capable
         +1 1 < S 0:1 win 25000 mss 1024 sackok join
         1 > S. 0:1 ack 1 join
         +5 1 < . 1:1 ack 1 win 25000 join
         1 > . 1:1 ack 1
         2 < S 0:1 win 25000 mss 1024 sackok join
         2 > S. 0:1 ack 1 join
         +30 2 < . 1:1 ack 1 win 25000 join
         2 > . 1:1 ack 1
         push 100000",
    );
    let sent = server.take_out();
    let on = |at: u32| sent.iter().filter(|(id, _)| id.0 == at).map(|(_, s)| s.payload.len).sum::<u32>();
    assert_eq!((on(1), on(0), on(2)), (10_000, 10_000, 5000));
    relief(&mut server);
    server.run("+5 1 < . 1:1 ack 10001 win 15000 dack 10000");
    assert_eq!(relief(&mut server).0, [0], "not subflow 2, though it is the slowest");
}

/// A timeout has cut its window already.
#[test]
fn a_subflow_in_recovery_is_not_penalized() {
    let mut server = held_up(penalizing());
    // The fast one's data has arrived, but the DATA_ACK has not: nothing older than its own is on its way.
    server.run("+5 1 < . 1:1 ack 10001 win 15000 dack 0");
    relief(&mut server);
    let slow = |server: &Script| server.connection.subflow(SubflowId(0)).expect("it is open").tcp().clone();
    while !slow(&server).in_timeout_recovery() {
        server.run("+1");
        server.take_out();
    }
    assert_eq!(penalties(&mut server), 0);
    let cwnd = slow(&server).cwnd();
    server.run("1 < . 1:1 ack 10001 win 5000 dack 10000");
    assert_eq!(relief(&mut server), (vec![], vec![]));
    assert_eq!(slow(&server).cwnd(), cwnd);
}
