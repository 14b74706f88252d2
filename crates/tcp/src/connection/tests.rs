//! When a sender counts as limited by its application (draft-ietf-ccwg-bbr, CheckIfApplicationLimited).

use super::Connection;
use crate::config::{Config, WindowOwner};
use ropewalk_congestion::CongestionControl;
use ropewalk_units::{Duration, Instant, Seq};
use ropewalk_wire::{Flags, Options, Payload, SackBlocks, Segment};

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn from_peer(ack: u32, blocks: &[(u32, u32)]) -> Segment {
    let mut sack = SackBlocks::EMPTY;
    blocks.iter().for_each(|&(left, right)| sack.push(Seq::new(left), Seq::new(right)));
    let options = Options { sack, ..Options::default() };
    let (seq, ack) = (Seq::new(501), Seq::new(ack));
    Segment { seq, ack, flags: Flags::ACK, window: 60_000, options, ..Segment::default() }
}

fn connecting(window_owner: WindowOwner) -> Connection {
    let congestion_control = CongestionControl::Bbr;
    let config =
        Config { congestion_control, pacing: true, timestamps: false, window_owner, ..Config::linux() };
    let mut tcp = Connection::connect(config, Seq::new(0), at(0));
    send(&mut tcp, at(0));
    tcp
}

/// After a handshake of 20 ms, at 100 ms.
fn established(window_owner: WindowOwner) -> Connection {
    let mut tcp = connecting(window_owner);
    let mut syn_ack = from_peer(1, &[]);
    (syn_ack.seq, syn_ack.flags) = (Seq::new(500), Flags::SYN | Flags::ACK);
    (syn_ack.options.mss, syn_ack.options.sack_permitted) = (Some(1000), true);
    tcp.handle_segment(at(20), &syn_ack);
    send(&mut tcp, at(20));
    assert!(!tcp.sender.sampler().is_app_limited());
    tcp
}

fn send(tcp: &mut Connection, now: Instant) -> u32 {
    std::iter::from_fn(|| tcp.poll_transmit(now)).map(|segment| segment.payload.len).sum()
}

fn push(tcp: &mut Connection, len: u32) {
    tcp.push(Payload { offset: 0, len });
}

#[test]
fn with_nothing_to_send_it_is_limited() {
    let mut tcp = established(WindowOwner::Shared);
    tcp.handle_segment(at(100), &from_peer(1, &[]));
    assert!(tcp.sender.sampler().is_app_limited());
}

#[test]
fn what_is_written_before_the_peer_answers_is_no_less_than_it_could_send() {
    let mut tcp = connecting(WindowOwner::Own);
    push(&mut tcp, 1000);
    assert!(!tcp.sender.sampler().is_app_limited());
    let mut tcp = established(WindowOwner::Own);
    push(&mut tcp, 1000);
    assert!(tcp.sender.sampler().is_app_limited());
}

#[test]
fn with_data_that_wait_it_is_not() {
    let mut tcp = established(WindowOwner::Shared);
    push(&mut tcp, 100_000);
    assert!(send(&mut tcp, at(100)) < 10_000, "the pacer and cwnd hold some");
    // The pacer's time is over.
    tcp.handle_segment(at(150), &from_peer(1, &[]));
    assert!(!tcp.sender.sampler().is_app_limited());
}

/// A subflow on its own that waits for its pacer, and until when.
fn paced() -> (Connection, Instant) {
    let mut tcp = established(WindowOwner::Shared);
    for _ in 0..9 {
        push(&mut tcp, 1000);
        assert_eq!(send(&mut tcp, at(100)), 1000);
        if let Some((departure, _)) = tcp.poll_timeout().filter(|(time, _)| *time < at(150)) {
            return (tcp, departure);
        }
    }
    panic!("no pacer's timer runs");
}

/// The owner of a subflow has its turn after the pacer's time, not before.
#[test]
fn while_its_pacer_waits_its_owner_does_not_limit_it() {
    let (held, departure) = paced();
    let limited = |time: Instant| {
        let mut tcp = held.clone();
        tcp.handle_segment(time, &from_peer(1, &[]));
        tcp.sender.sampler().is_app_limited()
    };
    assert_eq!([at(100), departure + Duration::from_millis(1)].map(limited), [false, true]);
}

/// What is lost is still to be sent.
#[test]
fn with_repairs_that_wait_it_is_not() {
    let mut tcp = established(WindowOwner::Shared);
    push(&mut tcp, 10_000);
    let mut now = at(100);
    while tcp.unsent() > 0 {
        send(&mut tcp, now);
        now += Duration::from_millis(1);
        tcp.handle_timeout(now);
    }
    // The first half is lost. The mark that this ACK makes lasts until all ten are delivered; none is made anew.
    tcp.handle_segment(now, &from_peer(1, &[(5001, 10_001)]));
    assert!(tcp.wants_to_transmit());
    let before = format!("{:?}", tcp.sender.sampler());
    tcp.handle_timeout(now + Duration::from_millis(1));
    assert_eq!(format!("{:?}", tcp.sender.sampler()), before);
}
