//! When a subflow that does not answer is given up for new data, and when others carry what it holds.

use crate::idle_reinjection::Peer;
use crate::script::{Script, config};
use ropewalk_mptcp::{Config, Event, Limits, ReinjectAfterTimeout, Scheduler, SubflowId};

/// Lets time pass, looking at nothing that leaves.
fn pass(server: &mut Script, milliseconds: u32) {
    for _ in 0..milliseconds {
        server.take_out();
        server.run("+1");
    }
    server.take_out();
}

/// Where the ranges begin that subflow 1 was given again since the last call.
fn reinjected(server: &mut Script) -> Vec<u64> {
    let events = server.events().into_iter();
    let data = events.filter_map(|event| match event {
        Event::Reinjected { id: SubflowId(1), data, .. } => Some(data),
        _ => None,
    });
    data.collect()
}

/// Two subflows; 1000 octets on subflow 0, which does not answer from then on.
fn silent(config: Config) -> Script {
    let mut server = Script::server(config);
    server.join();
    server.run("push 1000");
    assert!(server.take_out().iter().all(|(id, _)| id.0 == 0));
    server
}

/// Does new data go to subflow 0 still? Subflow 1 gets it only if the other does not count any more: it is a backup.
fn is_in_use(server: &mut Script, peer: &mut Peer) -> bool {
    peer.answer(server);
    server.run("1 < . 1:1 ack 1 win 60000 prio 1");
    server.take_out();
    let written = server.connection.stats().bytes_acked;
    server.run("push 1000");
    server.take_out().iter().all(|(id, segment)| id.0 == 0 || segment.payload.offset < written)
}

/// For so many waits in vain nothing comes back, but for what the peer answers after each on subflow 1. Then: the waits after which
/// something was sent again at once, and where it begins.
fn wait_in_vain(server: &mut Script, peer: &mut Peer, waits: usize) -> Vec<(usize, u64)> {
    let mut again = Vec::new();
    for wait in 1..=waits {
        pass(server, 150);
        assert_eq!(reinjected(server), [], "not before 200 ms");
        server.run("+55");
        again.extend(reinjected(server).into_iter().map(|data| (wait, data)));
        peer.answer(server);
        if wait < waits {
            server.run("push 1000");
            hear(server, peer);
        }
    }
    again
}

/// The same, and whether subflow 0 is in use then.
fn after_waits(stale_loss_cnt: u32, waits: usize) -> (Vec<(usize, u64)>, bool) {
    let mut server = silent(Config { stale_loss_cnt, ..config() });
    let mut peer = Peer::default();
    let again = wait_in_vain(&mut server, &mut peer, waits);
    let in_use = is_in_use(&mut server, &mut peer);
    (again, in_use)
}

/// The peer has got what leaves, and its answer takes its time.
fn hear(server: &mut Script, peer: &mut Peer) {
    for (id, segment) in server.take_out() {
        assert_eq!(id, SubflowId(1));
        peer.arrived[(segment.payload.offset / 1000) as usize] = true;
        peer.next = segment.end().since(server.ends[1].iss);
    }
}

/// As Linux decides it (`mptcp_pm_subflow_chk_stale`): after more waits in vain than `stale_loss_cnt` says. All that has no DATA_ACK is
/// sent once more then, what is on its way on the other subflow included. At the first wait that one was idle and carried it.
#[test]
fn a_subflow_that_stays_silent_gets_no_new_data_and_all_is_sent_again_once() {
    for waits in 1..=4 {
        assert_eq!(after_waits(4, waits), (vec![(1, 0)], true), "{waits} waits");
    }
    let all = vec![(1, 0), (5, 4000)];
    assert_eq!(after_waits(4, 5), (all.clone(), false));
    assert_eq!(after_waits(4, 7), (all, false));
    assert_eq!(after_waits(0, 7), (vec![(1, 0)], true), "0: never");
}

/// … whatever the scheduler. A backup has the data that come later go to the other one.
#[test]
fn all_that_was_sent_is_sent_again_where_it_does_not_take_its_turn_too() {
    for scheduler in [Scheduler::RoundRobin, Scheduler::LowestRtt, Scheduler::Linux] {
        let mut server = silent(Config { scheduler: scheduler.clone(), ..config() });
        server.run("0 < . 1:1 ack 1 win 60000 dack 0 prio 1");
        let again = wait_in_vain(&mut server, &mut Peer::default(), 7);
        assert_eq!(again, [(1, 0), (5, 4000)], "{scheduler:?}");
    }
}

/// Nobody would do its work.
#[test]
fn of_two_silent_subflows_none_is_given_up() {
    let mut server = silent(config());
    let mut peer = Peer::default();
    pass(&mut server, 230);
    assert_eq!(reinjected(&mut server), [0]);
    pass(&mut server, 3000);
    peer.arrived[0] = true;
    peer.next = 1001;
    assert!(is_in_use(&mut server, &mut peer));
}

#[test]
fn a_backup_carries_the_oldest_piece_when_the_others_stay_silent_and_not_while_it_has_it() {
    let mut server = silent(Config { stale_loss_cnt: 20, ..config() });
    server.run("1 < . 1:1 ack 1 win 60000 dack 0 prio 1");
    pass(&mut server, 350);
    assert_eq!(reinjected(&mut server), [], "one wait in vain tells nothing yet");
    pass(&mut server, 100);
    assert_eq!(reinjected(&mut server), [0]);
    pass(&mut server, 2000);
    assert_eq!(reinjected(&mut server), [], "it is on its way there");
}

/// 40 000 octets in turns. All on subflow 1 has arrived there, and the first on subflow 0 has not.
#[test]
fn an_idle_subflow_carries_no_more_than_the_oldest_piece() {
    let mut config = Config { scheduler: Scheduler::RoundRobin, ..config() };
    config.tcp.initial_window = 20;
    let mut server = Script::server(config);
    server.join();
    server.run("push 40000");
    server.take_out();
    server.run("+20 1 < . 1:1 ack 20001 win 60000 dack 0");
    server.events();
    pass(&mut server, 200);
    let octets = server.events().into_iter().map(|event| match event {
        Event::Reinjected { id: SubflowId(1), octets, .. } => octets,
        _ => 0,
    });
    assert_eq!(octets.sum::<u32>(), 32_728);
}

/// RFC 8684 §3.3.6. What tells how far its carrier came is not what the subflow tells that is in its place now.
#[test]
fn what_has_no_data_ack_is_sent_again_though_its_carrier_s_place_has_another_subflow() {
    let limits = Limits { subflows: 2, ..Limits::default() };
    let reinject_after_timeout = ReinjectAfterTimeout::All;
    let mut server = silent(Config { limits, reinject_after_timeout, stale_loss_cnt: 10, ..config() });
    pass(&mut server, 600);
    assert_eq!(reinjected(&mut server), [0]);
    server.run("1 < R 1:1\n 0 < . 1:1 ack 1001 win 60000 dack 0");
    server.take_out();
    server.join();
    let mut again = 0;
    for _ in 0..3000 {
        server.run("+1");
        again += server.take_out().iter().filter(|(_, segment)| segment.payload.len == 1000).count();
    }
    assert!(again > 0);
}

/// Its own timer runs for twice its round-trip time.
#[test]
fn a_slow_subflow_that_is_heard_of_repairs_its_own_losses_first() {
    let mut server = Script::accept(
        Config { scheduler: Scheduler::RoundRobin, ..config() },
        "S 0:1 win 60000 mss 1024 sackok capable",
    );
    server.run(
        "0 > S. 0:1 ack 1 capable
         +150 0 < . 1:1 ack 1 win 60000 capable
         push 2000
         0 > . 1:1001 ack 1
         0 > . 1001:2001 ack 1
         +150 0 < . 1:1 ack 1001 win 60000 dack 1000
         +1 1 < S 0:1 win 60000 mss 1024 sackok join
         1 > S. 0:1 ack 1 join
         +5 1 < . 1:1 ack 1 win 60000 join
         1 > . 1:1 ack 1
         +240 > nothing",
    );
    server.pass_until_output(1000);
    assert_eq!(server.take_out()[0].0, SubflowId(0));
}

/// The timer is due in the instant of the DATA_ACK. What it sends is waited for.
#[test]
fn a_subflow_whose_timer_is_due_now_is_given_time() {
    let mut server = Script::server(Config { scheduler: Scheduler::RoundRobin, ..config() });
    server.join();
    server.run("push 4000");
    server.take_out();
    let due = server.connection.subflow(SubflowId(0)).and_then(|subflow| subflow.tcp().repair_deadline());
    server.now = due.expect("data is on its way");
    server.run("1 < . 1:1 ack 2001 win 60000 dack 2000");
    pass(&mut server, 100);
    assert_eq!(reinjected(&mut server), []);
    pass(&mut server, 150);
    assert_eq!(reinjected(&mut server), [2000, 3000]);
}

#[test]
fn after_timeouts_in_a_row_a_subflow_gets_no_new_data() {
    for (timeouts, in_use) in [(3, true), (4, false)] {
        let mut server = silent(Config {
            reinject_after_timeout: ReinjectAfterTimeout::Head,
            stale_loss_cnt: 4,
            ..config()
        });
        let mut peer = Peer::default();
        while server.connection.subflow(SubflowId(0)).unwrap().tcp().consecutive_timeouts() < timeouts {
            peer.answer(&mut server);
            server.run("+1");
        }
        assert_eq!(is_in_use(&mut server, &mut peer), in_use, "{timeouts} timeouts");
    }
}

#[test]
fn if_no_number_of_timeouts_makes_a_subflow_stale_it_gets_new_data_after_many() {
    for reinject_after_timeout in [ReinjectAfterTimeout::Head, ReinjectAfterTimeout::All] {
        let mut server = Script::server(Config { reinject_after_timeout, stale_loss_cnt: 0, ..config() });
        server.join();
        server.run("push 1000\n 0 > . 1:1001 ack 1");
        let mut peer = Peer::default();
        while server.connection.subflow(SubflowId(0)).unwrap().tcp().consecutive_timeouts() < 6 {
            peer.answer(&mut server);
            server.run("+1");
        }
        assert!(is_in_use(&mut server, &mut peer), "{reinject_after_timeout:?}");
    }
}

#[test]
fn a_backup_gets_no_new_data_from_a_scheduler_that_looks_at_rooms_only() {
    for scheduler in [Scheduler::RoundRobin, Scheduler::LowestRtt] {
        let mut server = Script::server(Config { scheduler, ..config() });
        server.join();
        server.run("push 2000");
        server.take_out();
        server.run("+20 0 < . 1:1 ack 1001 win 60000 dack 2000 prio 1\n push 4000");
        let sent = server.take_out();
        let data = sent.iter().filter(|(_, segment)| segment.payload.offset >= 2000);
        assert!(data.clone().count() > 0 && data.clone().all(|(id, _)| id.0 == 1), "{sent:?}");
    }
}

/// Subflow 1 has 2000 octets and will time out; subflow 0, with 9000, is the slower choice by far. Subflow 2 is closing.
fn before_a_timeout_of_the_lighter_one() -> Script {
    let reinject_after_timeout = ReinjectAfterTimeout::All;
    let mut server = Script::server(Config { reinject_after_timeout, stale_loss_cnt: 10, ..config() });
    server.join();
    server.join();
    server.run("2 < F. 1:2 ack 1 win 60000 dack 0");
    server.take_out();
    server.run("0 < . 1:1 ack 1 win 60000 dack 0 prio 1\n push 2000");
    server.take_out();
    server.run("+5 0 < . 1:1 ack 1 win 60000 dack 0 prio 0");
    server.take_out();
    server.run("1 < . 1:1 ack 1 win 60000 dack 0 prio 1\n push 9000");
    server.take_out();
    server.run("1 < . 1:1 ack 1 win 60000 dack 0 prio 0");
    server.take_out();
    let carries = |at: u32| {
        let tcp = server.connection.subflow(SubflowId(at)).expect("it is there").tcp();
        (u64::from(tcp.flight_size()) + tcp.unsent(), tcp.consecutive_timeouts())
    };
    assert_eq!([carries(0), carries(1)], [(9000, 0), (2000, 0)]);
    server
}

/// RFC 8684 §3.3.6, when the scheduler says who: it goes to the subflow that has not got it, however full that is; and new data that comes
/// behind goes where it would have gone anyway.
#[test]
fn the_scheduler_finds_another_subflow_for_what_one_carries_and_none_else_for_new_data() {
    let mut server = before_a_timeout_of_the_lighter_one();
    let timeouts = |server: &Script, at: u32| {
        server.connection.subflow(SubflowId(at)).expect("it is there").tcp().consecutive_timeouts()
    };
    server.events();
    while timeouts(&server, 1) == 0 {
        server.take_out();
        server.now = server.connection.poll_timeout().expect("data is on its way").0;
        server.connection.handle_timeout(server.now);
        if timeouts(&server, 1) == 1 {
            server.connection.push(1000);
        }
        server.run("read");
    }
    assert_eq!(timeouts(&server, 0), 0);
    let again = server.events().into_iter().filter_map(|event| match event {
        Event::Reinjected { id, data, octets, .. } => Some((id.0, data, octets)),
        _ => None,
    });
    assert_eq!(again.collect::<Vec<_>>(), [(0, 0, 2000)]);
    let queued = |at: u32| {
        let tcp = server.connection.subflow(SubflowId(at)).expect("it is there").tcp();
        u64::from(tcp.flight_size()) + tcp.unsent()
    };
    assert_eq!((queued(0), queued(1)), (11_000, 3000), "the new octets are on subflow 1");
}
