use super::*;
use crate::config::{PathConfig, SchedulerConfig};
use crate::flow::FlowKey;
use crate::wire::compact::CompactHeader;
use ropewalk_units::Duration;

#[derive(Clone, Debug, PartialEq)]
struct Packet(u32);

impl Payload for Packet {
    fn wire_len(&self) -> u32 {
        1500
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn mark_ce(&mut self) -> bool {
        false
    }
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn endpoint(scheduler: SchedulerConfig) -> Endpoint<Packet> {
    let paths = vec![PathConfig::new("a", Some(1)), PathConfig::new("b", Some(2))];
    Endpoint::new(Config::new(paths, scheduler), at(0)).expect("a valid configuration")
}

fn rate_aware() -> Endpoint<Packet> {
    endpoint(SchedulerConfig::RateAware)
}

/// The data packets that may leave until `until`: path, number in the bond and packet.
fn leave(end: &mut Endpoint<Packet>, until: u64) -> Vec<(PathId, u32, u32)> {
    let mut all = Vec::new();
    let mut now = end.now;
    loop {
        while let Some((path, datagram)) = end.poll_transmit(now) {
            if let Datagram::Data(header, Packet(number)) = datagram {
                all.push((path, header.global_seq.get(), number));
            }
        }
        let Some((next, _)) = end.poll_timeout().filter(|&(next, _)| next <= at(until)) else { return all };
        now = next.max(now);
        end.handle_timeout(now);
    }
}

#[test]
fn what_no_path_takes_waits_without_a_number() {
    let mut end = rate_aware();
    (0..100).for_each(|number| end.handle_packet(at(0), Packet(number), FlowKey::default()));
    let left = leave(&mut end, 40);
    // An initial window has left on each path; no report has come yet.
    assert_eq!(left.len(), 20, "{left:?}");
    assert!(left.iter().all(|&(_, global, number)| global == number));
    assert_eq!((end.next_global.get(), end.dropped()), (20, 0));
}

#[test]
fn a_scheduler_without_controllers_hands_out_at_once() {
    let mut end = endpoint(SchedulerConfig::Redundant);
    (0..100).for_each(|number| end.handle_packet(at(0), Packet(number), FlowKey::default()));
    let left = leave(&mut end, 0);
    assert_eq!(left.len(), 200, "a copy by each path");
    assert!(left.chunks(2).all(|pair| pair[0].0 != pair[1].0 && pair[0].1 == pair[1].1));
}

#[test]
fn what_was_on_its_way_on_a_path_that_falls_silent_goes_by_another() {
    let mut end = rate_aware();
    let other = PathId(1);
    let mut answered = 0;
    for millis in 0..400 {
        let now = at(millis);
        if millis == 150 {
            (0..4).for_each(|number| end.handle_packet(now, Packet(number), FlowKey::default()));
        }
        end.handle_timeout(now);
        let mut out = Vec::new();
        while let Some(sent) = end.poll_transmit(now) {
            out.push(sent);
        }
        for (path, datagram) in out {
            match datagram {
                Datagram::Control(Control::Keepalive(keepalive)) if path == other || millis < 140 => {
                    let reply = crate::wire::control::KeepaliveReply {
                        path,
                        number: keepalive.number,
                        echoed: keepalive.timestamp,
                    };
                    answered += 1;
                    let reply = Datagram::Control(Control::KeepaliveReply(reply));
                    end.handle_datagram(now, path, reply).expect("a control packet");
                }
                Datagram::Data(header, _)
                    if header.transmission == crate::wire::header::Transmission::Repair =>
                {
                    assert_eq!((path, header.path), (other, PathId(0)));
                    assert!(header.global_seq.get() < 4);
                    return;
                }
                _ => {}
            }
        }
    }
    panic!("nothing went again, {answered} answers");
}

/// Lines of 1.2 Mbit/s, 10 ms and 120 Mbit/s, 18 ms. A full packet takes 10 ms on the slow one, which is the shorter, so it takes
/// no full ones, and of small ones as many as come sooner.
#[test]
fn repairs_take_the_path_by_which_each_of_them_comes_first() {
    let mut end = rate_aware();
    let (slow, fast) = (PathId(0), PathId(1));
    for (path, millis, kbps) in [(slow, 10, 1_200), (fast, 18, 120_000)] {
        let path = &mut end.paths[path.index()];
        path.on_round_trip(at(0), Duration::from_millis(millis));
        let report = crate::wire::control::PathReport { train: kbps, ..Default::default() };
        path.on_report(at(20), &report, Default::default(), &end.config.keepalive);
    }
    assert_eq!(end.way_of_repairs(at(20), 1548), Some(fast));
    // Each takes 2 ms, and the fast line is 4 ms longer.
    assert_eq!([(); 3].map(|()| take_repair(&mut end, at(20), 300)), [slow, slow, fast]);
    assert_eq!(end.way_of_repairs(at(24), 300), Some(slow), "they are through");
}

/// The path that a repair of `size` octets takes.
fn take_repair(end: &mut Endpoint<Packet>, now: Instant, size: u32) -> PathId {
    let path = end.way_of_repairs(now, size).expect("both are up");
    end.paths[path.index()].on_repair(now, size);
    path
}

/// The path by which the next report goes that data call for. The one before is due on all paths.
fn way_of_next_report(end: &mut Endpoint<Packet>, millis: u64) -> Option<PathId> {
    for now in [at(millis), at(millis + 6)] {
        end.feedback.note_data();
        end.handle_timeout(now);
        while end.poll_transmit(now).is_some() {}
    }
    end.feedback.way()
}

#[test]
fn reports_change_their_way_once_another_is_surely_shorter() {
    let (first, other) = (PathId(0), PathId(1));
    let mut end = rate_aware();
    end.paths[0].on_round_trip(at(0), Duration::from_millis(30));
    assert_eq!(way_of_next_report(&mut end, 6), Some(first));
    // A path of 24 ms whose round trips differ by 12 ms.
    let tell = |end: &mut Endpoint<Packet>, number: u32, sent: u64, told: u64| {
        end.paths[1].on_sent(at(sent), 1500, None);
        let report = crate::wire::control::PathReport {
            next: crate::id::PathSeq::new(number),
            received_packets: number,
            received_bytes: number * 1500,
            newest: sent as u32 * 1000,
            ..Default::default()
        };
        end.paths[1].on_report(at(told), &report, Default::default(), &end.config.keepalive);
    };
    end.paths[1].on_round_trip(at(10), Duration::from_millis(24));
    let sent = end.paths[1].next.get();
    tell(&mut end, sent + 1, 10, 46);
    tell(&mut end, sent + 2, 50, 74);
    assert!(end.paths[1].surest_one_way(at(80)) > Some(Duration::from_millis(15)));
    assert_eq!(end.soonest(at(80)), Some(other), "requests and repairs take it");
    assert_eq!(way_of_next_report(&mut end, 80), Some(first));
    // They differ no more.
    (0..30).for_each(|more| {
        let at = 100 + u64::from(more) * 25;
        tell(&mut end, sent + 3 + more, at, at + 24);
    });
    assert!(end.paths[1].surest_one_way(at(900)) < Some(Duration::from_millis(15)));
    assert_eq!(way_of_next_report(&mut end, 900), Some(other));
}

/// The driver's timers never fire. It polls all the same after it has handed something in.
#[test]
fn what_is_due_is_done_though_the_timer_is_late() {
    let mut end = rate_aware();
    let report = |end: &mut Endpoint<Packet>, now| {
        let mut reports = 0;
        while let Some((_, datagram)) = end.poll_transmit(now) {
            reports += u32::from(matches!(datagram, Datagram::Control(Control::Report(_))));
        }
        reports
    };
    assert_eq!(report(&mut end, at(0)), 0);
    let due = end.poll_timeout().expect("a report is due").0;
    assert_eq!(report(&mut end, due - Duration::from_millis(1)), 0);
    let late = (0..60).map(|millis| report(&mut end, due + Duration::from_millis(millis))).sum::<u32>();
    assert!(late >= 2, "{late} reports, on two paths");
}

#[test]
fn when_a_clock_stands_still_both_ends_measure_one_way_delays_anew() {
    let (mut one, mut other) = (rate_aware(), rate_aware());
    let mut exchange = |millis: u64, ones: u64| {
        one.handle_timeout(at(ones));
        other.handle_timeout(at(millis));
        while let Some((path, datagram)) = one.poll_transmit(at(ones)) {
            other.handle_datagram(at(millis), path, datagram).expect("it is taken");
        }
        while let Some((path, datagram)) = other.poll_transmit(at(millis)) {
            one.handle_datagram(at(ones), path, datagram).expect("it is taken");
        }
        (one.incoming[0].recent.most(), other.incoming[0].recent.least())
    };
    assert_eq!((0..300).map(|millis| exchange(millis, millis)).last(), Some((Some(0), Some(0))));
    // One end sleeps for a second, or its clock is set: it cannot tell which. Its own clock has lost
    // the millisecond in which that happened.
    let after = (300..400).map(|millis| exchange(millis, millis + 1000)).last();
    assert_eq!(after, Some((Some(-1000), Some(1000))), "what came before is forgotten, there as here");
}

/// Packets of one flow by two paths, with losses, in the form that tunnels send.
#[test]
fn compact_headers_are_completed_for_longer_than_their_numbers_last() {
    let (mut one, mut other) = (endpoint(SchedulerConfig::Redundant), rate_aware());
    // The numbers of the bond and of the paths have 20 bits.
    let (packets, mut delivered, mut last) = (3 << 19, 0, None);
    let mut random = 1u32;
    for number in 0..packets {
        let now = Instant::ZERO + Duration::from_micros(u64::from(number) * 100);
        one.handle_packet(now, Packet(number), FlowKey::default());
        while let Some((path, datagram)) = one.poll_transmit(now) {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Path 0 is dead for a while. Else one in four is lost.
            let is_dead = path.0 == 0 && (packets / 4..packets / 2).contains(&number);
            if is_dead || random >> 30 == 0 {
                continue;
            }
            let datagram = match datagram {
                Datagram::Data(header, packet) => {
                    let octets = CompactHeader::encode(&header);
                    let compact = CompactHeader::decode(&octets).expect("a header");
                    assert_eq!(other.complete(&compact), Some(header), "packet {number}");
                    last = Some(header);
                    Datagram::Data(header, packet)
                }
                control @ Datagram::Control(_) => control,
            };
            // Copies are refused.
            let _ = other.handle_datagram(now, path, datagram);
        }
        while other.poll_transmit(now).is_some() {}
        while let Some(Packet(_)) = other.poll_deliver(now) {
            delivered += 1;
        }
    }
    assert!(delivered > packets / 2, "{delivered} of {packets}");
    let foreign = DataHeader { path: PathId(7), ..last.expect("packets came") };
    let compact = CompactHeader::decode(&CompactHeader::encode(&foreign)).expect("a header");
    assert_eq!(other.complete(&compact), None);
}

#[test]
fn keys_of_paths_change_and_the_bond_goes_on() {
    let mut end = endpoint(SchedulerConfig::WeightedRoundRobin(Default::default()));
    let five = |end: &mut Endpoint<Packet>, now: u64| {
        (0..5).for_each(|number| end.handle_packet(at(now), Packet(number), FlowKey::default()));
        leave(end, now + 4).into_iter().map(|(path, global, _)| (path, global)).collect::<Vec<_>>()
    };
    assert_eq!(five(&mut end, 0), (0..5).map(|global| (PathId(0), global)).collect::<Vec<_>>());
    let spent = end.quota_spent(PathId(0));
    let quota = PathConfig { quota: Some(1_000_000), ..PathConfig::new("a", Some(3)) };
    end.set_path_keys(at(5), vec![quota, PathConfig::new("b", Some(2))]).expect("they are good");
    assert_eq!(end.quota_spent(PathId(0)), spent, "the same period goes on");
    assert_eq!(five(&mut end, 5), (5..10).map(|global| (PathId(1), global)).collect::<Vec<_>>());
    let (a, b) = (PathConfig::new("a", Some(1)), PathConfig::new("b", Some(1)));
    for (paths, key) in
        [(vec![b.clone(), a.clone()], "paths"), (vec![a.clone()], "paths"), (vec![a, b], "paths.b.cost")]
    {
        let error = end.set_path_keys(at(50), paths).expect_err("not this bond's, or two of one cost");
        assert_eq!(error.key(), key);
    }
    assert_eq!(end.config().paths[0].cost, Some(3), "all stays");
}
