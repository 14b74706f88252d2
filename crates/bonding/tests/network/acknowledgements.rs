//! Small packets, such as acknowledgements, beside those that others follow.

use crate::apps::{ConstantRate, Flow};
use crate::net::{Bond, at, line, ms};
use ropewalk_bonding::{Config, PathConfig, PathId, SchedulerConfig};
use ropewalk_testnet::{Line, QueueLimit, both_ways};

/// The share of packets of `size` octets that goes by the second line. This is the shorter one, and has
/// this rate. The packets ask for `asked` Mbit/s without the overhead. All packets may open connections.
fn share_of_the_shorter(mbps: f64, asked: f64, size: u32, opens: bool) -> f64 {
    let paths = (0..2).map(|place| PathConfig::new(format!("p{place}"), Some(place))).collect();
    let config = Config::new(paths, SchedulerConfig::RateAware);
    let both = |mbps: f64, rtt: f64| [line(mbps, rtt / 2.0), line(mbps, rtt / 2.0)];
    let mut bond = Bond::new(&config, vec![both(80.0, 20.0), both(mbps, 5.0)], 1);
    let mut flow = Flow { start: at(5.0), stop: at(8.0), ..Flow::new(1, asked, size) };
    flow.key.opens = opens;
    let mut app = ConstantRate::new(vec![flow]);
    // The first second is not counted.
    bond.run(at(6.0), &mut app);
    let sent = |bond: &Bond| {
        [0, 1].map(|place| {
            let path = bond.end(0).path(PathId(place));
            path.sent_packets as f64
        })
    };
    let before = sent(&bond);
    bond.run(at(9.0), &mut app);
    let after = sent(&bond);
    assert_eq!(app.tallies[0].delivered, app.tallies[0].sent);
    (after[1] - before[1]) / (after[0] + after[1] - before[0] - before[1])
}

/// The time of a full packet on the line counts. At 2 Mbit/s, 2.5 + 6.2 ms are less than 10 +
/// 0.2 ms. At 1 Mbit/s, 2.5 + 12.4 ms are not. So few come that none has to wait for another.
#[test]
fn they_take_the_line_by_which_they_arrive_first() {
    for (mbps, least, most) in [(10.0, 1.0, 1.0), (2.0, 0.95, 1.0), (1.0, 0.0, 0.05)] {
        let share = share_of_the_shorter(mbps, 0.05, 52, false);
        assert!((least..=most).contains(&share), "{mbps} Mbit/s: {share}");
    }
}

/// At 2 Mbit/s 64 kB take 262 ms, and 6.6 ms by the longer line. At 60 Mbit/s they take 8.7 ms.
#[test]
fn full_packets_and_syns_take_the_line_by_which_all_that_follows_arrives_first() {
    for (size, opens) in [(1400, false), (52, true)] {
        let [slow, fast] = [2.0, 60.0].map(|mbps| share_of_the_shorter(mbps, 0.7, size, opens));
        assert!(slow < 0.05 && fast > 0.95, "{size} octets: {slow} at 2 Mbit/s, {fast} at 60 Mbit/s");
    }
}

/// Full packets of a source that never asked for more than a third of the shorter line, each second.
#[test]
fn a_video_call_takes_the_shorter_line_once_it_is_known_to_be_one() {
    let paths = (0..2).map(|place| PathConfig::new(format!("p{place}"), Some(place))).collect();
    let config = Config::new(paths, SchedulerConfig::RateAware);
    let lines = vec![both_ways(line(10.0, 5.0)), both_ways(line(80.0, 30.0))];
    let mut bond = Bond::new(&config, lines, 1);
    let mut app = ConstantRate::new(vec![Flow { stop: at(20.0), ..Flow::new(1, 2.0, 1200) }]);
    let delays = [5.0, 7.0, 20.0].map(|until| {
        let before = app.tallies[0].delays.len();
        bond.run(at(until), &mut app);
        let mut delays = app.tallies[0].delays[before..].to_vec();
        delays.sort_unstable();
        [delays[delays.len() / 2], delays[delays.len() * 99 / 100]]
    });
    let [first, _, known] = delays;
    assert!(first[0] > ms(30.0), "{delays:?}");
    // Five milliseconds, and a packet's millisecond at 10 Mbit/s.
    assert!(known[1] < ms(8.0), "{delays:?}");
}

/// With the overhead they need 1.35 and 5.8 Mbit/s, of 2. Those that come in a round trip would wait for
/// each other there.
#[test]
fn they_leave_a_shorter_line_that_has_no_room_for_more() {
    for asked in [0.7, 3.0] {
        let share = share_of_the_shorter(2.0, asked, 52, false);
        assert!(share < 0.05, "{asked} Mbit/s: {share}");
    }
}

/// A line of 3 Mbit/s, 10 ms and a buffer of 29 packets, beside a long one of 4 Mbit/s. More packets of
/// 52 octets come than either carries. The buffer holds less than two full packets.
#[test]
fn they_do_not_overflow_a_slow_line_with_a_buffer_of_few_packets() {
    let paths = (0..2).map(|place| PathConfig::new(format!("p{place}"), Some(place))).collect();
    let config = Config::new(paths, SchedulerConfig::RateAware);
    let slow = Line { queue: QueueLimit::Packets(30), ..line(3.0, 5.0) };
    let mut bond = Bond::new(&config, vec![both_ways(line(4.0, 68.0)), both_ways(slow)], 1);
    let flow = Flow { start: at(2.0), stop: at(12.0), ..Flow::new(1, 3.0, 52) };
    let mut app = ConstantRate::new(vec![flow]);
    bond.run(at(13.0), &mut app);
    let sent = bond.end(0).path(PathId(1)).sent_packets;
    let dropped = bond.dropped(1);
    assert!(sent > 20_000, "the slow line carries what it can: {sent}");
    assert!(dropped * 100 < sent, "{dropped} of {sent}");
    assert_eq!(app.tallies[0].delivered, app.tallies[0].sent);
}

/// The packets of two flows over a line that loses one in a hundred: full ones, and TCP's acknowledgements.
#[test]
fn those_of_tcp_wait_for_none_that_is_lost_and_data_beside_them_misses_nothing() {
    let paths = vec![PathConfig::new("p0", None)];
    let config = Config::new(paths, SchedulerConfig::RateAware);
    let lossy = Line { loss: 0.01, ..line(40.0, 20.0) };
    let mut bond = Bond::new(&config, vec![both_ways(lossy)], 1);
    let flow = |hash, mbps, len| Flow { start: at(5.0), stop: at(15.0), ..Flow::new(hash, mbps, len) };
    let mut flows = vec![flow(1, 10.0, 1400), flow(2, 0.4, 52)];
    flows[1].key.is_ack = true;
    let mut app = ConstantRate::new(flows);
    bond.run(at(16.0), &mut app);
    let [data, acks] = [0, 1].map(|flow| &app.tallies[flow]);
    assert!(data.sent - data.delivered <= 1, "{} of {}", data.sent - data.delivered, data.sent);
    let lost = (acks.sent - acks.delivered) as f64 / acks.sent as f64;
    assert!((0.005..0.015).contains(&lost), "{lost} of the acknowledgements");
    let repaired = bond.repairs()[0] as f64;
    assert!(repaired < 0.013 * data.sent as f64, "{repaired} repairs for {} packets of data", data.sent);
    assert!(acks.percentile_ms(1.0) < 22.0, "{} ms", acks.percentile_ms(1.0));
    assert!(data.percentile_ms(1.0) > 60.0, "{} ms", data.percentile_ms(1.0));
}

/// A line of 20 Mbit/s on which others build a queue of a second: it becomes longer by half a second in each second.
fn wait_beside_others(is_ack: bool) -> f64 {
    let paths = vec![PathConfig::new("p0", None)];
    let config = Config::new(paths, SchedulerConfig::RateAware);
    let delays = (0..200).map(|step| (at(6.0 + f64::from(step) / 100.0), ms(5.0 + 5.0 * f64::from(step))));
    let filled = Line { delays: delays.collect(), ..line(20.0, 5.0) };
    let mut bond = Bond::new(&config, vec![[filled, line(20.0, 5.0)]], 1);
    let mut flow = Flow { start: at(5.0), stop: at(12.0), ..Flow::new(1, 0.5, 52) };
    flow.key.is_ack = is_ack;
    let mut app = ConstantRate::new(vec![flow]);
    bond.run(at(16.0), &mut app);
    app.tallies[0].percentile_ms(1.0) - 1000.0
}

/// A line of 20 Mbit/s on which others build a queue: it becomes longer by 0.3 s in each second, and is short again at `gone`, s. How long
/// the acknowledgements take that leave after that: the longest, in ms.
fn longest_after_others(gone: f64) -> f64 {
    let paths = vec![PathConfig::new("p0", None)];
    let config = Config::new(paths, SchedulerConfig::RateAware);
    let delay = |time: f64| (at(time), ms(5.0 + 300.0 * (time - 6.0)));
    let steps = (0..((gone - 6.0) * 100.0) as u32).map(|step| delay(6.0 + f64::from(step) / 100.0));
    let filled = Line { delays: steps.chain([(at(gone), ms(5.0))]).collect(), ..line(20.0, 5.0) };
    let mut bond = Bond::new(&config, vec![[filled, line(20.0, 5.0)]], 1);
    let mut flow = Flow { start: at(5.0), stop: at(10.0), ..Flow::new(1, 2.0, 52) };
    flow.key.is_ack = true;
    let mut app = ConstantRate::new(vec![flow]);
    // What left before has come.
    bond.run(delay(gone).0 + delay(gone).1 + ms(300.0), &mut app);
    let before = app.tallies[0].delays.len();
    bond.run(at(11.0), &mut app);
    let longest = app.tallies[0].delays[before..].iter().max().expect("some left after that");
    longest.as_secs_f64() * 1e3
}

#[test]
fn those_that_were_not_held_back_hold_nothing_back_once_the_others_have_gone() {
    for gone in [6.5, 7.0, 8.0] {
        let longest = longest_after_others(gone);
        assert!(longest < 10.0, "the others went at {gone} s: {longest} ms");
    }
}

/// Others hold the queue: what is held back here would make nobody's wait shorter.
#[test]
fn those_of_tcp_are_not_held_back_beside_others_who_fill_the_line() {
    let [acks, data] = [true, false].map(wait_beside_others);
    assert!(acks < 10.0 && data > 100.0, "{acks} ms of acknowledgements, {data} ms of others");
}

/// TCP's acknowledgements of `mbps` Mbit/s from 5 s to `stop`, over one line.
fn acks_over(line: [Line; 2], mbps: f64, stop: f64) -> (Bond, Flow) {
    let config = Config::new(vec![PathConfig::new("p0", None)], SchedulerConfig::RateAware);
    let mut flow = Flow { start: at(5.0), stop: at(stop), ..Flow::new(1, mbps, 52) };
    flow.key.is_ack = true;
    (Bond::new(&config, vec![line], 1), flow)
}

/// They ask for more than the line carries, with the headers for seven times as much. Each that comes is new, and the last comes.
#[test]
fn of_those_that_wait_for_a_slow_line_the_newest_leaves() {
    let (mut bond, flow) = acks_over(both_ways(line(1.0, 10.0)), 3.0, 10.0);
    let mut app = ConstantRate::new(vec![flow]);
    bond.run(at(11.0), &mut app);
    let acks = &app.tallies[0];
    assert!(acks.seen.last().expect("some were sent").is_some(), "the last one tells what all tell");
    // Ten milliseconds, and a few packets' time. The start has overflowed no buffer, but filled it.
    let settled = acks.delays[acks.delays.len() / 2..].iter().max().expect("some came");
    assert!(*settled < ms(25.0), "{settled:?}");
    // 138 octets each, with all headers.
    let possible = 5.0 * 1e6 / (138.0 * 8.0);
    let delivered = acks.delivered as f64;
    assert!(delivered > 0.8 * possible, "{delivered} of {possible}: the line is full");
    assert!(bond.dropped(0) * 100 < acks.delivered, "{} dropped by the line", bond.dropped(0));
    assert_eq!(bond.unsent(), 0, "none waited for too long");
    // The line dropped some control packets, too.
    let missing = acks.sent - acks.delivered - bond.end(0).superseded();
    assert!(missing <= bond.dropped(0), "{missing} of {}", acks.sent);
}

/// An upload beside them has its turns on a slow line: 1 400 octets each, and as many of theirs without headers.
#[test]
fn those_that_wait_beside_an_upload_take_turns_with_it() {
    let (mut bond, flow) = acks_over(both_ways(line(1.0, 10.0)), 3.0, 15.0);
    let upload = Flow { start: at(5.0), stop: at(15.0), ..Flow::new(2, 2.0, 1400) };
    let mut app = ConstantRate::new(vec![flow, upload]);
    bond.run(at(16.0), &mut app);
    let [acks, data] = [0, 1].map(|flow| &app.tallies[flow]);
    let mbps = data.bytes as f64 * 8.0 / 10.0 / 1e6;
    assert!(mbps > 0.35, "{mbps} Mbit/s of data");
    assert!(acks.delivered > data.delivered, "{} beside {}", acks.delivered, data.delivered);
    let settled = acks.delays[acks.delays.len() / 2..].iter().max().expect("some came");
    assert!(*settled < ms(60.0), "{settled:?}");
}

/// Others hold a queue for a second, so that acknowledgements are not held back. These are more than the line carries, and hold the
/// queue themselves when the others have gone.
#[test]
fn those_that_hold_the_queue_themselves_are_held_back() {
    let delays = (0..100).map(|step| (at(6.0 + f64::from(step) / 100.0), ms(5.0 + 3.0 * f64::from(step))));
    let filled = Line { delays: delays.chain([(at(7.0), ms(5.0))]).collect(), ..line(1.0, 5.0) };
    let (mut bond, flow) = acks_over([filled, line(1.0, 5.0)], 1.5, 20.0);
    let mut app = ConstantRate::new(vec![flow]);
    bond.run(at(12.0), &mut app);
    let (dropped, delivered) = (bond.dropped(0), app.tallies[0].delivered);
    bond.run(at(21.0), &mut app);
    let (dropped, delivered) = (bond.dropped(0) - dropped, app.tallies[0].delivered - delivered);
    assert!(dropped * 50 < delivered, "{dropped} dropped beside {delivered}");
}
