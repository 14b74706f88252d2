use super::*;
use crate::plan::{AddressFamily, AddressIndex};

const LEN: u32 = 100;

fn way() -> Way {
    let socket = |address, port| Socket::new(AddressFamily::Ipv4, AddressIndex(address), port);
    (socket(0, 1000), socket(1, 80))
}

fn data(seq: Seq, offset: u64) -> Segment {
    Segment { seq, payload: Payload { offset, len: LEN }, ..Segment::default() }
}

fn ack(ack: Seq, blocks: &[(Seq, Seq)]) -> Segment {
    let mut segment = Segment { ack, ..Segment::default() };
    for &(left, right) in blocks {
        segment.options.sack.push(left, right);
    }
    segment
}

/// Ten segments just before sequence numbers wrap, with the stream's positions 5000, 5100, ….
fn ten() -> (Scoreboards, impl Fn(u32) -> Seq) {
    let first = Seq::new(0u32.wrapping_sub(3 * LEN));
    let mut boards = Scoreboards::default();
    for k in 0..10 {
        boards.sent(way(), &data(first + k * LEN, 5000 + u64::from(k * LEN)));
    }
    (boards, move |k| first + k * LEN)
}

#[test]
fn a_segment_is_told_once_and_neighbours_together() {
    let (mut boards, at) = ten();
    let first = boards.acknowledged(way(), &ack(at(1), &[(at(2), at(4))]));
    assert_eq!(first, [Payload { offset: 5200, len: 2 * LEN }]);
    let second = boards.acknowledged(way(), &ack(at(1), &[(at(6), at(7)), (at(2), at(5))]));
    assert_eq!(second, [Payload { offset: 5600, len: LEN }, Payload { offset: 5400, len: LEN }]);
    assert!(boards.acknowledged(way(), &ack(at(1), &[(at(6), at(7))])).is_empty());
}

#[test]
fn a_duplicate_reported_below_the_acknowledgement_is_nothing_new() {
    let (mut boards, at) = ten();
    assert!(boards.acknowledged(way(), &ack(at(5), &[(at(0), at(2))])).is_empty());
}

#[test]
fn what_is_sent_again_keeps_its_place() {
    let (mut boards, at) = ten();
    boards.sent(way(), &data(at(2), 5200));
    let told = boards.acknowledged(way(), &ack(at(1), &[(at(2), at(3))]));
    assert_eq!(told, [Payload { offset: 5200, len: LEN }]);
}

#[test]
fn who_has_sent_nothing_learns_nothing() {
    let (mut boards, at) = ten();
    let (from, to) = way();
    assert!(boards.acknowledged((to, from), &ack(at(1), &[(at(2), at(4))])).is_empty());
}
