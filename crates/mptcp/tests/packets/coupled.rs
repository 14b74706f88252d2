//! Which subflows coupled congestion control counts.

use crate::script::{Script, config};
use ropewalk_mptcp::{Config, Coupling, Scheduler};

/// Octets by which the window of subflow 0 grows with five segments acknowledged. The lines of `before` run when it is alone, those of
/// `amid` after the first acknowledgement. Fully coupled, so that each acknowledgement is worth one segment in all windows together.
fn growth(scheduler: &Scheduler, before: &str, amid: &str) -> u32 {
    let coupling = Coupling::FullyCoupled;
    let mut config = Config { coupling, scheduler: scheduler.clone(), reinjection: false, ..config() };
    config.tcp.initial_ssthresh = Some(5000);
    let mut server = Script::server(config);
    server.run(before);
    server.run("push 40000");
    let cwnd = |server: &Script| server.connection.subflows().next().expect("the first").tcp().cwnd();
    let first = cwnd(&server);
    for acked in 1..=5 {
        server.take_out();
        server.run(&format!("+2 0 < . 1:1 ack {acked}001 win 60000 dack 0"));
        if acked == 1 {
            server.take_out();
            server.run(amid);
        }
    }
    cwnd(&server) - first
}

const JOIN: &str = "+1 1 < S 0:1 win 60000 mss 1024 sackok join
    1 > S. 0:1 ack 1 join";
const REST: &str = "+20 1 < . 1:1 ack 1 win 60000 join
    1 > . 1:1 ack 1";
/// The peer's SYN comes once more.
const AGAIN: &str = "1 < S 0:1 win 60000 mss 1024 sackok join
    1 > S. 0:1 ack 1 join";

/// Of schedulers, one looks at rooms only and one at whole views.
#[test]
fn a_subflow_counts_in_the_coupling_from_when_it_is_established_whether_anything_comes_of_it_or_not() {
    for scheduler in [Scheduler::RoundRobin, Scheduler::Redundant] {
        let alone = growth(&scheduler, "", "");
        assert_eq!(growth(&scheduler, JOIN, ""), alone, "{scheduler:?}: not while it is opened");
        assert_eq!(growth(&scheduler, JOIN, AGAIN), alone, "{scheduler:?}: not while it is opened");
        let beside = growth(&scheduler, &format!("{JOIN}\n{REST}"), "");
        assert!(10 * beside > 4 * alone && 10 * beside < 6 * alone, "{scheduler:?}: {beside}, {alone}");
    }
}
