//! Edges of rules whose middle other scripts show.

use crate::script::Script;
use crate::script::configs::{plain, sack};
use ropewalk_tcp::{CloseReason, Config, Event, State, TimerKind};
use ropewalk_units::{Duration, Instant};

const DAY: u64 = 24 * 3600 * 1000;

#[test]
fn a_fin_is_no_octet_that_was_acknowledged() {
    let mut s = Script::established(plain());
    s.run(
        "
        push 1000 finish
        > F. 1:1002
        +20 < . 1:1 ack 1002
    ",
    );
    s.assert_state(State::FinWait2);
    assert_eq!((s.tcp.stats().bytes_sent, s.tcp.stats().bytes_acked), (1000, 1000));
}

/// RFC 9293 §3.8.6.1: an octet below the window, which the peer answers.
#[test]
fn an_owner_s_probe_lies_below_the_window() {
    let mut s = Script::established(plain());
    s.tcp.probe();
    s.run("read\n > . 0:0 ack 1\n > nothing");
}

/// RFC 9293 §3.10.7.4: of what overlaps, the new part counts, and it is the right one.
#[test]
fn the_new_part_of_an_overlapping_segment_is_taken() {
    let mut s = Script::established(plain());
    s.run("< . 1:101 ack 1\n < . 51:151 ack 1\n > . 1:1 ack 151");
    let read: Vec<_> = std::iter::from_fn(|| s.tcp.read(u64::MAX)).map(|piece| piece.payload).collect();
    let (mut next, mut octets) = (0, 0);
    for payload in read {
        assert_eq!(payload.offset, next);
        next += u64::from(payload.len);
        octets += payload.len;
    }
    assert_eq!(octets, 150);
}

#[test]
fn a_window_that_stays_closed_without_an_answer_ends_the_connection() {
    let mut s = Script::established(Config { max_retransmissions: 3, ..plain() });
    s.run("< . 1:1 ack 1 win 0\n push 1000\n > nothing");
    s.until(Instant::ZERO + Duration::from_secs(1000));
    s.assert_state(State::Closed);
    assert_eq!(s.events().last(), Some(&Event::Closed(CloseReason::TimedOut)));
}

/// RFC 9293 §3.8.6.1: probes of one closed window back off; those of the next begin anew.
#[test]
fn the_probes_of_another_closed_window_begin_anew() {
    let mut s = Script::established(plain());
    s.run(
        "
        < . 1:1 ack 1 win 0
        push 2000
        +200 > . 0:0
        < . 1:1 ack 1 win 0
        +400 > . 0:0
        < . 1:1 ack 1 win 1000
        > . 1:1001
        +20 < . 1:1 ack 1001 win 0
        > nothing
        +200 > . 1000:1000
    ",
    );
}

/// RFC 7323 §5.5: an old timestamp is refused for 24 days, and then no longer.
#[test]
fn a_timestamp_is_no_proof_after_24_days() {
    let script = || {
        let mut s = Script::connect(Config { timestamps: true, ..sack() });
        s.run(
            "
            > S 0:1
            +20 < S. 0:1 ack 1 mss 1000 ts 5000/100
            > . 1:1
        ",
        );
        s
    };
    let mut s = script();
    s.run(&format!("+{} < . 1:101 ack 1 ts 4000/120\n > . 1:1 ack 1", 23 * DAY));
    let mut s = script();
    s.run(&format!("+{} < . 1:101 ack 1 ts 4000/120\n > nothing", 25 * DAY));
    assert_eq!(s.tcp.readable(), 100);
}

/// RFC 5681 §3.1 after a timeout that nothing went before, where Linux takes half of cwnd.
#[test]
fn a_timeout_by_itself_halves_the_window() {
    let mut s = Script::ten_in_flight(Config { ssthresh_from_cwnd: true, ..plain() });
    s.run("+200 > . 1:1001");
    assert_eq!((s.tcp.cwnd(), s.tcp.ssthresh()), (1000, 5000));
}

/// cwnd twice in a round trip is 1 MB/s here: a first burst, and then a segment each millisecond.
#[test]
fn a_paced_window_leaves_over_its_round_trip() {
    let mut s = Script::established(Config { pacing: true, ..plain() });
    s.run("push 10000");
    let at_once = s.tcp.flight_size();
    assert!(at_once < 10_000, "{at_once} octets at once");
    let Some((at, TimerKind::Pacing)) = s.tcp.poll_timeout() else { panic!("{:?}", s.tcp.poll_timeout()) };
    for first in (1..at_once).step_by(1000) {
        s.run(&format!("> . {first}:{}", first + 1000));
    }
    let started = Instant::ZERO + Duration::from_millis(119);
    let gap = at.saturating_since(started);
    let least = Duration::from_micros(u64::from(at_once) * 9 / 10);
    assert!(gap >= least && gap <= least * 2, "{gap} after {at_once} octets");
    s.until(started + Duration::from_millis(15));
    assert_eq!(s.tcp.flight_size(), 10_000);
}

/// A host that keeps the octets beside the connection frees those that no range names.
#[test]
fn what_arrived_and_was_not_read_is_named_in_ranges() {
    let mut s = Script::established(sack());
    let held = |s: &Script| {
        let mut ranges = Vec::new();
        s.tcp.visit_held(&mut |range| ranges.push((range.offset, range.len)));
        ranges.sort_unstable();
        assert_eq!(s.tcp.held_octets(), ranges.iter().map(|(_, len)| u64::from(*len)).sum());
        ranges
    };
    assert_eq!(held(&s), []);
    s.run("< . 1:1001 ack 1\n < . 2001:3001 ack 1\n > . 1:1 ack 1001 sack 2001-3001");
    assert_eq!(held(&s), [(0, 1000), (2000, 1000)]);
    s.run("read 400");
    assert_eq!(held(&s), [(400, 600), (2000, 1000)]);
    s.run("read");
    assert_eq!(held(&s), [(2000, 1000)], "nothing is no range");
}
