//! One behaviour for each test.

mod script;

use ropewalk_tcp::{
    Blame, CloseReason, Config, CongestionControl, Connection, Event, Quirks, SpuriousResponse, State,
    WindowOwner,
};
use ropewalk_units::{Duration, Instant, Rate};
use ropewalk_wire::{Flags, Payload, Segment};
use script::Script;
use script::configs::{plain, rack, sack};
use std::collections::VecDeque;

/// With what another simulator does.
fn quirky(quirks: Quirks) -> Config {
    Config { quirks, ..plain() }
}

mod opening {
    use super::*;

    #[test]
    fn the_active_open_offers_options_and_acknowledges() {
        let config = Config { window_scale: Some(3), timestamps: true, receive_buffer: 100_000, ..sack() };
        let mut s = Script::connect(config);
        s.run(
            "
            > S 0:1 mss 1000 wscale 3 sackok ts 100/0
            +20 < S. 0:1 ack 1 mss 900 wscale 5 sackok ts 7/100
            > . 1:1 ack 1 win 12500 ts 120/7
        ",
        );
        s.assert_state(State::Established);
        assert_eq!((s.tcp.smss(), s.tcp.peer_window_scale(), s.tcp.own_window_scale()), (888, 5, 3));
        assert_eq!(s.tcp.srtt(), Some(Duration::from_millis(20)));
    }

    #[test]
    fn the_passive_open_answers_with_what_was_offered_only() {
        let config = Config { window_scale: Some(3), timestamps: true, ..sack() };
        let mut s = Script::accept(config, "S 0:1 mss 800");
        s.run(
            "
            > S. 0:1 ack 1 win 10000 mss 1000 nosack
            +20 < . 1:1 ack 1
            > nothing
        ",
        );
        s.assert_state(State::Established);
        assert_eq!((s.tcp.smss(), s.tcp.own_window_scale()), (800, 0));
    }

    #[test]
    fn a_lost_syn_is_sent_again_with_back_off_until_it_is_hopeless() {
        let mut s = Script::connect(Config { max_syn_retransmissions: 2, ..plain() });
        s.run(
            "
            > S 0:1
            +1000 > S 0:1
            +2000 > S 0:1
            +4000 > nothing
        ",
        );
        s.assert_state(State::Closed);
        assert_eq!(s.events(), [Event::Closed(CloseReason::TimedOut)]);
    }

    #[test]
    fn both_may_open_at_once() {
        let mut s = Script::connect(plain());
        s.run(
            "
            > S 0:1
            +5 < S 0:1 mss 1000
            > S. 0:1 ack 1
            +5 < S. 0:1 ack 1 mss 1000
            > . 1:1 ack 1
        ",
        );
        s.assert_state(State::Established);
    }

    #[test]
    fn a_syn_again_gets_the_syn_ack_again() {
        let mut s = Script::accept(plain(), "S 0:1 mss 1000");
        s.run(
            "
            > S. 0:1 ack 1
            +500 < S 0:1 mss 1000
            > S. 0:1 ack 1
            +10 < . 1:1 ack 1
        ",
        );
        s.assert_state(State::Established);
    }

    #[test]
    fn a_refused_connection_says_so() {
        let mut s = Script::connect(plain());
        s.run(
            "
            > S 0:1
            +20 < R. 0:0 ack 1
            > nothing
        ",
        );
        assert_eq!(s.events(), [Event::Closed(CloseReason::Refused)]);
    }

    #[test]
    fn an_ack_of_nothing_sent_is_reset() {
        let mut s = Script::connect(plain());
        s.run(
            "
            > S 0:1
            +20 < . 5:5 ack 77
            > R 77:77
        ",
        );
        s.assert_state(State::SynSent);
    }
}

mod closing {
    use super::*;

    #[test]
    fn the_active_closer_waits_for_two_msl() {
        let mut s = Script::established(plain());
        s.run(
            "
            finish
            > F. 1:2 ack 1
        ",
        );
        s.assert_state(State::FinWait1);
        s.run("+20 < . 1:1 ack 2");
        s.assert_state(State::FinWait2);
        s.run("+5 < F. 1:2 ack 2\n > . 2:2 ack 2");
        s.assert_state(State::TimeWait);
        // A FIN that comes again is acknowledged, and the wait begins anew.
        s.run("+30000 < F. 1:2 ack 2\n > . 2:2 ack 2\n +59999 > nothing");
        s.assert_state(State::TimeWait);
        s.run("+1 > nothing");
        s.assert_state(State::Closed);
    }

    #[test]
    fn the_passive_closer_may_go_on_sending() {
        let mut s = Script::established(plain());
        s.run(
            "
            +5 < F. 1:2 ack 1
            > . 1:1 ack 2
            push 500
            > . 1:501 ack 2
        ",
        );
        s.assert_state(State::CloseWait);
        assert!(s.tcp.peer_finished());
        s.run(
            "
            +10 < . 2:2 ack 501
            finish
            > F. 501:502 ack 2
            +10 < . 2:2 ack 502
        ",
        );
        s.assert_state(State::Closed);
        assert_eq!(s.events().last(), Some(&Event::Closed(CloseReason::Finished)));
    }

    #[test]
    fn both_may_close_at_once() {
        let mut s = Script::established(plain());
        s.run(
            "
            finish
            > F. 1:2 ack 1
            +5 < F. 1:2 ack 1
            > . 2:2 ack 2
        ",
        );
        s.assert_state(State::Closing);
        s.run("+5 < . 2:2 ack 2");
        s.assert_state(State::TimeWait);
    }

    #[test]
    fn the_fin_rides_on_the_last_data_and_is_repeated() {
        let mut s = Script::established(plain());
        s.run(
            "
            push 1500 finish
            > . 1:1001
            > F. 1001:1502
            +20 < . 1:1 ack 1001
            +200 > F. 1001:1502
            +20 < . 1:1 ack 1502
        ",
        );
        s.assert_state(State::FinWait2);
    }

    #[test]
    fn abort_resets() {
        let mut s = Script::established(plain());
        s.run("push 500\n > . 1:501\n abort\n > R. 501:501 ack 1");
        s.assert_state(State::Closed);
        // SYN, ACK, data and RST.
        assert_eq!(s.tcp.stats().segments_sent, 4);
    }

    /// What comes before the RST of an abort has left may acknowledge less than the peer has taken by now. RFC 5961 §3.2 believes
    /// only the number that it expects next.
    #[test]
    fn what_comes_meanwhile_does_not_change_the_rst_of_an_abort() {
        let mut s = Script::established(plain());
        s.run("push 500\n > . 1:501");
        s.tcp.abort();
        s.run("<< . 1:101 ack 1\n < . 101:201 ack 1\n > R. 501:501 ack 1");
        s.run("< . 201:301 ack 301\n > R 301:301");
    }

    #[test]
    fn only_the_exact_rst_resets() {
        let mut s = Script::established(plain());
        s.run(
            "
            < R 5:5
            > . 1:1 ack 1
            < R 20000:20000
            > nothing
        ",
        );
        s.assert_state(State::Established);
        s.run("< R 1:1\n > nothing");
        assert_eq!(s.events().last(), Some(&Event::Closed(CloseReason::Reset)));
    }

    #[test]
    fn a_syn_in_the_window_is_challenged() {
        let mut s = Script::established(plain());
        s.run("< S 5:6\n > . 1:1 ack 1");
        s.assert_state(State::Established);
    }

    #[test]
    fn a_fin_before_the_data_waits_for_it() {
        let mut s = Script::established(sack());
        s.run(
            "
            < F. 1001:1002 ack 1
            > . 1:1 ack 1 sack 1001-1002
            < . 1:1001 ack 1
            > . 1:1 ack 1002 nosack
        ",
        );
        s.assert_state(State::CloseWait);
        assert!(!s.tcp.peer_finished(), "there is something to read");
    }
}

mod receiving {
    use super::*;

    #[test]
    fn what_arrives_in_several_segments_is_read_in_one_piece() {
        let mut s = Script::established(plain());
        s.run("< . 1:1001 ack 1\n < . 1001:2001 ack 1\n > . 1:1 ack 2001");
        let read = s.tcp.read(u64::MAX).map(|read| (read.ssn.get(), read.payload.len));
        assert_eq!((read, s.tcp.readable()), (Some((1, 2000)), 0));
    }

    #[test]
    fn every_octet_that_comes_twice_is_counted() {
        let mut s = Script::established(plain());
        s.run("< . 1:1001 ack 1\n < . 501:1501 ack 1\n > . 1:1 ack 1501");
        s.run("< . 1001:1601 ack 1\n > . 1:1 ack 1601");
        assert_eq!(s.tcp.stats().duplicate_bytes_received, 500 + 500);
    }

    #[test]
    fn an_acknowledgement_behind_a_fin_that_waits_is_not_answered() {
        let mut s = Script::established(sack());
        s.run(
            "
            < F. 1001:1002 ack 1
            > . 1:1 ack 1 sack 1001-1002
            < . 1002:1002 ack 1
            > nothing
        ",
        );
    }

    #[test]
    fn every_second_segment_or_a_timer_acknowledges() {
        let mut s = Script::established(plain());
        s.run(
            "
            < . 1:1001 ack 1
            > nothing
            < . 1001:2001 ack 1
            > . 1:1 ack 2001
            < . 2001:3001 ack 1
            +100 > . 1:1 ack 3001
        ",
        );
    }

    #[test]
    fn data_carries_the_acknowledgement() {
        let mut s = Script::established(plain());
        s.run(
            "
            < . 1:1001 ack 1
            push 10
            > . 1:11 ack 1001
            +100 > nothing
        ",
        );
    }

    #[test]
    fn a_hole_and_its_filling_are_acknowledged_at_once() {
        let mut s = Script::established(sack());
        s.run(
            "
            < . 1001:2001 ack 1
            > . 1:1 ack 1 sack 1001-2001
            < . 3001:4001 ack 1
            > . 1:1 ack 1 sack 3001-4001,1001-2001
            < . 1:1001 ack 1
            > . 1:1 ack 2001 sack 3001-4001
            < . 2001:3001 ack 1
            > . 1:1 ack 4001 nosack
        ",
        );
    }

    #[test]
    fn duplicates_are_reported() {
        let mut s = Script::established(sack());
        s.run(
            "
            < . 1:1001 ack 1
            < . 1:1001 ack 1
            > . 1:1 ack 1001 sack 1-1001
            < . 2001:3001 ack 1
            > . 1:1 ack 1001 sack 2001-3001
            < . 2001:3001 ack 1
            > . 1:1 ack 1001 sack 2001-3001,2001-3001
        ",
        );
        assert_eq!(s.tcp.stats().duplicate_bytes_received, 2000);
    }

    #[test]
    fn reading_reopens_a_closed_window() {
        let mut s = Script::established(Config { receive_buffer: 4000, ..plain() });
        s.run(
            "
            < . 1:1001 ack 1
            < . 1001:2001 ack 1
            > . 1:1 ack 2001 win 2000
            < . 2001:3001 ack 1
            < . 3001:4001 ack 1
            > . 1:1 ack 4001 win 0
            < . 4001:5001 ack 1
            > . 1:1 ack 4001 win 0
            read
            > . 1:1 ack 4001 win 4000
        ",
        );
    }

    #[test]
    fn an_old_timestamp_is_not_accepted() {
        let config = Config { timestamps: true, ..plain() };
        let mut s = Script::accept(config, "S 0:1 mss 1000 ts 50/0");
        s.run(
            "
            > S. 0:1 ack 1 ts 100/50
            +10 < . 1:1 ack 1 ts 60/100
            < . 1:989 ack 1 ts 70/100
            < . 989:1977 ack 1 ts 71/100
            > . 1:1 ack 1977 ts 110/70
            < . 1977:2965 ack 1 ts 65/100
            > . 1:1 ack 1977
            < . 1977:2965 ack 1
            > nothing
        ",
        );
        assert_eq!(s.tcp.readable(), 1976);
    }

    #[test]
    fn congestion_experienced_is_echoed_until_cwr() {
        let mut s = Script::accept(Config { ecn: true, ..plain() }, "SEW 0:1 mss 1000");
        s.run(
            "
            > S.E 0:1 ack 1
            < . 1:1 ack 1
            < . 1:1001 ack 1 ce
            > .E 1:1 ack 1001
            < . 1001:2001 ack 1
            < . 2001:3001 ack 1
            > .E 1:1 ack 3001
            < .W 3001:4001 ack 1
            < . 4001:5001 ack 1
            > . 1:1 ack 5001
        ",
        );
    }
}

mod sending {
    use super::*;

    #[test]
    fn the_delivery_rate_is_that_of_the_acknowledgements() {
        let mut s = Script::established(plain());
        assert_eq!(s.tcp.delivery_rate(), None);
        for round in 0..20 {
            let (from, to) = (1000 * round + 1, 1000 * round + 1001);
            s.run(&format!("push 1000\n > . {from}:{to}\n +20 < . 1:1 ack {to}"));
        }
        // 1000 octets in 20 ms.
        assert_eq!(s.tcp.delivery_rate(), Some(Rate::from_bits_per_sec(400_000)));
    }

    fn bbr() -> Config {
        Config { congestion_control: CongestionControl::Bbr, pacing: true, ..rack() }
    }

    /// BBR's factor on what it has measured.
    fn gain(s: &Script) -> f64 {
        let bandwidth = s.tcp.bandwidth().expect("measured").bits_per_sec();
        s.tcp.pacing_rate().bits_per_sec() as f64 / bandwidth as f64
    }

    /// One segment for each round trip: BBR does not take the path for full. So also after the peer has ended its stream.
    #[test]
    fn bbr_does_not_take_the_rate_of_the_application_for_that_of_the_path() {
        for half_closed in [false, true] {
            let mut s = Script::established(bbr());
            if half_closed {
                s.run("< F. 1:2 ack 1\n > . 1:1 ack 2");
            }
            let seq = if half_closed { "2:2" } else { "1:1" };
            for at in 0..10 {
                let (from, to) = (1000 * at + 1, 1000 * at + 1001);
                s.run(&format!("push 1000\n > . {from}:{to}\n +20 < . {seq} ack {to}"));
            }
            assert!(gain(&s) > 2.5, "Startup goes on: {}, half closed: {half_closed}", gain(&s));
        }
    }

    /// A line that carries a segment each millisecond and acknowledges it 20 ms later, for 400 ms.
    fn through_a_line(s: &mut Script, mut write: impl FnMut(&mut Connection)) {
        let mut now = Instant::ZERO + Duration::from_millis(119);
        let (mut free, mut acks) = (now, VecDeque::new());
        for _ in 0..400 {
            now += Duration::from_millis(1);
            if s.tcp.poll_timeout().is_some_and(|(at, _)| at <= now) {
                s.tcp.handle_timeout(now);
            }
            while acks.front().is_some_and(|(at, _)| *at <= now) {
                let ack = acks.pop_front().map(|(_, ack)| ack).unwrap_or_default();
                let (seq, flags) = (s.tcp.rcv_nxt(), Flags::ACK);
                let segment = Segment { seq, ack, flags, window: 60_000, ..Segment::default() };
                s.tcp.handle_segment(now, &segment);
            }
            write(&mut s.tcp);
            while let Some(segment) = s.tcp.poll_transmit(now) {
                free = free.max(now) + Duration::from_millis(1);
                acks.push_back((free + Duration::from_millis(20), segment.end()));
            }
        }
    }

    /// draft-ietf-ccwg-bbr, CheckIfApplicationLimited: whoever has data waiting is not limited by it.
    #[test]
    fn bbr_takes_the_rate_for_that_of_the_path_while_data_wait() {
        let mut s = Script::established(bbr());
        s.tcp.push(Payload { offset: 0, len: 1_000_000 });
        through_a_line(&mut s, |_| ());
        assert!(gain(&s) < 2.0, "{}", gain(&s));
    }

    /// The owner of a subflow gives it data when the pacer would let them out, and not before.
    #[test]
    fn a_subflow_that_waits_for_its_pacer_is_not_limited_by_its_owner() {
        let mut s = Script::established(Config { window_owner: WindowOwner::Shared, ..bbr() });
        let mut offset = 0;
        through_a_line(&mut s, |tcp| {
            let len = tcp.cwnd_space();
            if len > 0 {
                tcp.push(Payload { offset, len });
                offset += u64::from(len);
            }
        });
        assert!(gain(&s) < 2.0, "{}", gain(&s));
    }

    #[test]
    fn a_closed_window_is_probed_ever_more_rarely() {
        let mut s = Script::established(plain());
        s.run(
            "
            push 1000
            > . 1:1001
            +20 < . 1:1 ack 1001 win 0
            push 500
            > nothing
            +200 > . 1000:1000
            +1 < . 1:1 ack 1001 win 0
            +399 > . 1000:1000
            +800 > . 1000:1000
            +1 < . 1:1 ack 1001 win 500
            > . 1001:1501
        ",
        );
        assert_eq!(s.tcp.stats().window_probes, 3);
    }

    #[test]
    fn small_windows_are_not_filled_bit_by_bit() {
        let mut s = Script::established(plain());
        s.run(
            "
            push 3000
            > . 1:1001
            > . 1001:2001
            > . 2001:3001
            +20 < . 1:1 ack 3001 win 400
            push 1000
            > nothing
            +200 > . 3001:3401
        ",
        );
    }

    #[test]
    fn nagle_holds_a_second_small_segment() {
        let mut s = Script::established(Config { nagle: true, ..plain() });
        s.run(
            "
            push 100
            > . 1:101
            push 100
            > nothing
            +20 < . 1:1 ack 101
            > . 101:201
            push 2500
            > . 201:1201
            > . 1201:2201
            > nothing
            +20 < . 1:1 ack 2201
            > . 2201:2701
        ",
        );
    }

    #[test]
    fn the_initial_window_limits_and_slow_start_doubles() {
        let mut s = Script::established(Config { initial_window: 2, ..plain() });
        s.run(
            "
            push 8000
            > . 1:1001
            > . 1001:2001
            > nothing
            +20 < . 1:1 ack 2001
            > . 2001:3001
            > . 3001:4001
            > . 4001:5001
            > . 5001:6001
            > nothing
        ",
        );
        assert!(s.tcp.in_slow_start());
    }

    #[test]
    fn an_idle_connection_restarts_from_the_initial_window() {
        let config = Config { initial_window: 2, idle_restart: true, ..plain() };
        let mut s = Script::established(config);
        s.run(
            "
            push 2000
            > . 1:1001
            > . 1001:2001
            +20 < . 1:1 ack 2001
            push 4000
            > . 2001:3001
            > . 3001:4001
            > . 4001:5001
            > . 5001:6001
            +20 < . 1:1 ack 6001
        ",
        );
        assert_eq!(s.tcp.cwnd(), 6000);
        s.run("+10000 push 5000\n > . 6001:7001\n > . 7001:8001\n > nothing");
        assert_eq!(s.tcp.cwnd(), 2000);
    }

    #[test]
    fn ecn_echo_halves_the_window_once_per_round_trip() {
        let mut s = Script::connect(Config { ecn: true, ..plain() });
        s.run(
            "
            > SEW 0:1 notect
            +20 < S.E 0:1 ack 1 mss 1000
            > . 1:1 ack 1 notect
            push 4000
            > . 1:1001 ect
            > . 1001:2001 ect
            > . 2001:3001 ect
            > . 3001:4001 ect
            +20 < .E 1:1 ack 1001
        ",
        );
        assert_eq!((s.tcp.cwnd(), s.tcp.stats().ecn_reductions), (2000, 1));
        s.run("< .E 1:1 ack 3001\n push 1000\n > .W 4001:5001 ect");
        assert_eq!(s.tcp.stats().ecn_reductions, 1);
    }

    #[test]
    fn a_segment_never_joins_ranges_that_do_not_touch() {
        use ropewalk_wire::Payload;
        let mut s = Script::established(plain());
        s.tcp.push(Payload { offset: 0, len: 300 });
        s.tcp.push(Payload { offset: 9000, len: 300 });
        s.run("> nothing".trim_start_matches("> nothing"));
        let now = Instant::ZERO + Duration::from_millis(119);
        let sent: Vec<_> = std::iter::from_fn(|| s.tcp.poll_transmit(now)).map(|s| s.payload).collect();
        assert_eq!(sent, [Payload { offset: 0, len: 300 }, Payload { offset: 9000, len: 300 }]);
    }
}

mod recovering {
    use super::*;

    /// A scheduler's question gets in recovery, too, the answer that its parts get; scripts compare them at each step.
    #[test]
    fn the_room_of_a_subflow_in_recovery_counts_what_is_lost_and_sent_again() {
        let mut s = Script::ten_in_flight(Config { window_owner: WindowOwner::Shared, ..sack() });
        // The repair, and the last segment as a rescue (RFC 6675 §4, NextSeg 4).
        s.run("+20 < . 1:1 ack 1 sack 1001-7001\n > . 1:1001\n > . 9001:10001");
        let room = s.tcp.room();
        // Two segments sent again and three that nobody has reported, in a window of half the flight.
        assert_eq!((room.pipe, room.cwnd_space), (5000, 0));
    }

    /// A subflow with ten segments on their way whose timer has just expired. Its owner fills its room before anything leaves.
    fn given_new_data_at_a_timeout(config: Config) -> Script {
        let mut s = Script::ten_in_flight(Config { window_owner: WindowOwner::Shared, ..config });
        s.tcp.handle_timeout(s.tcp.deadline());
        assert_eq!((s.tcp.cwnd(), s.tcp.pipe()), (1000, 0));
        let room = s.tcp.cwnd_space();
        s.run(&format!("+200 push {room}\n > . 1:1001\n > nothing"));
        s
    }

    /// RFC 5681 §3.1, RFC 6675 §4 (NextSeg): one segment after a timeout, and repairs before new data.
    #[test]
    fn what_a_subflow_is_given_at_a_timeout_waits_behind_the_repairs() {
        let mut s = given_new_data_at_a_timeout(rack());
        assert_eq!((s.tcp.pipe(), s.tcp.cwnd_space(), s.tcp.unsent()), (1000, 0, 1000));
        s.run("+20 < . 1:1 ack 1001\n > . 1001:2001\n > . 2001:3001\n > nothing");
        assert_eq!((s.tcp.pipe(), s.tcp.cwnd(), s.tcp.cwnd_space(), s.tcp.unsent()), (2000, 2000, 0, 1000));
    }

    /// RFC 5682 §3.1 (2b): the ACK after the timeout asks for new data, which the owner has handed over before.
    #[test]
    fn what_a_subflow_is_given_at_a_timeout_serves_frto() {
        let spurious = SpuriousResponse { frto: true, ..SpuriousResponse::default() };
        let mut s = given_new_data_at_a_timeout(Config { spurious, ..rack() });
        s.run("+10 < . 1:1 ack 1001\n > . 10001:11001\n > nothing\n << . 1:1 ack 2001");
        assert_eq!(s.tcp.stats().undone, 1);
    }

    #[test]
    fn data_on_its_way_is_looked_at_when_the_first_of_its_timers_expires() {
        let mut s = Script::established(plain());
        assert_eq!(s.tcp.repair_deadline(), None);
        s.run("push 1000\n > . 1:1001 ack 1");
        let deadline = s.tcp.repair_deadline();
        assert_eq!(deadline, s.tcp.poll_timeout().map(|(at, _)| at));
        assert!(deadline.is_some_and(|at| at > Instant::ZERO + Duration::from_millis(300)));
        s.run("+20 < . 1:1 ack 1001");
        assert_eq!(s.tcp.repair_deadline(), None);
    }

    /// RFC 6937 §3: also an ACK that is no duplicate sets the window, by what it delivers.
    #[test]
    fn a_proportional_reduction_goes_on_with_a_partial_ack() {
        let mut s = Script::ten_in_flight(Config { prr: true, ..sack() });
        s.run(
            "
            +20 << . 1:1 ack 1 sack 1001-2001
            +1 << . 1:1 ack 1 sack 1001-3001
            +1 << . 1:1 ack 1 sack 1001-4001
            +1 << . 1:1 ack 5001
        ",
        );
        // RFC 9937 §6.2: ssthresh, and one segment more as none was sent again yet.
        assert_eq!((s.tcp.in_recovery(), s.tcp.flight_size(), s.tcp.cwnd()), (true, 5000, 6000));
    }

    /// RFC 6937 without SACK: each duplicate ACK counts as a segment delivered, and inflates nothing.
    #[test]
    fn a_proportional_reduction_without_sack_does_not_inflate_cwnd() {
        let mut s = Script::ten_in_flight(Config { prr: true, ..plain() });
        s.run(
            "
            +20 < . 1:1 ack 1
            +1 < . 1:1 ack 1
            +1 < . 1:1 ack 1
            > . 1:1001 ack 1
        ",
        );
        assert!(s.tcp.in_recovery());
        for _ in 0..6 {
            s.run("+1 << . 1:1 ack 1");
        }
        assert_eq!(s.tcp.cwnd(), 5000);
    }

    #[test]
    fn without_fast_recovery_it_begins_again_with_one_segment() {
        let mut s = Script::ten_in_flight(Config { fast_recovery: false, ..plain() });
        s.run(
            "
            push 10000
            +20 < . 1:1 ack 1
            < . 1:1 ack 1
            < . 1:1 ack 1
            > . 1:1001
            > nothing
        ",
        );
        assert_eq!((s.tcp.ssthresh(), s.tcp.cwnd()), (5000, 1000));
        assert!(s.tcp.in_slow_start() && s.tcp.stats().timeouts == 0);
        s.run("+20 < . 1:1 ack 10001\n > . 10001:11001\n > . 11001:12001\n > nothing");
    }

    #[test]
    fn ssthresh_after_a_loss_can_be_nailed_down() {
        let mut s =
            Script::ten_in_flight(quirky(Quirks { ssthresh_after_loss: Some(2), ..Quirks::classic() }));
        s.run("+20 < . 1:1 ack 1\n < . 1:1 ack 1\n < . 1:1 ack 1\n > . 1:1001");
        assert_eq!(s.tcp.ssthresh(), 2000);
        s.run("+20 < . 1:1 ack 10001");
        assert_eq!(s.tcp.cwnd(), 2000);
    }

    #[test]
    fn a_reduction_that_others_caused_is_taken_back_by_an_early_ack() {
        for (blame, wait, undone) in [
            (Blame::BlockingUndone, "+5", true),
            (Blame::BlockingUndone, "+80", false),
            (Blame::Blocking, "+5", false),
        ] {
            let mut s =
                Script::ten_in_flight(quirky(Quirks { duplicates_blame: blame, ..Quirks::classic() }));
            let before = s.tcp.cwnd();
            s.blame(2);
            assert!(!s.tcp.in_recovery());
            s.blame(1);
            s.run("> . 1:1001");
            assert!(s.tcp.in_recovery() && s.tcp.cwnd() < before);
            s.run(&format!("{wait} < . 1:1 ack 1001"));
            assert_eq!((s.tcp.stats().undone, !s.tcp.in_recovery()), (u64::from(undone), undone));
            assert_eq!(s.tcp.cwnd() >= before, undone, "{blame:?} {wait}");
            if undone {
                // What was sent before that recovery is not repaired a second time.
                s.blame(3);
                assert!(!s.tcp.in_recovery());
            }
        }
    }

    fn blamed(config: Config) -> Config {
        Config { quirks: Quirks { duplicates_blame: Blame::Blocking, ..Quirks::classic() }, ..config }
    }

    #[test]
    fn what_others_blame_on_it_counts_only_while_something_is_on_its_way() {
        let mut s = Script::established(blamed(plain()));
        s.blame(2);
        s.run("push 1000\n > . 1:1001");
        s.blame(2);
        assert!(!s.tcp.in_recovery());
        s.blame(1);
        s.run("> . 1:1001");
        assert!(s.tcp.in_recovery());
    }

    /// RFC 6582 §3.2 step 2: duplicates begin another recovery only once more is acknowledged than was sent before the last.
    #[test]
    fn what_others_blame_on_it_repairs_a_window_once() {
        let mut s = Script::ten_in_flight(blamed(plain()));
        s.blame(3);
        s.run("> . 1:1001\n +20 < . 1:1 ack 10001\n push 2000\n > . 10001:11001\n > . 11001:12001");
        s.blame(3);
        assert_eq!((s.tcp.in_recovery(), s.tcp.stats().fast_recoveries), (false, 1));
        s.run("> nothing\n +20 < . 1:1 ack 11001");
        s.blame(3);
        s.run("> . 11001:12001");
        assert_eq!((s.tcp.in_recovery(), s.tcp.stats().fast_recoveries), (true, 2));
    }

    /// RFC 9937 §6: RecoverFS leaves out what was SACKed before.
    #[test]
    fn a_recovery_that_others_caused_reduces_by_what_was_not_delivered() {
        let mut s = Script::ten_in_flight(blamed(Config { prr: true, ..sack() }));
        s.run("+20 << . 1:1 ack 1 sack 1001-3001");
        s.blame(2);
        s.run("> . 1:1001\n +1 < . 1:1 ack 1 sack 1001-5001");
        // While 8000 octets are delivered half of the flight leaves: five eighths of 2000, less the repair.
        assert_eq!((s.tcp.pipe(), s.tcp.cwnd()), (6000, 6250));
    }

    #[test]
    fn newreno_repairs_a_hole_per_partial_ack() {
        let mut s = Script::ten_in_flight(plain());
        s.run(
            "
            push 10000
            +20 < . 1:1 ack 1
            < . 1:1 ack 1
            > nothing
            < . 1:1 ack 1
            > . 1:1001
        ",
        );
        assert!(s.tcp.in_recovery());
        assert_eq!((s.tcp.ssthresh(), s.tcp.cwnd()), (5000, 8000));
        // Inflation lets new data out from the eleventh segment in flight on.
        s.run(
            "
            < . 1:1 ack 1
            < . 1:1 ack 1
            < . 1:1 ack 1
            > . 10001:11001
            < . 1:1 ack 1
            > . 11001:12001
            +20 < . 1:1 ack 3001
            > . 3001:4001
            > . 12001:13001
        ",
        );
        s.run("+20 < . 1:1 ack 12001");
        assert!(!s.tcp.in_recovery());
    }

    /// Linux waits for something above the recovery point; RFC 6582 §3.2 step 3 does not.
    #[test]
    fn without_sack_a_recovery_may_end_above_its_point() {
        for recovery_ends_above in [false, true] {
            let mut s = Script::ten_in_flight(Config { recovery_ends_above, ..plain() });
            s.run(
                "
                push 1000
                +20 < . 1:1 ack 1
                < . 1:1 ack 1
                < . 1:1 ack 1
                > . 1:1001
                < . 1:1 ack 1
                < . 1:1 ack 1
                < . 1:1 ack 1
                > . 10001:11001
                +20 < . 1:1 ack 10001
            ",
            );
            assert_eq!(s.tcp.in_recovery(), recovery_ends_above);
            s.run("+20 < . 1:1 ack 11001");
            assert!(!s.tcp.in_recovery());
        }
    }

    #[test]
    fn limited_transmit_sends_two_new_segments() {
        let mut s = Script::ten_in_flight(Config { limited_transmit: true, ..plain() });
        s.run(
            "
            push 3000
            +20 < . 1:1 ack 1
            > . 10001:11001
            < . 1:1 ack 1
            > . 11001:12001
            < . 1:1 ack 1
            > . 1:1001
        ",
        );
        assert_eq!(s.tcp.ssthresh(), 5000, "what limited transmit sent is no part of FlightSize");
    }

    #[test]
    fn old_losses_do_not_start_another_recovery() {
        let mut s = Script::ten_in_flight(plain());
        s.run(
            "
            +20 < . 1:1 ack 1
            < . 1:1 ack 1
            < . 1:1 ack 1
            > . 1:1001
            +20 < . 1:1 ack 10001
            push 2000
            > . 10001:11001
            > . 11001:12001
            < . 1:1 ack 10001
            < . 1:1 ack 10001
            < . 1:1 ack 10001
            > nothing
        ",
        );
        assert_eq!(s.tcp.stats().fast_recoveries, 1);
    }

    #[test]
    fn sack_repairs_all_holes_in_one_round_trip() {
        let mut s = Script::ten_in_flight(sack());
        s.run(
            "
            push 4000
            +20 < . 1:1 ack 1 sack 1001-2001
            > . 10001:11001
            < . 1:1 ack 1 sack 1001-2001,3001-4001
            > . 11001:12001
            < . 1:1 ack 1 sack 1001-2001,3001-5001
            > . 1:1001
        ",
        );
        // pipe: 12 sent, 3 SACKed, 2 lost, 1 repeated = 8; cwnd 5.
        assert_eq!((s.tcp.ssthresh(), s.tcp.cwnd(), s.tcp.pipe()), (5000, 5000, 9000));
        s.run(
            "
            < . 1:1 ack 1 sack 1001-2001,3001-6001
            < . 1:1 ack 1 sack 1001-2001,3001-7001
            < . 1:1 ack 1 sack 1001-2001,3001-8001
            < . 1:1 ack 1 sack 1001-2001,3001-9001
            > . 2001:3001
            < . 1:1 ack 1 sack 1001-2001,3001-10001
            > . 12001:13001
            +20 < . 1:1 ack 2001 sack 3001-12001
            > . 13001:14001
            +5 < . 1:1 ack 14001
        ",
        );
        assert!(!s.tcp.in_recovery());
        assert_eq!(s.tcp.stats().retransmissions, 2);
    }

    #[test]
    fn the_rescue_retransmission_saves_a_lost_tail() {
        let mut s = Script::ten_in_flight(sack());
        s.run(
            "
            +20 < . 1:1 ack 1 sack 1001-2001
            < . 1:1 ack 1 sack 1001-3001
            < . 1:1 ack 1 sack 1001-4001
            > . 1:1001
            < . 1:1 ack 1 sack 1001-5001
            < . 1:1 ack 1 sack 1001-6001
            < . 1:1 ack 1 sack 1001-7001
            > . 9001:10001
        ",
        );
    }

    #[test]
    fn proportional_rate_reduction_sends_all_along() {
        let mut s = Script::ten_in_flight(Config { prr: true, ..sack() });
        s.run(
            "
            push 9000
            +20 < . 1:1 ack 1 sack 1001-2001
            > . 10001:11001
            < . 1:1 ack 1 sack 1001-3001
            > . 11001:12001
            < . 1:1 ack 1 sack 1001-4001
            > . 1:1001
            < . 1:1 ack 1 sack 1001-5001
            < . 1:1 ack 1 sack 1001-6001
            < . 1:1 ack 1 sack 1001-7001
            > . 12001:13001
            < . 1:1 ack 1 sack 1001-8001
            < . 1:1 ack 1 sack 1001-9001
            < . 1:1 ack 1 sack 1001-10001
            > . 13001:14001
        ",
        );
    }

    #[test]
    fn the_timeout_backs_off_and_starts_anew() {
        let mut s = Script::ten_in_flight(plain());
        s.run(
            "
            +200 > . 1:1001
            +400 > . 1:1001
            +800 > . 1:1001
        ",
        );
        assert_eq!((s.tcp.cwnd(), s.tcp.ssthresh(), s.tcp.consecutive_timeouts()), (1000, 5000, 3));
        s.run("+20 < . 1:1 ack 1001\n > . 1001:2001\n > . 2001:3001");
        assert!(s.tcp.in_timeout_recovery());
        assert_eq!(s.tcp.rto(), Duration::from_millis(1600), "Karn: until something is measured");
        s.run(
            "
            +20 < . 1:1 ack 10001
            push 1000
            > . 10001:11001
            +20 < . 1:1 ack 11001
        ",
        );
        assert_eq!(s.tcp.rto(), Duration::from_millis(200));
    }

    #[test]
    fn a_peer_that_stays_silent_ends_the_connection() {
        let mut s = Script::established(Config { max_retransmissions: 2, ..plain() });
        s.run("push 100\n > . 1:101\n +200 > . 1:101\n +400 > . 1:101\n +800 > nothing");
        assert_eq!(s.events().last(), Some(&Event::Closed(CloseReason::TimedOut)));
    }

    #[test]
    fn a_tail_loss_probe_repeats_the_last_segment() {
        let mut s = Script::established(Config { tail_loss_probe: true, ..rack() });
        s.run(
            "
            push 3000
            > . 1:1001
            > . 1001:2001
            > . 2001:3001
            +42 > . 2001:3001
            +20 < . 1:1 ack 1 sack 2001-3001
            > . 1:1001
            > . 1001:2001
        ",
        );
        // RACK found what was sent long before the probe.
        assert_eq!((s.tcp.stats().tail_loss_probes, s.tcp.stats().timeouts), (1, 0));
    }

    #[test]
    fn a_tail_loss_probe_prefers_new_data() {
        let mut s = Script::established(Config { tail_loss_probe: true, initial_window: 2, ..rack() });
        s.run(
            "
            push 3000
            > . 1:1001
            > . 1001:2001
            +42 > . 2001:3001
        ",
        );
    }

    #[test]
    fn a_single_segment_gives_the_delayed_ack_its_time() {
        let mut s =
            Script::established(Config { tail_loss_probe: true, rto_min: Duration::from_secs(1), ..rack() });
        s.run("push 1000\n > . 1:1001\n +239 > nothing\n +1 > . 1:1001");
    }

    #[test]
    fn rack_waits_out_reordering_once_it_was_seen() {
        let mut s = Script::ten_in_flight(rack());
        // The second arrives before the first: from now on a quarter of the round-trip time is waited.
        s.run(
            "
            +20 < . 1:1 ack 1 sack 1001-2001
            +1 < . 1:1 ack 2001
            < . 1:1 ack 2001 sack 3001-4001
            < . 1:1 ack 2001 sack 3001-5001
            < . 1:1 ack 2001 sack 3001-7001
            +4 > nothing
            +1 > . 2001:3001
        ",
        );
        assert!(s.tcp.in_recovery());
    }

    #[test]
    fn rack_without_reordering_is_as_fast_as_three_duplicates() {
        let mut s = Script::ten_in_flight(rack());
        s.run(
            "
            +20 < . 1:1 ack 1 sack 1001-2001
            < . 1:1 ack 1 sack 1001-3001
            > nothing
            < . 1:1 ack 1 sack 1001-4001
            > . 1:1001
        ",
        );
    }

    #[test]
    fn rack_repeats_a_lost_retransmission() {
        let mut s = Script::ten_in_flight(rack());
        s.run(
            "
            push 10000
            +20 < . 1:1 ack 1 sack 1001-4001
            > . 1:1001
            < . 1:1 ack 1 sack 1001-10001
            > . 10001:11001
            > . 11001:12001
            > . 12001:13001
            > . 13001:14001
            +20 < . 1:1 ack 1 sack 1001-12001
            > . 1:1001
            > . 14001:15001
        ",
        );
    }
}

mod spurious {
    use super::*;

    fn with(config: Config, spurious: SpuriousResponse) -> Config {
        Config { spurious, ..config }
    }

    #[test]
    fn frto_undoes_a_timeout_that_was_only_delay() {
        let config = with(rack(), SpuriousResponse { frto: true, ..SpuriousResponse::default() });
        let mut s = Script::established(config);
        s.run(
            "
            push 20000
            > . 1:1001
            > . 1001:2001
            > . 2001:3001
            > . 3001:4001
            > . 4001:5001
            > . 5001:6001
            > . 6001:7001
            > . 7001:8001
            > . 8001:9001
            > . 9001:10001
            +200 > . 1:1001
            +10 < . 1:1 ack 1001
            > . 10001:11001
            > . 11001:12001
            > nothing
            < . 1:1 ack 2001
        ",
        );
        assert_eq!(s.tcp.stats().undone, 1);
        assert!(!s.tcp.in_timeout_recovery() && s.tcp.cwnd() > 9000);
        assert_eq!(s.tcp.stats().retransmissions, 1);
    }

    #[test]
    fn frto_leaves_a_real_timeout_alone() {
        let config = with(rack(), SpuriousResponse { frto: true, ..SpuriousResponse::default() });
        let mut s = Script::established(config);
        s.run(
            "
            push 5000
            > . 1:1001
            > . 1001:2001
            > . 2001:3001
            > . 3001:4001
            > . 4001:5001
            push 5000
            > . 5001:6001
            > . 6001:7001
            > . 7001:8001
            > . 8001:9001
            > . 9001:10001
            push 5000
            +200 > . 1:1001
            +20 < . 1:1 ack 1001
            > . 10001:11001
            > . 11001:12001
            +20 < . 1:1 ack 1001 sack 10001-11001
            > . 1001:2001
        ",
        );
        assert!(s.tcp.in_timeout_recovery());
        assert_eq!(s.tcp.stats().undone, 0);
    }

    #[test]
    fn eifel_undoes_by_the_timestamp_of_the_original() {
        let config = Config { timestamps: true, ..plain() };
        let config = with(config, SpuriousResponse { eifel: true, ..SpuriousResponse::default() });
        let mut s = Script::accept(config, "S 0:1 mss 1000 ts 5/0");
        s.run(
            "
            > S. 0:1 ack 1
            +20 < . 1:1 ack 1 ts 25/100
            push 4940
            > . 1:989 ts 120/25
            > . 989:1977
            > . 1977:2965
            > . 2965:3953
            > . 3953:4941
            +200 > . 1:989 ts 320/25
            +5 < . 1:1 ack 989 ts 230/120
            > nothing
        ",
        );
        assert_eq!(s.tcp.stats().undone, 1);
        assert!(s.tcp.cwnd() >= 4940 && !s.tcp.in_timeout_recovery());
    }

    #[test]
    fn dsack_undoes_a_fast_recovery_after_reordering() {
        let config = with(sack(), SpuriousResponse { dsack: true, ..SpuriousResponse::default() });
        let mut s = Script::established(config);
        s.run(
            "
            push 5000
            > . 1:1001
            > . 1001:2001
            > . 2001:3001
            > . 3001:4001
            > . 4001:5001
            +20 < . 1:1 ack 1 sack 1001-4001
            > . 1:1001
        ",
        );
        assert_eq!(s.tcp.cwnd(), 2500);
        s.run("+1 < . 1:1 ack 5001\n +20 < . 1:1 ack 5001 sack 1-1001");
        assert_eq!((s.tcp.stats().undone, s.tcp.stats().spurious_retransmissions), (1, 1));
        assert_eq!(s.tcp.cwnd(), 10_000);
    }

    #[test]
    fn without_a_detector_nothing_is_undone() {
        let mut s = Script::established(sack());
        s.run(
            "
            push 5000
            > . 1:1001
            > . 1001:2001
            > . 2001:3001
            > . 3001:4001
            > . 4001:5001
            +20 < . 1:1 ack 1 sack 1001-4001
            > . 1:1001
            +1 < . 1:1 ack 5001
            +20 < . 1:1 ack 5001 sack 1-1001
        ",
        );
        assert_eq!((s.tcp.stats().undone, s.tcp.cwnd()), (0, 2500));
    }

    /// A connection with timestamps and SACK, ten segments on their way since 120 ms.
    fn stamped(spurious: SpuriousResponse) -> Script {
        let mut s = Script::connect(with(Config { mss: 1012, timestamps: true, ..sack() }, spurious));
        s.run("> S 0:1\n +20 < S. 0:1 ack 1 win 60000 mss 1012 sackok ts 7/100\n > . 1:1 ack 1\n push 10000");
        s.expect_segments(10);
        s
    }

    /// The hint of RFC 3522 §3.2 (6).
    #[test]
    fn what_arrived_late_raises_the_threshold_of_duplicates() {
        let mut s = stamped(SpuriousResponse { eifel: true, ..SpuriousResponse::default() });
        s.run("+20 < . 1:1 ack 1 win 60000 sack 1001-4001 ts 27/120\n > . 1:1001 ts 140/27");
        s.run("+1 < . 1:1 ack 4001 win 60000 ts 28/120\n > nothing");
        assert_eq!(s.tcp.stats().undone, 1);
        // Three segments had overtaken it: now four are needed.
        s.run("+1 < . 1:1 ack 4001 win 60000 sack 5001-8001 ts 29/120\n > nothing");
        s.run("+1 < . 1:1 ack 4001 win 60000 sack 5001-9001 ts 30/120\n > . 4001:5001");
    }

    /// RFC 4015 §3.2 (11): the first measurement after a spurious timeout counts in full.
    #[test]
    fn after_a_timeout_in_vain_the_rto_is_as_long_as_the_delay() {
        let mut s = stamped(SpuriousResponse { eifel: true, ..SpuriousResponse::default() });
        s.run("+200 > . 1:1001 ts 320/7\n +5 < . 1:1 ack 1001 win 60000 ts 230/120\n > nothing");
        assert_eq!(s.tcp.stats().undone, 1);
        s.run("+5 < . 1:1 ack 2001 win 60000 ts 235/120");
        let ms = Duration::from_millis;
        assert_eq!((s.tcp.srtt(), s.tcp.rttvar()), (Some(ms(210)), Some(ms(105))));
    }

    #[test]
    fn a_timeout_without_frto_is_followed_by_what_was_lost() {
        let mut s = Script::established(rack());
        s.run("push 20000");
        s.expect_segments(10);
        s.run("+200 > . 1:1001\n +10 < . 1:1 ack 1001 win 60000\n > . 1001:2001\n > . 2001:3001\n > nothing");
    }

    /// RFC 5682 §3.1 (2b): without new data, or without a window for it, F-RTO cannot tell.
    #[test]
    fn frto_repairs_if_nothing_new_may_be_sent() {
        let frto = SpuriousResponse { frto: true, ..SpuriousResponse::default() };
        for (octets, window) in [(10_000, 60_000), (20_000, 9000)] {
            let mut s = Script::established(with(rack(), frto));
            s.run(&format!("push {octets}"));
            s.expect_segments(10);
            s.run(&format!("+200 > . 1:1001\n +10 < . 1:1 ack 1001 win {window}"));
            s.run("> . 1001:2001\n > . 2001:3001\n > nothing");
        }
    }
}
