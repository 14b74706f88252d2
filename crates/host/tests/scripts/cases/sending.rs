//! What leaves: windows, small segments, marks of congestion.

use super::Case;
use crate::world::Setting;

pub(super) const CASES: &[Case] = &[
    Case::new(
        "a closed window is probed ever more rarely",
        accepted!(
            "write 1000
            > . 1:1001
            +20 < . 1:1 ack 1001 win 0
            write 500
            +220 > . 1000:1000 ack 1
            +1 < . 1:1 ack 1001 win 0
            +439 > . 1000:1000
            +1 < . 1:1 ack 1001 win 0
            +879 > . 1000:1000
            +1 < . 1:1 ack 1001 win 500
            > . 1001:1501 push"
        ),
    ),
    Case::new(
        "what the window does not take waits",
        accepted!(
            "write 2000
            > . 1:1461
            > . 1461:2001 push
            +20 < . 1:1 ack 2001 win 1460
            write 2920
            > . 2001:3461
            +20 > nothing
            < . 1:1 ack 3461 win 5000
            > . 3461:4921 push"
        ),
    ),
    Case::new(
        "a small window is not filled at once",
        accepted!(
            "write 2920
            > . 1:1461
            > . 1461:2921 push
            +20 < . 1:1 ack 2921 win 400
            write 1000
            +100 > nothing
            < . 1:1 ack 2921 win 2000
            > . 2921:3921"
        ),
    ),
    Case::new(
        "a second small segment waits for the first",
        accepted!(
            "write 100
            > . 1:101 push
            write 100
            +10 > nothing
            +10 < . 1:1 ack 101
            > . 101:201 push
            write 1560
            > . 201:1661
            +10 > nothing
            +10 < . 1:1 ack 1661
            > . 1661:1761 push"
        ),
    ),
    Case::new(
        "without Nagle's algorithm it does not",
        accepted!(
            "write 100
            > . 1:101 push
            write 100
            > . 101:201 push"
        ),
    )
    .with(&[Setting::NoDelay]),
    Case::new(
        "slow start sends two segments for each acknowledged",
        ten_on_their_way!(
            "write 14600
            +20 < . 1:1 ack 2921
            > . 14601:16061
            > . 16061:17521
            > . 17521:18981
            > . 18981:20441
            +10 > nothing"
        ),
    ),
    Case::new(
        "a segment that was too long for the path leaves again in pieces",
        accepted!(
            "write 1460
            > . 1:1461
            +20 < too-big 1000 1
            > . 1:961
            > . 961:1461
            +20 < . 1:1 ack 1461
            write 2000
            > . 1461:2421
            > . 2421:3381
            > . 3381:3461 push"
        ),
    ),
    Case::new(
        "a path is tried with full segments again when a router's word is old",
        accepted!(
            "write 1460
            > . 1:1461
            +20 < too-big 1000 1
            > . 1:961
            > . 961:1461
            +20 < . 1:1 ack 1461
            +300 write 1000
            > . 1461:2421
            > . 2421:2461 push
            +20 < . 1:1 ack 2461
            +2000 write 2920
            > . 2461:3921
            > . 3921:5381 push"
        ),
    )
    .with(&[Setting::ShortMtuLifetime]),
    Case::new(
        "two segments that were too long for the path",
        accepted!(
            "write 2920
            > . 1:1461
            > . 1461:2921 push
            +20 < too-big 1000 1
            > . 1:961
            ours > . 961:1461
            ours > . 1461:2421
            ours > . 2421:2921
            linux > . 961:1921
            linux > . 1921:2881
            linux > . 2881:2921
            +20 < . 1:1 ack 2921"
        ),
    )
    .differs("Linux fills its retransmissions from the segment behind; ours are cut from one segment each"),
    Case::new(
        "a path is never taken to carry less than 552 octets",
        accepted!(
            "write 1460
            > . 1:1461
            +20 < too-big 68 1
            > . 1:513
            > . 513:1025
            > . 1025:1461"
        ),
    ),
    Case::new(
        "an echo of congestion shrinks the window, and CWR tells of it",
        "listen
        < SEW 0:1 mss 1460
        > SE. 0:1 ack 1
        +20 < . 1:1 ack 1
        accept
        write 14600
        > . 1:1461 ect
        > . 1461:2921 ect
        > . 2921:4381 ect
        > . 4381:5841 ect
        > . 5841:7301 ect
        > . 7301:8761 ect
        > . 8761:10221 ect
        > . 10221:11681 ect
        > . 11681:13141 ect
        > . 13141:14601 ect
        write 14600
        +20 < .E 1:1 ack 14601
        > .W 14601:16061 ect
        > . 16061:17521
        > . 17521:18981
        > . 18981:20441
        > . 20441:21901
        > . 21901:23361
        > . 23361:24821
        +5 > nothing",
    )
    .with(&[Setting::Ecn]),
];
