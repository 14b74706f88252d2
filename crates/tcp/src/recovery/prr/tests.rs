//! RFC 9937: conservation, and the window at the end.

use super::{Prr, PrrAck, ReductionBound};
use proptest::prelude::*;

const SMSS: u32 = 1000;

/// One recovery: `window` segments outstanding, those in `lost` lost, the ACKs of the others arriving one by one,
/// each allowing what PRR says. Returns (octets sent in each step, pipe at the end, Prr).
fn recover(window: u32, lost: &[u32], ssthresh: u32) -> (Vec<u32>, u32, Prr) {
    let mut prr = Prr::new(ssthresh, window * SMSS);
    let mut sent = Vec::new();
    // SACK told which are lost at the first ACK: pipe leaves them out until they are sent again.
    let lost_count = u32::try_from(lost.len()).expect("few");
    let mut pipe = (window - lost_count) * SMSS;
    for segment in 0..window {
        if lost.contains(&segment) {
            continue;
        }
        pipe -= SMSS;
        let ack = PrrAck { delivered: SMSS, inflight: pipe, bound: ReductionBound::Conservative, smss: SMSS };
        let out = prr.on_ack(&ack) / SMSS * SMSS;
        prr.on_sent(out);
        pipe += out;
        sent.push(out);
    }
    (sent, pipe, prr)
}

#[test]
fn one_loss_halves_the_flight_over_one_round() {
    let (sent, pipe, prr) = recover(20, &[0], 10 * SMSS);
    // One loss, ssthresh half: about every second ACK sends a segment (RFC 9937 §7).
    assert!(pipe.abs_diff(10 * SMSS) <= SMSS, "{pipe}");
    assert_eq!(prr.ssthresh(), 10 * SMSS);
    assert_eq!(sent[0], SMSS, "the fast retransmit goes out first");
    let total: u32 = sent.iter().sum();
    assert_eq!(total, 10 * SMSS, "{sent:?}");
    assert!(sent.iter().all(|&out| out <= 2 * SMSS), "no burst: {sent:?}");
}

/// As a capture of Linux shows it: 13 segments outstanding, ssthresh 6.
#[test]
fn in_whole_segments_a_part_of_one_lets_it_go() {
    let sends = |mut prr: Prr| {
        let mut inflight = 12 * SMSS;
        let mut at = Vec::new();
        for ack in 1..=7 {
            inflight -= SMSS;
            let told = PrrAck { delivered: SMSS, inflight, bound: ReductionBound::Conservative, smss: SMSS };
            if prr.on_ack(&told) >= SMSS {
                prr.on_sent(SMSS);
                inflight += SMSS;
                at.push(ack);
            }
        }
        at
    };
    assert_eq!(sends(Prr::in_segments(6 * SMSS, 13 * SMSS, SMSS)), [1, 3, 5, 7]);
    assert_eq!(sends(Prr::new(6 * SMSS, 13 * SMSS)), [1, 5, 7], "in octets");
}

#[test]
fn cubic_sends_seven_for_ten_delivered() {
    let (sent, ..) = recover(100, &[0], 70 * SMSS);
    let half: u32 = sent[..50].iter().sum();
    assert_eq!(half, 35 * SMSS);
}

#[test]
fn heavy_loss_keeps_one_out_for_one_delivered() {
    // 15 of 20 lost: the pipe is below ssthresh at once; without progress the conservative bound holds.
    let lost: Vec<u32> = (0..15).collect();
    let (sent, ..) = recover(20, &lost, 10 * SMSS);
    assert_eq!(sent, [SMSS; 5]);
}

#[test]
fn progress_adds_a_segment_per_ack_up_to_ssthresh() {
    let mut prr = Prr::new(10 * SMSS, 20 * SMSS);
    let ack = |inflight, bound| PrrAck { delivered: SMSS, inflight, bound, smss: SMSS };
    assert_eq!(prr.on_ack(&ack(4 * SMSS, ReductionBound::Conservative)), SMSS);
    prr.on_sent(SMSS);
    assert_eq!(prr.on_ack(&ack(4 * SMSS, ReductionBound::SlowStart)), 2 * SMSS);
    prr.on_sent(2 * SMSS);
    assert_eq!(prr.on_ack(&ack(9 * SMSS + 500, ReductionBound::SlowStart)), 500, "not beyond ssthresh");
}

#[test]
fn an_ack_that_delivers_nothing_allows_nothing() {
    let mut prr = Prr::new(10 * SMSS, 20 * SMSS);
    prr.on_sent(SMSS);
    assert_eq!(
        prr.on_ack(&PrrAck { delivered: 0, inflight: 0, bound: ReductionBound::SlowStart, smss: SMSS }),
        0
    );
}

proptest! {
    #[test]
    fn the_pipe_ends_near_ssthresh_and_never_grows_beyond(
        window in 4..400_u32,
        share in 0.3..0.9_f64,
        losses in proptest::collection::btree_set(0..400_u32, 1..40),
    ) {
        let lost: Vec<u32> = losses.into_iter().filter(|&segment| segment < window).collect();
        prop_assume!(!lost.is_empty() && u32::try_from(lost.len()).unwrap() < window);
        let ssthresh = ((f64::from(window) * share) as u32).max(2) * SMSS;
        let (sent, pipe, _) = recover(window, &lost, ssthresh);
        let start = (window - lost.len() as u32) * SMSS;
        prop_assert!(pipe <= ssthresh + SMSS || pipe <= start, "pipe {pipe} ssthresh {ssthresh}");
        let delivered: u32 = sent.len() as u32 * SMSS;
        let total: u32 = sent.iter().sum();
        // Packet conservation: never more out than delivered, but for the first retransmission.
        prop_assert!(total <= delivered + SMSS, "{total} > {delivered}");
        if start >= ssthresh + 2 * SMSS {
            prop_assert!(pipe + 2 * SMSS >= ssthresh.min(start), "too few: {pipe} of {ssthresh}");
        }
    }
}
