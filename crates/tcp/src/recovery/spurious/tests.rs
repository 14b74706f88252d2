//! The RFCs' rules as scripts.

use super::detectors::Repaired;
use super::{
    Cause, Door, DoorPeriods, Dsack, Eifel, EifelAck, Frto, FrtoAck, FrtoAction, Origin, TimeoutMemory,
    Verdict,
};
use ropewalk_units::{Duration, Instant, Mark};

const BY_TIMEOUT: Verdict = Verdict::Spurious { cause: Cause::Timeout };
const BY_DUPACKS: Verdict = Verdict::Spurious { cause: Cause::Loss };

fn eifel_ack(ts_ecr: u32) -> EifelAck {
    EifelAck { ts_ecr: Some(ts_ecr), dsack: false, covers_all: false }
}

#[test]
fn eifel_compares_the_echo_with_the_retransmission() {
    // (TSval of the retransmission, TSecr, verdict): RFC 3522 §3.2 (4), wrapping as RFC 7323 says.
    let cases = [
        (100, 99, BY_TIMEOUT),
        (100, 100, Verdict::Genuine),
        (100, 101, Verdict::Genuine),
        (3, u32::MAX - 3, BY_TIMEOUT),
        (u32::MAX - 3, 3, Verdict::Genuine),
    ];
    for (retransmit_ts, ts_ecr, verdict) in cases {
        let mut eifel = Eifel::default();
        eifel.begin(retransmit_ts, Cause::Timeout);
        assert_eq!(eifel.on_ack(&eifel_ack(ts_ecr)), verdict, "{retransmit_ts} {ts_ecr}");
    }
}

#[test]
fn eifel_judges_the_first_acceptable_ack_only() {
    let mut eifel = Eifel::default();
    eifel.begin(100, Cause::Loss);
    assert_eq!(eifel.on_ack(&eifel_ack(100)), Verdict::Genuine);
    assert_eq!(eifel.on_ack(&eifel_ack(50)), Verdict::Undecided);
    // Not started over while this recovery goes on.
    eifel.begin(200, Cause::Loss);
    assert_eq!(eifel.on_ack(&eifel_ack(150)), Verdict::Undecided);
    eifel.end();
    eifel.begin(200, Cause::Loss);
    assert_eq!(eifel.on_ack(&eifel_ack(150)), BY_DUPACKS);
}

#[test]
fn eifel_keeps_the_first_retransmissions_timestamp() {
    let mut eifel = Eifel::default();
    eifel.begin(100, Cause::Timeout);
    eifel.begin(300, Cause::Timeout);
    assert_eq!(eifel.on_ack(&eifel_ack(200)), Verdict::Genuine, "answers the first retransmission");
}

#[test]
fn eifel_gives_no_verdict_where_acks_may_have_been_lost() {
    let covering = EifelAck { covers_all: true, ..eifel_ack(50) };
    let with_dsack = EifelAck { dsack: true, ..eifel_ack(50) };
    let without = EifelAck { ts_ecr: None, ..eifel_ack(0) };
    for ack in [covering, with_dsack, without] {
        let mut eifel = Eifel::default();
        eifel.begin(100, Cause::Timeout);
        assert_eq!(eifel.on_ack(&ack), Verdict::Undecided, "{ack:?}");
    }
    // From a peer known to report duplicates, an ACK of everything without a report is proof.
    let mut eifel = Eifel::default();
    eifel.on_dsack();
    eifel.begin(100, Cause::Timeout);
    assert_eq!(eifel.on_ack(&covering), BY_TIMEOUT);
}

/// What an ACK newly acknowledges.
#[derive(PartialEq)]
enum Acked {
    /// Data sent once only, from before the timeout.
    Original,
    /// None of these.
    Other,
}

/// Segments of 1000 octets, ten outstanding from 0 at the timeout.
fn frto_ack(una: u32, advanced: bool, highest: u32, acked: Acked) -> FrtoAck {
    FrtoAck {
        snd_una: Mark::new(una.into()),
        advanced,
        highest: Mark::new(highest.into()),
        original_below: acked == Acked::Original,
        snd_max: Mark::new(10_000),
        can_send_new: true,
    }
}

fn started() -> Frto {
    let mut frto = Frto::default();
    assert!(frto.begin(Mark::new(0), Mark::new(10_000), false));
    frto
}

#[test]
fn frto_finds_a_delay_spike() {
    let mut frto = started();
    // The originals' ACKs arrive one by one after the spike.
    assert_eq!(frto.on_ack(&frto_ack(1_000, true, 1_000, Acked::Other)), FrtoAction::SendNew);
    let next = frto_ack(2_000, true, 2_000, Acked::Original);
    assert_eq!(frto.on_ack(&next), FrtoAction::Spurious);
    assert_eq!(FrtoAction::Spurious.verdict(), BY_TIMEOUT);
    assert!(!frto.is_active());
    // RecoveryPoint is SND.UNA: another timeout may be examined at once.
    assert!(frto.begin(Mark::new(2_000), Mark::new(12_000), false));
}

#[test]
fn frto_finds_it_by_sack_too() {
    let mut frto = started();
    assert_eq!(frto.on_ack(&frto_ack(1_000, true, 1_000, Acked::Other)), FrtoAction::SendNew);
    // The second segment is lost, the third's original is reported.
    assert_eq!(frto.on_ack(&frto_ack(1_000, false, 3_000, Acked::Original)), FrtoAction::Spurious);
}

#[test]
fn frto_leaves_a_real_loss_alone() {
    // All ten lost: the ACK of the retransmission, then duplicates for the two new segments.
    let mut frto = started();
    assert_eq!(frto.on_ack(&frto_ack(1_000, true, 1_000, Acked::Other)), FrtoAction::SendNew);
    let above = frto_ack(1_000, false, 11_000, Acked::Other);
    assert_eq!(frto.on_ack(&above), FrtoAction::Recover { segments: 3 });
    // Without SACK information about it.
    let mut frto = started();
    frto.on_ack(&frto_ack(1_000, true, 1_000, Acked::Other));
    let nothing_new = frto_ack(1_000, false, 1_000, Acked::Other);
    assert_eq!(frto.on_ack(&nothing_new), FrtoAction::Recover { segments: 3 });
    assert_eq!(FrtoAction::Recover { segments: 3 }.verdict(), Verdict::Genuine);
}

#[test]
fn frto_waits_through_duplicates_and_stops_when_it_cannot_tell() {
    let mut frto = started();
    assert_eq!(frto.on_ack(&frto_ack(0, false, 0, Acked::Other)), FrtoAction::Wait);
    assert!(frto.is_active());
    // (2a): everything is acknowledged.
    assert_eq!(
        frto.on_ack(&frto_ack(10_000, true, 10_000, Acked::Original)),
        FrtoAction::Recover { segments: 2 }
    );
    // Nothing new to send.
    let mut frto = started();
    let stuck = FrtoAck { can_send_new: false, ..frto_ack(1_000, true, 1_000, Acked::Other) };
    assert_eq!(frto.on_ack(&stuck), FrtoAction::Recover { segments: 2 });
}

#[test]
fn frto_is_not_used_inside_a_recovery() {
    let mut frto = Frto::default();
    frto.on_fast_recovery(Mark::new(10_000));
    assert!(!frto.begin(Mark::new(4_000), Mark::new(12_000), false));
    assert_eq!(frto.on_ack(&frto_ack(5_000, true, 5_000, Acked::Other)), FrtoAction::Wait);
    frto.stop();
    assert!(frto.begin(Mark::new(4_000), Mark::new(12_000), false), "it has ended");
    // Nor after (2), when RecoveryPoint is set.
    let mut frto = started();
    frto.on_ack(&frto_ack(1_000, true, 1_000, Acked::Other));
    assert!(!frto.begin(Mark::new(1_000), Mark::new(12_000), false));
    assert!(frto.begin(Mark::new(1_000), Mark::new(12_000), true), "the same segment again");
}

#[test]
fn frto_examines_the_last_timeout_of_a_series() {
    let mut frto = started();
    assert!(frto.begin(Mark::new(0), Mark::new(10_000), false), "no ACK yet: no recovery to disturb");
    assert_eq!(frto.on_ack(&frto_ack(1_000, true, 1_000, Acked::Other)), FrtoAction::SendNew);
    assert_eq!(frto.on_ack(&frto_ack(2_000, true, 2_000, Acked::Original)), FrtoAction::Spurious);
}

#[test]
fn dsack_needs_a_report_for_every_retransmission() {
    let mut dsack = Dsack::default();
    assert_eq!(dsack.on_dsack(1, Origin::Sender), Verdict::Undecided, "no recovery");
    dsack.begin(Cause::Loss);
    dsack.on_retransmit(1);
    dsack.on_retransmit(1);
    assert_eq!(dsack.on_dsack(1, Origin::Sender), Verdict::Undecided, "RFC 3708 §3 (B.2)");
    assert_eq!(dsack.on_dsack(1, Origin::Sender), BY_DUPACKS, "RFC 3708 §3 (B.1)");
    assert_eq!(dsack.on_dsack(1, Origin::Sender), Verdict::Undecided, "once");
}

#[test]
fn dsack_draws_no_conclusion_from_network_duplicates() {
    let mut dsack = Dsack::default();
    dsack.begin(Cause::Timeout);
    dsack.on_retransmit(1);
    assert_eq!(dsack.on_dsack(1, Origin::Network), Verdict::Undecided, "RFC 3708 §3 (A)");
    assert_eq!(dsack.on_dsack(1, Origin::Sender), Verdict::Undecided);
    dsack.begin(Cause::Timeout);
    dsack.on_retransmit(2);
    assert_eq!(dsack.on_dsack(2, Origin::Sender), BY_TIMEOUT);
}

/// What Eifel or F-RTO has found is not found once more in the reports that come later.
#[test]
fn dsack_is_silent_once_another_detector_has_decided() {
    let mut dsack = Dsack::default();
    dsack.begin(Cause::Timeout);
    dsack.on_retransmit(1);
    dsack.stop();
    assert_eq!(dsack.on_dsack(1, Origin::Sender), Verdict::Undecided);
}

#[test]
fn a_report_before_any_retransmission_says_nothing() {
    let mut dsack = Dsack::default();
    dsack.begin(Cause::Timeout);
    assert_eq!(dsack.on_dsack(1, Origin::Sender), Verdict::Undecided);
}

#[test]
fn the_response_restores_pipe_and_variance() {
    let ms = Duration::from_millis;
    // RFC 4015 §3.2 (0): pipe_prev = max(FlightSize, ssthresh); SRTT_prev = SRTT + 2 G.
    let memory = TimeoutMemory::new(20_000, 16_000, Some(ms(100)), ms(10), ms(1));
    // (9): cwnd = FlightSize + min(bytes_acked, IW).
    assert_eq!(memory.window(19_000, 1_000, 10_000), (20_000, 20_000));
    assert_eq!(memory.window(5_000, 15_000, 10_000), (15_000, 20_000));
    // (11): the larger of what was and what is.
    assert_eq!(memory.rtt(ms(80)), (ms(102), ms(40)));
    assert_eq!(memory.rtt(ms(400)), (ms(400), ms(200)));
    let unmeasured = TimeoutMemory::new(1_000, 20_000, None, Duration::ZERO, ms(1));
    assert_eq!(unmeasured.rtt(ms(30)), (ms(30), ms(15)));
    assert_eq!(unmeasured.window(0, 1_000, 10_000), (1_000, 20_000));
}

#[test]
fn door_takes_back_what_is_young_and_is_quiet_for_a_while() {
    let at = |ms: u64| Instant::ZERO + Duration::from_millis(ms);
    let periods = DoorPeriods { quiet: Duration::from_millis(60), young: Duration::from_millis(100) };
    let mut door = Door::default();
    assert!(!door.is_quiet(at(0)));
    door.begin(at(10), Cause::Loss);
    assert_eq!(door.on_out_of_order(at(110), &periods), BY_DUPACKS, "no older than T2");
    assert_eq!(door.on_out_of_order(at(120), &periods), Verdict::Undecided, "once");
    assert!(door.is_quiet(at(179)) && !door.is_quiet(at(180)), "for T1");
    door.begin(at(300), Cause::Timeout);
    assert_eq!(door.on_out_of_order(at(401), &periods), Verdict::Undecided, "older");
}

/// RFC 5682 §3.1 (3a): what lies beyond the point is new data.
#[test]
fn frto_takes_an_ack_up_to_the_point_for_one_of_originals() {
    for (highest, action) in [(10_000, FrtoAction::Spurious), (10_001, FrtoAction::Recover { segments: 3 })] {
        let mut frto = started();
        assert_eq!(frto.on_ack(&frto_ack(1_000, true, 1_000, Acked::Other)), FrtoAction::SendNew);
        assert_eq!(frto.on_ack(&frto_ack(2_000, true, highest, Acked::Original)), action);
    }
}

#[test]
fn what_was_repaired_is_known_in_any_order() {
    let mark = |at: u64| Mark::new(at);
    let mut repaired = Repaired::default();
    for (left, right) in [(3000, 4000), (1000, 2000), (5000, 6000), (2000, 3000)] {
        repaired.add(mark(left), mark(right));
    }
    assert_eq!(repaired.segments, 4);
    assert!(repaired.covers(mark(1000), mark(4000)) && repaired.covers(mark(5000), mark(6000)));
    assert!(!repaired.covers(mark(1000), mark(5000)) && !repaired.covers(mark(500), mark(1500)));
}
