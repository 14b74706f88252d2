//! Losses: timeouts (RFC 6298), fast retransmit (RFC 5681, RFC 6675, RFC 8985), tail loss probes,
//! limited transmit (RFC 3042).

use super::Case;
use crate::world::Setting;

pub(super) const CASES: &[Case] = &[
    Case::new(
        "a timeout backs off",
        accepted!(
            "write 1000
            > . 1:1001 push
            +220 > . 1:1001
            +220 > . 1:1001
            +440 > . 1:1001
            +880 > . 1:1001
            +20 < . 1:1 ack 1001
            sees established"
        ),
    ),
    Case::new(
        "three duplicate ACKs without SACK repeat the first segment",
        ten_on_their_way!(
            "+20 < . 1:1 ack 1
            < . 1:1 ack 1
            +2 > nothing
            < . 1:1 ack 1
            > . 1:1461
            +20 < . 1:1 ack 14601
            +20 > nothing"
        ),
    )
    .with(&[Setting::NoSack]),
    Case::new(
        "two duplicate ACKs let out two new segments",
        ten_on_their_way!(
            "write 4380
            +20 < . 1:1 ack 1
            > . 14601:16061
            +2 < . 1:1 ack 1
            > . 16061:17521
            +2 < . 1:1 ack 1
            > . 1:1461"
        ),
    )
    .with(&[Setting::NoSack]),
    // RACK waits a quarter of a round trip before it repeats: here 50 ms, so that no delay of this
    // process counts.
    Case::new(
        "SACK of three segments repeats the hole",
        far_ten_on_their_way!(
            "+200 < . 1:1 ack 1 sack 1461-2921
            < . 1:1 ack 1 sack 1461-4381
            +2 > nothing
            < . 1:1 ack 1 sack 1461-5841
            > . 1:1461
            +200 < . 1:1 ack 14601
            +20 > nothing"
        ),
    ),
    Case::new(
        "SACK repeats all holes",
        far_ten_on_their_way!(
            "+200 < . 1:1 ack 1 sack 1461-2921
            < . 1:1 ack 1 sack 1461-2921,4381-5841
            < . 1:1 ack 1 sack 1461-2921,4381-7301
            > . 1:1461
            < . 1:1 ack 1 sack 1461-2921,4381-8761
            > . 2921:4381
            +200 < . 1:1 ack 14601
            +20 > nothing"
        ),
    ),
    Case::new(
        "the last segment alone is probed after an RTO",
        ten_on_their_way!(
            "+20 < . 1:1 ack 13141
            +220 > . 13141:14601
            +20 < . 1:1 ack 14601"
        ),
    ),
    // The probe's ACK takes longer than a round trip: one that came sooner could be the original's,
    // and would tell RACK nothing (RFC 8985 §6.2 step 2).
    Case::new(
        "a tail loss probe repeats the last segment after two round trips",
        ten_on_their_way!(
            "+42 > . 13141:14601
            +30 < . 1:1 ack 1 sack 13141-14601
            > . 1:1461"
        ),
    ),
    Case::new(
        "a tail loss probe sends new data where there is some",
        ten_on_their_way!(
            "write 1460
            +42 > . 14601:16061
            +20 < . 1:1 ack 16061
            +20 > nothing"
        ),
    ),
    Case::new(
        "reordering is waited for once it was seen",
        far_ten_on_their_way!(
            "+200 < . 1:1 ack 1 sack 1461-2921
            < . 1:1 ack 2921
            +1 < . 1:1 ack 2921 sack 4381-5841
            < . 1:1 ack 2921 sack 4381-7301
            < . 1:1 ack 2921 sack 4381-8761
            +50 > . 2921:4381"
        ),
    ),
    Case::new(
        "a lost retransmission is repeated",
        ten_on_their_way!(
            "write 14600
            +20 < . 1:1 ack 1 sack 1461-5841
            > . 1:1461
            +2 < . 1:1 ack 1 sack 1461-7301
            > . 14601:16061
            +20 < . 1:1 ack 1 sack 1461-7301,14601-16061
            > . 1:1461"
        ),
    ),
    Case::new(
        "F-RTO: after a timeout new data asks whether it was lost",
        ten_on_their_way!(
            "write 14600
            +42 > . 14601:16061
            +220 > . 1:1461
            +10 < . 1:1 ack 1461
            > . 16061:17521
            > . 17521:18981
            +10 < . 1:1 ack 4381"
        ),
    ),
    // RFC 8985 §6.3: a round trip takes 20 ms.
    Case::new(
        "a timeout does not repeat what was sent less than a round trip ago",
        accepted!(
            "write 1460
            > . 1:1461
            +20 < . 1:1 ack 1461
            write 2920
            > . 1461:2921
            > . 2921:4381
            +212 write 1460
            > . 4381:5841
            +8 > . 1461:2921
            +3 < . 1:1 ack 2921
            > . 2921:4381
            +3 > nothing"
        ),
    )
    .with(&[Setting::NoTailLossProbe]),
    Case::new(
        "a timeout repeats what was sent more than a round trip ago",
        accepted!(
            "write 1460
            > . 1:1461
            +20 < . 1:1 ack 1461
            write 2920
            > . 1461:2921
            > . 2921:4381
            +100 write 1460
            > . 4381:5841
            +120 > . 1461:2921
            +3 < . 1:1 ack 2921
            > . 2921:4381
            > . 4381:5841"
        ),
    )
    .with(&[Setting::NoTailLossProbe]),
];
