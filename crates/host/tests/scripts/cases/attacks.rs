//! Segments out of range, and blind ones (RFC 5961, RFC 7323 §5).

use super::Case;

pub(super) const CASES: &[Case] = &[
    Case::new(
        "a RST that is in the window but not exact is challenged",
        accepted!(
            "< R 100:100
            > . 1:1 ack 1
            +20 > nothing
            sees established"
        ),
    ),
    Case::new(
        "a RST outside the window is dropped",
        accepted!(
            "< R 1000000:1000000
            < R 4294967000:4294967000
            +20 > nothing
            sees established"
        ),
    ),
    Case::new(
        "a SYN in the window is challenged",
        accepted!(
            "< S 100:101
            > . 1:1 ack 1
            +20 > nothing
            sees established"
        ),
    ),
    Case::new(
        "a SYN below the window is challenged",
        accepted!(
            "< S 0:1 mss 1460
            > . 1:1 ack 1
            +20 > nothing
            sees established"
        ),
    ),
    Case::new(
        "challenges are half a second apart",
        accepted!(
            "< S 100:101
            > . 1:1 ack 1
            +100 < S 100:101
            +100 < S 100:101
            +400 < S 100:101
            > . 1:1 ack 1"
        ),
    ),
    Case::new(
        "an ACK of what was not sent is challenged",
        accepted!(
            "write 1000
            > . 1:1001
            +20 < . 1:1 ack 2001
            > . 1001:1001 ack 1
            +20 < . 1:1 ack 1001
            +20 > nothing"
        ),
    ),
    Case::new(
        "an ACK far below is challenged",
        accepted!(
            "write 1000
            > . 1:1001
            +20 < . 1:1 ack 1001
            +20 < . 1:1 ack 4294867296
            > . 1001:1001 ack 1"
        ),
    ),
    Case::new(
        "an old ACK changes nothing",
        accepted!(
            "write 1000
            > . 1:1001
            +20 < . 1:1 ack 1001
            +20 < . 1:1 ack 1
            +20 > nothing"
        ),
    ),
    Case::new(
        "data with an ACK of what was not sent is not taken",
        accepted!(
            "< P. 1:101 ack 5000
            > . 1:1 ack 1
            +20 > nothing
            read 0"
        ),
    ),
    Case::new(
        "blind data beyond the window is not taken",
        accepted!(
            "< P. 1000001:1001001 ack 1
            > . 1:1 ack 1 nosack
            +20 > nothing"
        ),
    ),
    Case::new(
        "data without ACK is not taken",
        accepted!(
            "< P 1:101
            +60 > nothing"
        ),
    ),
    Case::new(
        "a timestamp that is too old is not taken",
        "listen
        < S 0:1 mss 1460 ts 5000/0
        > S. 0:1 ack 1 ecr 5000
        +20 < . 1:1 ack 1 ts 5020/0
        accept
        < P. 1:101 ack 1 ts 5021/0
        > . 1:1 ack 101 ecr 5021
        +20 < P. 101:201 ack 1 ts 4000/0
        > . 1:1 ack 101 ecr 5021
        +20 < P. 101:201 ack 1 ts 5061/0
        > . 1:1 ack 201 ecr 5061
        read 200",
    ),
    Case::new(
        "a segment without its timestamp is not taken",
        "listen
        < S 0:1 mss 1460 ts 5000/0
        > S. 0:1 ack 1 ecr 5000
        +20 < . 1:1 ack 1 ts 5020/0
        accept
        < P. 1:101 ack 1
        linux > . 1:1 ack 101
        +60 > nothing",
    )
    .differs("Linux takes it; RFC 7323 §3.2 says that it should be dropped"),
    Case::new(
        "a RST without a timestamp counts",
        "listen
        < S 0:1 mss 1460 ts 5000/0
        > S. 0:1 ack 1 ecr 5000
        +20 < . 1:1 ack 1 ts 5020/0
        accept
        < R 1:1
        +20 > nothing
        sees reset",
    ),
    Case::new(
        "a message that a segment was too long, about one that is not on its way",
        accepted!(
            "write 1460
            > . 1:1461
            +20 < . 1:1 ack 1461
            write 1460
            > . 1461:2921
            +20 < too-big 1000 1
            < too-big 1000 5000
            < too-big 1500 1461
            +20 > nothing
            < . 1:1 ack 2921
            write 1460
            > . 2921:4381"
        ),
    ),
    Case::new(
        "a message that a segment was too long, about the octet behind the last",
        accepted!(
            "write 1460
            > . 1:1461
            +20 < too-big 1000 1461
            linux > . 1:961
            linux > . 961:1461
            +20 > nothing"
        ),
    )
    .differs("SEG.SEQ < SND.NXT (RFC 5927 §4.1); Linux takes SND.NXT too"),
    Case::new(
        "a message that a segment was too long, though as long ones have arrived",
        accepted!(
            "write 1460
            > . 1:1461
            +20 < . 1:1 ack 1461
            write 1460
            > . 1461:2921
            +20 < too-big 1000 1461
            linux > . 1461:2421
            linux > . 2421:2921
            +20 > nothing
            < . 1:1 ack 2921
            write 1000
            ours > . 2921:3921
            linux > . 2921:3881
            linux > . 3881:3921"
        ),
    )
    .differs("Linux believes what names a sequence number on its way; we wait for a timeout of that segment first (RFC 5927 §7.2), so that whoever sees the numbers cannot shorten segments that arrive"),
    Case::new(
        "a RST at the last SACKed octet",
        accepted!(
            "< . 1461:2921 ack 1
            > . 1:1 ack 1 sack 1461-2921
            +20 < R 2921:2921
            ours > . 1:1 ack 1
            +20 > nothing
            ours sees established
            linux sees reset"
        ),
    )
    .differs("Linux also takes a RST for exact that stands behind all that it has reported by SACK: data was lost before it; RFC 5961 §3.2 has RCV.NXT alone"),
];
