//! What the connection does about a subflow that holds it up, or does not answer.

use crate::script::{Script, address, config};
use ropewalk_mptcp::{Config, Event, Path, PathManager, ReinjectAfterTimeout, Scheduler, SubflowId};
use ropewalk_units::Seq;
use std::collections::BTreeMap;

/// Subflow 0 with a round trip of 20 ms, subflow 1 with one of 5 ms. The peer's window is 15 000 octets; subflow 1 has acknowledged
/// its 10 000, and subflow 0 holds the rest.
pub(crate) fn held_up(config: Config) -> Script {
    let mut server = Script::accept(config, "S 0:1 win 15000 mss 1024 sackok capable");
    server.run(
        "0 > S. 0:1 ack 1 capable
         +20 0 < . 1:1 ack 1 win 15000 capable
         +1 1 < S 0:1 win 15000 mss 1024 sackok join
         1 > S. 0:1 ack 1 join
         +5 1 < . 1:1 ack 1 win 15000 join
         1 > . 1:1 ack 1
         push 100000",
    );
    let sent = server.take_out();
    let on = |at: u32, from: u64| {
        let new = sent.iter().filter(|(id, segment)| id.0 == at && segment.payload.offset >= from);
        new.map(|(_, segment)| segment.payload.len).sum::<u32>()
    };
    assert_eq!((on(1, 0), on(0, 10_000)), (10_000, 5000));
    server
}

pub(crate) fn penalties(server: &mut Script) -> usize {
    server.take_out();
    server.events().iter().filter(|event| matches!(event, Event::Penalized(SubflowId(0)))).count()
}

#[test]
fn a_subflow_that_holds_the_window_up_is_penalized_once_a_round_trip() {
    let lowest_rtt = Scheduler::LowestRtt;
    let mut server = held_up(Config { penalization: true, scheduler: lowest_rtt, ..config() });
    server.run("+5 1 < . 1:1 ack 10001 win 5000 dack 10000");
    assert_eq!(penalties(&mut server), 1);
    server.run("+2 1 < . 1:1 ack 10001 win 5000 dack 10000");
    assert_eq!(penalties(&mut server), 0, "not again within a round trip of the fast one");
    server.run("+3 1 < . 1:1 ack 10001 win 5000 dack 10000");
    assert_eq!(penalties(&mut server), 1);
}

/// The peer as it hears subflow 1 alone.
#[derive(Default)]
pub(crate) struct Peer {
    /// Data by the thousand.
    pub(crate) arrived: [bool; 20],
    /// What it acknowledges on the subflow.
    pub(crate) next: u32,
}

impl Peer {
    /// Takes what has left, and acknowledges it.
    pub(crate) fn answer(&mut self, server: &mut Script) {
        let sent = server.take_out();
        for (_, segment) in sent.iter().filter(|(id, segment)| id.0 == 1 && segment.payload.len > 0) {
            self.arrived[(segment.payload.offset / 1000) as usize] = true;
            self.next = self.next.max(segment.end().since(server.ends[1].iss));
        }
        let data = 1000 * self.arrived.iter().take_while(|arrived| **arrived).count();
        server.run(&format!("1 < . 1:1 ack {} win 60000 dack {data}", self.next.max(1)));
    }
}

/// Octets that were reinjected when subflow 0 had timed out once, twice and so on, until it counted as stale.
fn reinjected_by_timeout(server: &mut Script) -> Vec<u32> {
    let (mut peer, mut octets, mut by_timeout) = (Peer::default(), 0, Vec::new());
    while by_timeout.len() < 4 {
        peer.answer(server);
        for event in server.events() {
            octets += if let Event::Reinjected { octets, .. } = event { octets } else { 0 };
        }
        let timeouts = server.connection.subflow(SubflowId(0)).unwrap().tcp().consecutive_timeouts();
        if timeouts as usize > by_timeout.len() {
            by_timeout.push(octets);
        }
        server.take_out();
        server.run("+1");
    }
    by_timeout
}

#[test]
fn what_a_subflow_carries_goes_to_others_bit_by_bit_and_all_of_it_when_it_is_stale() {
    // 0: it never is.
    for (stale_loss_cnt, last) in [(4, 10_000), (0, 4000)] {
        let mut server = Script::server(Config {
            scheduler: Scheduler::RoundRobin,
            reinject_after_timeout: ReinjectAfterTimeout::Head,
            stale_loss_cnt,
            ..config()
        });
        server.join();
        server.run("push 20000\n 0 > . 1:1001 ack 1");
        assert_eq!(reinjected_by_timeout(&mut server), [1000, 2000, 3000, last]);
    }
}

/// RFC 8684 §3.3.6: data is sent again on *different* subflows. Its own sends it again as TCP does.
#[test]
fn no_subflow_is_given_what_it_carries_already() {
    for subflows in [1, 2] {
        let reinject_after_timeout = ReinjectAfterTimeout::All;
        let mut server = Script::server(Config { reinject_after_timeout, stale_loss_cnt: 10, ..config() });
        for _ in 1..subflows {
            server.join();
        }
        server.run("push 4000");
        let mut places: BTreeMap<(u32, u64), Seq> = BTreeMap::new();
        for _ in 0..5000 {
            for (id, segment) in server.take_out().iter().filter(|(_, segment)| segment.payload.len > 0) {
                let first = *places.entry((id.0, segment.payload.offset)).or_insert(segment.seq);
                assert_eq!(segment.seq, first, "{} on {id:?}, of {subflows}", segment.payload.offset);
            }
            server.run("+1");
        }
        let reinjected = server.connection.stats().reinjected_bytes;
        assert_eq!(reinjected > 0, subflows > 1, "{reinjected} octets on other subflows");
    }
}

#[test]
fn an_idle_subflow_carries_the_oldest_piece_when_no_data_ack_comes() {
    let config = Config {
        scheduler: Scheduler::RoundRobin,
        reinject_after_timeout: ReinjectAfterTimeout::Idle,
        ..config()
    };
    let mut server = Script::server(config);
    server.join();
    server.run("push 20000");
    let (mut peer, mut octets, mut waited) = (Peer::default(), 0, 0);
    while !peer.arrived.iter().all(|arrived| *arrived) {
        peer.answer(&mut server);
        for event in server.events() {
            octets += if let Event::Reinjected { octets, .. } = event { octets } else { 0 };
        }
        server.run("+1");
        waited += 1;
        assert!(waited < 3000, "{:?}", peer.arrived);
    }
    let silent = server.connection.subflow(SubflowId(0)).unwrap();
    assert!(silent.tcp().consecutive_timeouts() <= 2, "it is not waited for timeouts in a row");
    assert!((100..1000).contains(&waited), "{waited} ms");
    assert_eq!(octets, 20_000, "all that was sent is one piece");
}

#[test]
fn when_a_join_is_refused_the_open_subflows_ask_whether_the_peer_knows_the_connection() {
    let paths = vec![
        Path { local: address(0, 1, 40_000), remote: address(0, 2, 5001) },
        Path { local: address(1, 1, 0), remote: address(0, 2, 5001) },
    ];
    let mut client = Script::connect_over(Config { path_manager: PathManager::FullMesh, ..config() }, paths);
    client.run(
        "0 > S 0:1 capable
         +20 0 < S. 0:1 ack 1 win 60000 mss 1024 sackok capable
         0 > . 1:1 ack 1 capable
         +1 0 < . 1:1 ack 1 win 60000 dack 0
         1 > S 0:1 join
         +20 1 < R. 0:0 ack 1
         0 > . 0:0 ack 1",
    );
}

#[test]
fn what_dead_subflows_carried_is_sent_again_from_the_oldest_octet_on() {
    let mut server = Script::server(Config { scheduler: Scheduler::RoundRobin, ..config() });
    server.join();
    server.run("push 20000");
    let sent = server.take_out();
    let carries = |at: u32, data| sent.iter().any(|(id, s)| id.0 == at && s.payload.offset == data);
    assert!(carries(0, 0) && carries(1, 1000));
    // The newer octets' subflow ends first, and subflow 0 has no room for what it carried.
    server.run(
        "1 < R 1:1
         > nothing
         0 < R 1:1
         > nothing
         +1 2 < S 0:1 win 60000 mss 1024 sackok join
         2 > S. 0:1 ack 1 join
         +20 2 < . 1:1 ack 1 win 60000 join
         2 > . 1:1 ack 1
         2 > . 1:1001 map 0 1 1000
         2 > . 1001:2001 map 1000 1001 1000
         2 > . 2001:3001 map 2000 2001 1000",
    );
}
