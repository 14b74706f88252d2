//! Loss detection by time (RFC 8985).

use crate::script::Script;
use crate::script::configs::rack;

#[test]
fn without_sack_three_duplicates_are_what_counts() {
    let mut s = Script::connect(rack());
    s.run(
        "
        > S 0:1 sackok
        +20 < S. 0:1 ack 1 mss 1000
        > . 1:1 ack 1
        push 4000
        > . 1:1001
        > . 1001:2001
        > . 2001:3001
        > . 3001:4001
        +20 < . 1:1 ack 1
        < . 1:1 ack 1
        +15 > nothing
        < . 1:1 ack 1
        > . 1:1001
    ",
    );
}
