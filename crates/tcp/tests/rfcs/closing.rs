//! FIN, RST and SYN on a connection that is open (RFC 9293 §3.5.3, §3.6, §3.10.7.4; RFC 5961 §3 and §4).

use crate::script::Script;
use crate::script::configs::plain;
use ropewalk_tcp::{CloseReason, Config, Event, OutOfOrder, State};

fn reset() -> Option<Event> {
    Some(Event::Closed(CloseReason::Reset))
}

#[test]
fn a_reset_may_carry_data() {
    let mut s = Script::established(plain());
    s.run("< R 1:101\n > nothing");
    assert_eq!(s.events().last().copied(), reset());
    assert_eq!(s.tcp.readable(), 0);
}

#[test]
fn a_reset_in_the_window_is_challenged_and_otherwise_forgotten() {
    let mut s = Script::established(plain());
    s.run(
        "
        < R 2:2
        > . 1:1 ack 1
        +500 < R 10000:10000
        > . 1:1 ack 1
        +500 < R. 1001:1101 ack 1
        > . 1:1 ack 1
    ",
    );
    assert_eq!(s.tcp.out_of_order(), OutOfOrder::default(), "with its data");
    s.run(
        "
        < . 1:1001 ack 1
        < . 1001:2001 ack 1
        > . 1:1 ack 2001
    ",
    );
    s.assert_state(State::Established);
}

#[test]
fn a_reset_outside_the_window_is_dropped_in_silence() {
    let mut s = Script::established(plain());
    s.run("< R 0:0\n > nothing\n < R 10002:10002\n > nothing\n < R 4000000000:4000000000\n > nothing");
    s.assert_state(State::Established);
}

#[test]
fn a_reset_counts_while_the_window_is_closed() {
    let mut s = Script::established(Config { receive_buffer: 2000, ..plain() });
    s.run(
        "
        < . 1:1001 ack 1
        < . 1001:2001 ack 1
        > . 1:1 ack 2001 win 0
        < R 2000:2000
        < R 2002:2002
        > nothing
        < R 2001:2001
        > nothing
    ",
    );
    assert_eq!(s.events().last().copied(), reset());
}

/// In each state that has seen the handshake through: a SYN, wherever it lies, is answered with where we are.
#[test]
fn a_syn_is_challenged_in_every_state() {
    let ways = [
        (State::Established, "> nothing", "1:1 ack 1"),
        (State::FinWait1, "finish\n > F. 1:2 ack 1", "2:2 ack 1"),
        (State::FinWait2, "finish\n > F. 1:2 ack 1\n < . 1:1 ack 2", "2:2 ack 1"),
        (State::CloseWait, "< F. 1:2 ack 1\n > . 1:1 ack 2", "1:1 ack 2"),
        (State::Closing, "finish\n > F. 1:2\n < F. 1:2 ack 1\n > . 2:2 ack 2", "2:2 ack 2"),
        (State::LastAck, "< F. 1:2 ack 1\n > . 1:1 ack 2\n finish\n > F. 1:2 ack 2", "2:2 ack 2"),
        (State::TimeWait, "finish\n > F. 1:2\n < F. 1:2 ack 2\n > . 2:2 ack 2", "2:2 ack 2"),
    ];
    for (state, way, answer) in ways {
        for syn in ["0:1", "1:2", "2:3", "9000:9001", "30000:30001", "4000000000:4000000001"] {
            let mut s = Script::established(plain());
            s.run(way);
            s.assert_state(state);
            s.run(&format!("< S {syn}\n > . {answer}\n < S. {syn} ack 1"));
            s.assert_state(state);
        }
    }
}

/// … and says nothing more, whatever it acknowledges and carries.
#[test]
fn a_syn_is_dropped_with_its_acknowledgement_and_its_data() {
    let mut s = Script::established(plain());
    s.run("push 500\n > . 1:501\n < S. 1:102 ack 501\n > . 501:501 ack 1");
    assert_eq!((s.tcp.readable(), s.tcp.flight_size()), (0, 500));
    s.run("< SF. 1:103 ack 501\n < . 1:101 ack 501\n +100 > . 501:501 ack 101");
    s.assert_state(State::Established);
}

#[test]
fn the_application_hears_whether_the_peer_closed_or_aborted() {
    let mut closed = Script::established(plain());
    closed.events();
    closed.run("< F. 1:2 ack 1\n > . 1:1 ack 2");
    assert_eq!(closed.events(), [Event::PeerFinished]);
    let mut aborted = Script::established(plain());
    aborted.events();
    aborted.run("< R 1:1");
    assert_eq!(aborted.events(), [Event::Closed(CloseReason::Reset)]);
}

#[test]
fn a_fin_again_restarts_time_wait() {
    let mut s = Script::established(plain());
    s.run("finish\n > F. 1:2\n < F. 1:2 ack 2\n > . 2:2 ack 2");
    s.run("+59999 < F. 1:2 ack 2\n > . 2:2 ack 2\n +59999 > nothing");
    s.assert_state(State::TimeWait);
    s.run("+1 > nothing");
    s.assert_state(State::Closed);
}

#[test]
fn a_restarted_peer_confirms_its_syn_with_a_reset() {
    let mut s = Script::established(plain());
    // Its answer to the challenge begins where the challenge's acknowledgement says.
    s.run("< S 700000:700001\n > . 1:1 ack 1\n +20 < R 1:1\n > nothing");
    assert_eq!(s.events().last().copied(), reset());
}
