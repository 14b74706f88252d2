//! FIN and RST in each state (RFC 9293 §3.6, §3.10).

use super::Case;

/// A connection with timestamps that has been closed by both, by the host first.
macro_rules! in_time_wait_with_timestamps {
    ($rest:literal) => {
        concat!(
            "listen
            < S 0:1 mss 1460 ts 5000/0
            > S. 0:1 ack 1 ecr 5000
            +20 < . 1:1 ack 1 ts 5020/0
            accept
            finish
            > F. 1:2 ack 1
            +20 < F. 1:2 ack 2 ts 5040/0
            > . 2:2 ack 2 ecr 5040
            ",
            $rest
        )
    };
}

pub(super) const CASES: &[Case] = &[
    Case::new(
        "who closes first waits, and acknowledges the FIN again",
        accepted!(
            "finish
            > F. 1:2 ack 1
            +20 < . 1:1 ack 2
            +20 < F. 1:2 ack 2
            > . 2:2 ack 2
            +600 < F. 1:2 ack 2
            > . 2:2 ack 2"
        ),
    ),
    Case::new(
        "who is closed may go on sending",
        accepted!(
            "< F. 1:2 ack 1
            > . 1:1 ack 2
            sees end
            write 500
            > . 1:501 ack 2 push
            +20 < . 2:2 ack 501
            finish
            > F. 501:502 ack 2
            +20 < . 2:2 ack 502
            +20 < . 2:2 ack 502
            > R 502:502"
        ),
    ),
    Case::new(
        "both close at once",
        accepted!(
            "finish
            > F. 1:2 ack 1
            +5 < F. 1:2 ack 1
            > . 2:2 ack 2
            +5 < . 2:2 ack 2
            +20 > nothing"
        ),
    ),
    Case::new(
        "FIN and the ACK of ours in one segment",
        accepted!(
            "finish
            > F. 1:2 ack 1
            +20 < F. 1:2 ack 2
            > . 2:2 ack 2"
        ),
    ),
    Case::new(
        "the FIN rides on the last data",
        accepted!(
            "write 100
            > . 1:101
            write 200
            +5 > nothing
            finish
            > F. 101:302 push
            +20 < . 1:1 ack 302"
        ),
    ),
    Case::new(
        "a FIN without an answer comes again",
        accepted!(
            "finish
            > F. 1:2 ack 1
            +220 > F. 1:2 ack 1
            +220 > F. 1:2 ack 1
            +440 > F. 1:2 ack 1
            +20 < . 1:1 ack 2"
        ),
    ),
    Case::new(
        "after the own FIN data still arrives",
        accepted!(
            "finish
            > F. 1:2 ack 1
            +20 < . 1:1 ack 2
            +20 < P. 1:501 ack 2
            > . 2:2 ack 501
            read 500
            +20 < F. 501:502 ack 2
            > . 2:2 ack 502
            sees end"
        ),
    ),
    Case::new(
        "a FIN above a hole waits for the data",
        accepted!(
            "< F. 1001:1002 ack 1
            > . 1:1 ack 1 sack 1001-1002
            +20 < . 1:1001 ack 1
            > . 1:1 ack 1002 nosack
            read 1000
            sees end"
        ),
    ),
    Case::new(
        "data that arrives when the application is gone is reset",
        accepted!(
            "close
            > F. 1:2 ack 1
            +20 < . 1:1 ack 2
            +20 < P. 1:501 ack 2
            ours > R. 2:2 ack 501
            linux > R 2:2"
        ),
    )
    .differs("our RST is that of an abort, as where data was not read; Linux answers the segment (RFC 9293 §3.10.7.1)"),
    Case::new(
        "a new SYN opens again while the old connection waits",
        accepted!(
            "finish
            > F. 1:2 ack 1
            +20 < F. 1:2 ack 2
            > . 2:2 ack 2
            +100 < S 1000:1001 mss 1460
            > S. 0:1 new ack 1001
            +20 > nothing"
        ),
    ),
    Case::new(
        "a new SYN with a later timestamp opens again, though its number is an old one",
        in_time_wait_with_timestamps!(
            "+100 < S 4294966000:4294966001 mss 1460 ts 5140/0
            > S. 0:1 new ack 4294966001 ecr 5140
            +20 > nothing"
        ),
    ),
    Case::new(
        "a SYN with an old timestamp opens nothing, though its number is a new one",
        in_time_wait_with_timestamps!(
            "+100 < S 1000:1001 mss 1460 ts 4000/0
            > . 2:2 ack 2
            +20 > nothing"
        ),
    ),
    Case::new(
        "a new SYN without the old connection's timestamps opens again",
        in_time_wait_with_timestamps!(
            "+100 < S 1000:1001 mss 1460
            > S. 0:1 new ack 1001 nots
            +20 > nothing"
        ),
    ),
    Case::new(
        "a new SYN with timestamps that the old connection had not, and an old number",
        accepted!(
            "finish
            > F. 1:2 ack 1
            +20 < F. 1:2 ack 2
            > . 2:2 ack 2
            +100 < S 4294966000:4294966001 mss 1460 ts 5140/0
            ours > S. 0:1 new ack 4294966001 ecr 5140
            linux > . 2:2 ack 2
            +20 > nothing"
        ),
    )
    .differs("RFC 6191 §2 lets timestamps that are new open again; Linux compares with those of the old connection alone"),
    Case::new(
        "who closes without having read resets",
        accepted!(
            "< P. 1:501 ack 1
            > . 1:1 ack 501
            close
            > R. 1:1 ack 501"
        ),
    ),
    Case::new(
        "an abort resets, and later segments too",
        accepted!(
            "write 500
            > . 1:501
            abort
            > R. 501:501 ack 1
            +20 < . 1:1 ack 501
            > R 501:501"
        ),
    ),
    Case::new(
        "a RST after the own FIN ends the connection",
        accepted!(
            "finish
            > F. 1:2 ack 1
            +20 < . 1:1 ack 2
            < R 1:1
            +20 < . 1:1 ack 2
            > R 2:2"
        ),
    ),
    Case::new(
        "a RST in the middle is told",
        accepted!(
            "< R. 1:1 ack 1
            +20 > nothing
            sees reset"
        ),
    ),
];
