//! What arrives: acknowledgements, SACK (RFC 2018, RFC 2883), windows, congestion marks (RFC 3168).

use super::Case;
use crate::world::Setting;

pub(super) const CASES: &[Case] = &[
    Case::new(
        "the first segments are acknowledged at once",
        accepted!(
            "< . 1:1461 ack 1
            > . 1:1 ack 1461 nosack
            +20 < . 1461:2921 ack 1
            > . 1:1 ack 2921
            read 2920"
        ),
    ),
    Case::new(
        "who answers delays its acknowledgements by 40 ms",
        accepted!(
            "< P. 1:101 ack 1
            > . 1:1 ack 101
            read 100
            write 50
            > . 1:51 ack 101
            +20 < P. 101:201 ack 51
            read 100
            write 50
            > . 51:101 ack 201
            +20 < P. 201:301 ack 101
            +40 > . 101:101 ack 301"
        ),
    ),
    Case::new(
        "what arrives above a hole is acknowledged at once, and so is what fills it",
        accepted!(
            "< . 1461:2921 ack 1
            > . 1:1 ack 1 sack 1461-2921
            < . 4381:5841 ack 1
            > . 1:1 ack 1 sack 4381-5841,1461-2921
            < . 1:1461 ack 1
            > . 1:1 ack 2921 sack 4381-5841
            < . 2921:4381 ack 1
            > . 1:1 ack 5841 nosack
            read 5840"
        ),
    ),
    Case::new(
        "without SACK a hole gets duplicate ACKs",
        accepted!(
            "< . 1461:2921 ack 1
            > . 1:1 ack 1 nosack
            < . 2921:4381 ack 1
            > . 1:1 ack 1 nosack
            < . 1:1461 ack 1
            > . 1:1 ack 4381 nosack"
        ),
    )
    .with(&[Setting::NoSack]),
    Case::new(
        "the block that changed last comes first, three beside it",
        accepted!(
            "< . 1001:1101 ack 1
            > . 1:1 ack 1 sack 1001-1101
            < . 2001:2101 ack 1
            > . 1:1 ack 1 sack 2001-2101,1001-1101
            < . 3001:3101 ack 1
            > . 1:1 ack 1 sack 3001-3101,2001-2101,1001-1101
            < . 4001:4101 ack 1
            > . 1:1 ack 1 sack 4001-4101,3001-3101,2001-2101,1001-1101
            < . 5001:5101 ack 1
            > . 1:1 ack 1 sack 5001-5101,4001-4101,3001-3101,2001-2101
            < . 2101:2201 ack 1
            > . 1:1 ack 1 sack 2001-2201,5001-5101,4001-4101,3001-3101"
        ),
    ),
    Case::new(
        "a duplicate below is reported",
        accepted!(
            "< . 1:1461 ack 1
            > . 1:1 ack 1461
            +20 < . 1:1461 ack 1
            > . 1:1 ack 1461 sack 1-1461
            +20 < . 1461:2921 ack 1
            > . 1:1 ack 2921 nosack"
        ),
    ),
    Case::new(
        "a duplicate above a hole is reported",
        accepted!(
            "< . 1461:2921 ack 1
            > . 1:1 ack 1 sack 1461-2921
            +20 < . 1461:2921 ack 1
            > . 1:1 ack 1 sack 1461-2921,1461-2921"
        ),
    ),
    Case::new(
        "of a segment that is half old the new half counts",
        accepted!(
            "< . 1:1001 ack 1
            > . 1:1 ack 1001
            +20 < . 501:1501 ack 1
            > . 1:1 ack 1501
            read 1500"
        ),
    ),
    Case::new(
        "a mark of congestion is echoed until CWR",
        "listen
        < SEW 0:1 mss 1460
        > SE. 0:1 ack 1
        +20 < . 1:1 ack 1
        accept
        < . 1:1461 ack 1 ce
        > .E 1:1 ack 1461
        +20 < . 1461:2921 ack 1
        > .E 1:1 ack 2921
        +20 < .W 2921:4381 ack 1
        > . 1:1 ack 4381
        +20 < . 4381:5841 ack 1
        > . 1:1 ack 5841",
    )
    .with(&[Setting::Ecn]),
    Case::new(
        "a mark without ECN means nothing",
        accepted!(
            "< . 1:1461 ack 1 ce
            > . 1:1 ack 1461"
        ),
    ),
    Case::new(
        "the timestamp of what the last ACK told is echoed",
        "listen
        < S 0:1 mss 1460 ts 50/0
        > S. 0:1 ack 1 ecr 50
        +20 < . 1:1 ack 1 ts 70/0
        accept
        < . 1:1001 ack 1 ts 71/0
        > . 1:1 ack 1001 ecr 71
        +20 < . 2001:3001 ack 1 ts 90/0
        > . 1:1 ack 1001 ecr 71
        +20 < . 1001:2001 ack 1 ts 110/0
        > . 1:1 ack 3001 ecr 110",
    ),
];
