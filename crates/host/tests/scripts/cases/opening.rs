//! Handshakes (RFC 9293 §3.5) and their options.

use super::Case;
use crate::world::Setting;

const SYN_AT_ONCE: &str = "after an ACK that is none of its SYN Linux sends the SYN again after two ticks of its clock, so that the open does not wait for a peer \
                           that remembers an older connection";

pub(super) const CASES: &[Case] = &[
    Case::new(
        "an active open offers its options, and takes the peer's",
        "connect
        > S 0:1 mss 1460 wscale 7 sackok stamped notect
        +20 < S. 0:1 ack 1 mss 1400 wscale 5 sackok ts 7/0
        > . 1:1 ack 1 ecr 7
        sees established
        write 1388
        > . 1:1389 ack 1 push ecr 7",
    ),
    Case::new(
        "an active open with a peer without options",
        "connect
        > S 0:1 mss 1460
        +20 < S. 0:1 ack 1
        > . 1:1 ack 1 nots
        write 1000
        > . 1:537 nots
        > . 537:1001 nots push",
    ),
    Case::new(
        "a passive open answers with what was offered",
        "listen
        < S 0:1 mss 1460 wscale 4 sackok ts 50/0
        > S. 0:1 ack 1 mss 1460 wscale 7 sackok ecr 50
        +20 < . 1:1 ack 1 ts 70/0
        accept
        sees established",
    ),
    Case::new(
        "a passive open offers nothing that was not offered",
        "listen
        < S 0:1 mss 1460
        > S. 0:1 ack 1 mss 1460 nowscale nosackok nots
        +20 < . 1:1 ack 1
        accept",
    ),
    Case::new(
        "an MSS above the path's is cut to it",
        "listen
        < S 0:1 mss 9000
        > S. 0:1 ack 1 mss 1460
        +20 < . 1:1 ack 1
        accept
        write 3000
        > . 1:1461
        > . 1461:2921
        > . 2921:3001 push",
    ),
    Case::new(
        "without an MSS option it is 536",
        "listen
        < S 0:1
        > S. 0:1 ack 1 mss 1460
        +20 < . 1:1 ack 1
        accept
        write 1000
        > . 1:537
        > . 537:1001 push",
    ),
    Case::new(
        "a window is scaled by the peer's shift",
        "listen
        < S 0:1 mss 1460 wscale 7 win 2944
        > S. 0:1 ack 1 wscale 7
        +20 < . 1:1 ack 1 win 23
        accept
        write 5840
        > . 1:1461
        > . 1461:2921
        +10 > nothing
        +10 < . 1:1 ack 2921 win 23
        > . 2921:4381
        > . 4381:5841",
    ),
    Case::new(
        "a peer with a window below two segments",
        "listen
        < S 0:1 mss 1460 win 2000
        > S. 0:1 ack 1
        +20 < . 1:1 ack 1 win 2000
        accept
        write 4000
        ours > . 1:1461
        linux > . 1:1001
        linux > . 1001:2001
        +10 > nothing",
    )
    .differs("Linux sends no segment above half of the largest window that the peer has offered; we send full ones, and what is left of the window waits (RFC 9293 §3.8.6.2.1)"),
    Case::new(
        "both open at once",
        "connect
        > S 0:1
        +5 < S 0:1 mss 1460
        > S. 0:1 ack 1
        +5 < S. 0:1 ack 1 mss 1460
        > . 1:1 ack 1
        sees established",
    ),
    Case::new(
        "a SYN without an answer comes again",
        "connect
        > S 0:1 mss 1460
        +1000 > S 0:1 mss 1460",
    ),
    Case::new(
        "a second SYN without an answer comes later",
        "connect
        > S 0:1 mss 1460
        +1000 > S 0:1 mss 1460
        ours +2000 > S 0:1 mss 1460
        linux +1000 > S 0:1 mss 1460",
    )
    .differs("Linux sends the first five SYNs a second apart (`tcp_syn_linear_timeouts`); we back off at once (RFC 6298 §5.5)"),
    Case::new(
        "a SYN/ACK without an answer comes again, ever more rarely",
        "listen
        < S 0:1 mss 1460
        > S. 0:1 ack 1
        +1000 > S. 0:1 ack 1
        +2000 > S. 0:1 ack 1",
    ),
    Case::new(
        "a SYN again gets the SYN/ACK again",
        "listen
        < S 0:1 mss 1460
        > S. 0:1 ack 1
        +600 < S 0:1 mss 1460
        > S. 0:1 ack 1
        +20 < . 1:1 ack 1
        accept",
    ),
    Case::new(
        "data comes with the third segment",
        "listen
        < S 0:1 mss 1460
        > S. 0:1 ack 1
        +20 < P. 1:101 ack 1
        > . 1:1 ack 101
        accept
        read 100",
    ),
    Case::new(
        "an open is refused by a RST",
        "connect
        > S 0:1
        +20 < R. 0:0 ack 1
        +50 > nothing
        sees refused",
    ),
    Case::new(
        "a RST that does not acknowledge the SYN refuses nothing",
        "connect
        > S 0:1
        +20 < R. 0:0 ack 0
        < R 0:0
        linux +8 > S 0:1
        +20 < S. 0:1 ack 1 mss 1460
        > . 1:1 ack 1
        sees established",
    )
    .differs(SYN_AT_ONCE),
    Case::new(
        "an ACK of nothing sent is reset while the SYN waits",
        "connect
        > S 0:1
        +20 < . 5:5 ack 77
        > R 77:77
        linux +8 > S 0:1
        +20 < S. 0:1 ack 1 mss 1460
        > . 1:1 ack 1",
    )
    .differs(SYN_AT_ONCE),
    Case::new(
        "an ACK of nothing sent is reset while the SYN/ACK waits",
        "listen
        < S 0:1 mss 1460
        > S. 0:1 ack 1
        +20 < . 1:1 ack 77
        > R 77:77
        +20 < . 1:1 ack 1
        accept",
    ),
    Case::new(
        "where nobody listens a SYN is reset",
        "< S 0:1 mss 1460
        > R. 0:0 ack 1
        < . 1:1 ack 55
        > R 55:55
        < R 1:1
        +20 > nothing",
    ),
    Case::new(
        "the initial window is ten segments",
        ten_on_their_way!(
            "write 2920
            +10 > nothing
            +10 < . 1:1 ack 2921
            > . 14601:16061
            > . 16061:17521 push"
        ),
    ),
    Case::new(
        "a SYN cookie has the MSS in it",
        "listen
        < S 0:1 mss 1460 wscale 5 sackok
        > S. 0:1 ack 1 mss 1460 nowscale nosackok
        +20 < . 1:1 ack 1
        accept
        write 1460
        > . 1:1461 push",
    )
    .with(&[Setting::Cookies]),
    Case::new(
        "a SYN cookie has the other options in its timestamp",
        "listen
        < S 0:1 mss 1460 wscale 5 sackok ts 50/0
        > S. 0:1 ack 1 mss 1460 wscale 7 sackok ecr 50
        +20 < . 1:1 ack 1 win 460 ts 70/0
        accept
        write 2896
        > . 1:1449 ecr 70
        > . 1449:2897 ecr 70
        +2 < . 1449:1549 ack 1 win 460 ts 72/0
        > . 2897:2897 ack 1 sack 1449-1549",
    )
    .with(&[Setting::Cookies]),
    Case::new(
        "data brings a SYN cookie back",
        "listen
        < S 0:1 mss 1460
        > S. 0:1 ack 1
        +20 < P. 1:101 ack 1
        > . 1:1 ack 101
        accept
        read 100",
    )
    .with(&[Setting::Cookies]),
    Case::new(
        "a SYN cookie that was guessed is reset",
        "listen
        < S 0:1 mss 1460
        > S. 0:1 ack 1
        +20 < . 1:1 ack 2
        > R 2:2
        +20 < . 1:1 ack 1
        accept",
    )
    .with(&[Setting::Cookies]),
    Case::new(
        "ECN is agreed on, and data says so",
        "connect
        > SEW 0:1 notect
        +20 < SE. 0:1 ack 1 mss 1460
        > . 1:1 ack 1 notect
        write 1460
        > . 1:1461 ect",
    )
    .with(&[Setting::Ecn]),
    Case::new(
        "ECN is agreed on with a peer that asks for it",
        "listen
        < SEW 0:1 mss 1460
        > SE. 0:1 ack 1 notect
        +20 < . 1:1 ack 1
        accept
        write 1460
        > . 1:1461 ect",
    )
    .with(&[Setting::Ecn]),
    Case::new(
        "a SYN/ACK that sets both bits agrees on nothing",
        "connect
        > SEW 0:1
        +20 < SEW. 0:1 ack 1 mss 1460
        ours > . 1:1 ack 1
        linux > .W 1:1 ack 1
        write 1460
        ours > . 1:1461 notect
        linux > .E 1:1461 ect",
    )
    .with(&[Setting::Ecn])
    .differs("Linux 6.18 takes the answer for one of Accurate ECN, which it did not ask for; RFC 3168 §6.1.1 takes it for none"),
    Case::new(
        "a SYN that comes again asks for no ECN",
        "connect
        > SEW 0:1
        +1000 > S 0:1",
    )
    .with(&[Setting::Ecn]),
];
