//! Every state with every kind of input: the next state, what is sent, and the timer that runs then.
//!
//! The table is kept in `tests/golden/transitions-tcp.md`. Beside each row stands what RFC 9293 asks, and the next
//! state must be that one: the transitions of its figure 5 are named as the figure does, the others by the paragraph.

use ropewalk_tcp::{Config, Connection, DelayedAck, State};
use ropewalk_testnet::golden;
use ropewalk_units::{Duration, Instant, Seq};
use ropewalk_wire::{Flags, Payload, Segment};
use std::fmt::Write;

const ISS: Seq = Seq::new(1000);
const IRS: Seq = Seq::new(5000);

const STATES: [State; 10] = [
    State::SynSent,
    State::SynReceived,
    State::Established,
    State::FinWait1,
    State::FinWait2,
    State::CloseWait,
    State::Closing,
    State::LastAck,
    State::TimeWait,
    State::Closed,
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Input {
    Close,
    Abort,
    Syn,
    SynAck,
    /// Of all that was sent.
    Ack,
    /// Of more than that.
    AckBeyond,
    /// 100 octets, which acknowledge nothing new.
    Data,
    /// Which acknowledges nothing new.
    Fin,
    /// … and all that was sent.
    FinAck,
    /// With the very number that is expected.
    Rst,
    RstInWindow,
    /// The next timer expires.
    Timer,
    /// … and all after it.
    Timers,
}

const INPUTS: [(Input, &str); 13] = [
    (Input::Close, "CLOSE"),
    (Input::Abort, "ABORT"),
    (Input::Syn, "rcv SYN"),
    (Input::SynAck, "rcv SYN,ACK"),
    (Input::Ack, "rcv ACK of all"),
    (Input::AckBeyond, "rcv ACK of more"),
    (Input::Data, "rcv data"),
    (Input::Fin, "rcv FIN"),
    (Input::FinAck, "rcv FIN,ACK of all"),
    (Input::Rst, "rcv RST as expected"),
    (Input::RstInWindow, "rcv RST in the window"),
    (Input::Timer, "timer"),
    (Input::Timers, "timers to the end"),
];

fn config() -> Config {
    Config {
        delayed_ack: DelayedAck {
            segments: 2,
            timeout: Duration::from_millis(100),
            quick_acks: 0,
            after_reading: false,
        },
        rto_initial: Duration::from_secs(1),
        max_retransmissions: 3,
        max_syn_retransmissions: 2,
        time_wait: Duration::from_secs(60),
        ..Config::classic()
    }
}

/// A connection, and a peer that sends what it is told.
struct Driver {
    tcp: Connection,
    now: Instant,
    sent: Vec<Segment>,
}

impl Driver {
    fn connect() -> Self {
        let now = Instant::ZERO;
        Self { tcp: Connection::connect(config(), ISS, now), now, sent: Vec::new() }.polled()
    }

    fn accept() -> Self {
        let (seq, flags, window) = (IRS, Flags::SYN, 60_000);
        let syn = Segment { seq, flags, window, ..Segment::default() };
        let now = Instant::ZERO;
        Self { tcp: Connection::accept(config(), &syn, ISS, now), now, sent: Vec::new() }.polled()
    }

    fn polled(mut self) -> Self {
        self.poll();
        self
    }

    fn poll(&mut self) {
        while self.tcp.read(u64::MAX).is_some() {}
        while let Some(segment) = self.tcp.poll_transmit(self.now) {
            self.sent.push(segment);
        }
    }

    /// 10 ms later.
    fn feed(&mut self, seq: Seq, ack: Option<Seq>, flags: Flags, len: u32) {
        self.now += Duration::from_millis(10);
        let flags = if ack.is_some() { flags | Flags::ACK } else { flags };
        let payload = Payload { offset: 0, len };
        let ack = ack.unwrap_or_default();
        let segment = Segment { seq, ack, flags, window: 60_000, payload, ..Segment::default() };
        self.tcp.handle_segment(self.now, &segment);
        self.poll();
    }

    /// Lets the next timer expire; false if none runs.
    fn expire(&mut self) -> bool {
        let Some((at, _)) = self.tcp.poll_timeout() else { return false };
        self.now = self.now.max(at);
        self.tcp.handle_timeout(self.now);
        self.poll();
        true
    }

    /// A connection in this state, the way of figure 5.
    fn in_state(state: State) -> Self {
        let from = |state, inputs: &[Input]| {
            let mut driver = Self::in_state(state);
            inputs.iter().for_each(|input| driver.apply(*input));
            driver
        };
        let mut driver = match state {
            State::SynSent => Self::connect(),
            State::SynReceived => Self::accept(),
            State::Established => from(State::SynSent, &[Input::SynAck]),
            State::FinWait1 => from(State::Established, &[Input::Close]),
            State::FinWait2 => from(State::FinWait1, &[Input::Ack]),
            State::CloseWait => from(State::Established, &[Input::Fin]),
            State::Closing => from(State::FinWait1, &[Input::Fin]),
            State::LastAck => from(State::CloseWait, &[Input::Close]),
            State::TimeWait => from(State::FinWait2, &[Input::Fin]),
            State::Closed => from(State::TimeWait, &[Input::Timer]),
        };
        assert_eq!(driver.tcp.state(), state);
        driver.sent.clear();
        driver
    }

    fn apply(&mut self, input: Input) {
        let tcp = &self.tcp;
        let (una, nxt, expected) = (tcp.snd_una(), tcp.snd_nxt(), tcp.rcv_nxt());
        let opening = tcp.state() == State::SynSent;
        let seq = if opening { IRS } else { expected };
        // A peer that has sent its FIN sends it again.
        let fin = if tcp.peer_finished() { seq - 1 } else { seq };
        match input {
            Input::Close => {
                self.tcp.finish();
                self.poll();
            }
            Input::Abort => {
                self.tcp.abort();
                self.poll();
            }
            Input::Syn => self.feed(seq, None, Flags::SYN, 0),
            Input::SynAck => self.feed(IRS, Some(nxt), Flags::SYN, 0),
            Input::Ack => self.feed(seq, Some(nxt), Flags::NONE, 0),
            Input::AckBeyond => self.feed(seq, Some(nxt + 10), Flags::NONE, 0),
            Input::Data => self.feed(seq, Some(una), Flags::NONE, 100),
            Input::Fin => self.feed(fin, Some(una), Flags::FIN, 0),
            Input::FinAck => self.feed(fin, Some(nxt), Flags::FIN, 0),
            Input::Rst => self.feed(seq, opening.then_some(nxt), Flags::RST, 0),
            Input::RstInWindow => self.feed(seq + 10, None, Flags::RST, 0),
            Input::Timer => {
                self.expire();
            }
            Input::Timers => while self.expire() {},
        }
    }

    fn describe_sent(&self) -> String {
        let one = |segment: &Segment| {
            let flags = [(Flags::SYN, "SYN"), (Flags::FIN, "FIN"), (Flags::RST, "RST"), (Flags::ACK, "ACK")];
            let names = flags.iter().filter(|(flag, _)| segment.flags.contains(*flag)).map(|(_, name)| *name);
            let mut text = names.collect::<Vec<_>>().join(",");
            write!(text, " {}", segment.seq.since(ISS)).expect("text");
            if segment.flags.contains(Flags::ACK) {
                write!(text, "/{}", segment.ack.since(IRS)).expect("text");
            }
            text
        };
        golden::sent(self.sent.iter().map(one))
    }

    fn describe_timer(&self) -> String {
        golden::timer(self.now, self.tcp.poll_timeout())
    }

    fn describe_events(&mut self) -> String {
        let events: Vec<String> =
            std::iter::from_fn(|| self.tcp.poll_event()).map(|event| format!("{event:?}")).collect();
        events.last().cloned().unwrap_or_else(|| "–".to_owned())
    }
}

/// What RFC 9293 asks: the next state, and where it says so. "fig. 5" are the transitions of its state diagram.
fn asked(state: State, input: Input) -> (State, &'static str) {
    use State::{
        CloseWait, Closed, Closing, Established, FinWait1, FinWait2, LastAck, SynReceived, SynSent, TimeWait,
    };
    match (state, input) {
        (Closed, Input::Close | Input::Abort | Input::Timer | Input::Timers) => {
            (Closed, "§3.10: no connection")
        }
        (Closed, _) => (Closed, "§3.10.7.1: RST, unless it is one"),
        (_, Input::Close) => on_close(state),
        (Closing | LastAck, Input::Abort) => (Closed, "§3.10.5: no RST"),
        (_, Input::Abort) => (Closed, "§3.10.5"),
        (_, Input::Timer | Input::Timers) => on_timer(state, input),

        (SynSent, Input::Syn) => (SynReceived, "fig. 5: rcv SYN / snd SYN,ACK"),
        (SynSent, Input::SynAck) => (Established, "fig. 5: rcv SYN,ACK / snd ACK"),
        (SynSent, Input::Rst) => (Closed, "§3.10.7.3, second: connection refused"),
        (SynSent, Input::RstInWindow) => (SynSent, "§3.10.7.3, second: no acceptable ACK"),
        (SynSent, Input::Ack | Input::FinAck) => (SynSent, "§3.10.7.3, fifth: neither SYN nor RST"),
        (SynSent, _) => (SynSent, "§3.10.7.3, first: no acceptable ACK"),

        (SynReceived, Input::Rst) => (Closed, "fig. 5: rcv RST (note 1); LISTEN is the host's"),
        (_, Input::Rst) => (Closed, "§3.10.7.4, second"),
        (_, Input::RstInWindow) => (state, "§3.10.7.4, second (RFC 5961 §3.2): challenge ACK"),
        (SynReceived, Input::Syn) => (Closed, "§3.10.7.4, fourth: back to LISTEN, which is the host's"),
        (_, Input::Syn) => (state, "§3.10.7.4, fourth (RFC 5961 §4.2): challenge ACK"),
        (SynReceived, Input::SynAck) => (Established, "§3.5, fig. 7, line 6: both opened at once"),
        (_, Input::SynAck) => (state, "§3.10.7.4, first: not acceptable"),

        (SynReceived, Input::Ack) => (Established, "fig. 5: rcv ACK of SYN / x"),
        (SynReceived, Input::FinAck) => (CloseWait, "fig. 5, twice: rcv ACK of SYN, rcv FIN"),
        (SynReceived, _) => (SynReceived, "§3.10.7.4, fifth: ACK not acceptable"),
        (_, Input::AckBeyond) => (state, "§3.10.7.4, fifth: ACK of what was not sent"),
        (FinWait1, Input::Ack) => (FinWait2, "fig. 5: rcv ACK of FIN / x"),
        (FinWait1, Input::Fin) => (Closing, "fig. 5: rcv FIN / snd ACK"),
        (FinWait1, Input::FinAck) => (TimeWait, "fig. 5, note 2: rcv FIN,ACK of FIN / snd ACK"),
        (FinWait2, Input::Fin | Input::FinAck) => (TimeWait, "fig. 5: rcv FIN / snd ACK"),
        (Established, Input::Fin | Input::FinAck) => (CloseWait, "fig. 5: rcv FIN / snd ACK"),
        (Closing, Input::Ack) => (TimeWait, "fig. 5: rcv ACK of FIN / x"),
        (LastAck, Input::Ack) => (Closed, "fig. 5: rcv ACK of FIN / x"),
        (TimeWait, Input::Fin | Input::FinAck) => {
            (TimeWait, "§3.10.7.4, first: an ACK, and 2 MSL begin again")
        }
        (_, Input::Fin | Input::FinAck) => (state, "§3.10.7.4, first: an old FIN is answered with an ACK"),
        (_, Input::Data) => (state, "§3.10.7.4, seventh"),
        (_, Input::Ack) => (state, "§3.10.7.4, fifth"),
    }
}

fn on_close(state: State) -> (State, &'static str) {
    match state {
        State::SynSent => (State::Closed, "fig. 5: CLOSE / delete TCB"),
        State::SynReceived | State::Established => (State::FinWait1, "fig. 5: CLOSE / snd FIN"),
        State::CloseWait => (State::LastAck, "fig. 5: CLOSE / snd FIN"),
        _ => (state, "§3.10.4: closing already"),
    }
}

fn on_timer(state: State, input: Input) -> (State, &'static str) {
    let last = input == Input::Timers;
    match state {
        State::TimeWait => (State::Closed, "fig. 5: Timeout=2MSL / delete TCB"),
        State::SynSent | State::SynReceived | State::FinWait1 | State::Closing | State::LastAck if last => {
            (State::Closed, "§3.8.3: after R2")
        }
        State::Established | State::CloseWait => (state, "§3.10.8: no timer needs to run"),
        State::FinWait2 => (state, "§3.10.8: no timer needs to run"),
        _ => (state, "§3.8.1: sent again"),
    }
}

/// Where the connection goes another way, and why.
const OTHERWISE: [(State, Input, State, &str); 3] = [
    (State::SynSent, Input::Close, State::SynSent, "the FIN waits for the handshake; ABORT deletes"),
    (
        State::SynReceived,
        Input::Close,
        State::SynReceived,
        "the FIN waits for the handshake, as §3.10.4 has it with data",
    ),
    (
        State::SynReceived,
        Input::Syn,
        State::SynReceived,
        "a blind SYN must not undo an opening; the SYN/ACK comes again",
    ),
];

/// Figure 5 says what a transition sends, after the slash.
fn sends_as_drawn(text: &str, sent: &[Segment]) -> bool {
    let same = |a: Flags, b: Flags, flag| a.contains(flag) == b.contains(flag);
    let equal =
        |a, b| [Flags::SYN, Flags::FIN, Flags::RST, Flags::ACK].into_iter().all(|flag| same(a, b, flag));
    let has = |flags: Flags| sent.iter().any(|segment| equal(segment.flags, flags));
    match text.rsplit(" / ").next().expect("split yields one part at least") {
        "snd SYN,ACK" => has(Flags::SYN | Flags::ACK),
        "snd FIN" => has(Flags::FIN | Flags::ACK),
        "snd ACK" => has(Flags::ACK),
        "x" | "delete TCB" => sent.is_empty(),
        _ => true,
    }
}

#[test]
fn every_state_answers_every_input_as_the_rfc_asks_and_as_it_did() {
    let mut table = String::from(
        "# TCP: states, inputs, transitions\n\n\
         `crates/tcp/tests/transitions.rs` makes this table. Sequence numbers count from the initial ones; a FIN that\n\
         was there comes again. LISTEN belongs to the host: `Connection::accept` is its rcv SYN / snd SYN,ACK,\n\
         `Connection::connect` the active OPEN.\n",
    );
    for state in STATES {
        let driver = Driver::in_state(state);
        write!(table, "\n## {state:?}\n\nTimer: {}.\n\n", driver.describe_timer()).expect("text");
        table += "| input | next state | sent | timer | event | RFC 9293 |\n|---|---|---|---|---|---|\n";
        for (input, name) in INPUTS {
            let mut driver = Driver::in_state(state);
            while driver.tcp.poll_event().is_some() {}
            driver.apply(input);
            let next = driver.tcp.state();
            let (sent, timer) = (driver.describe_sent(), driver.describe_timer());
            let event = driver.describe_events();
            let (mut wanted, text) = asked(state, input);
            let mut remark = text.to_owned();
            if let Some((.., other, why)) = OTHERWISE.iter().find(|row| (row.0, row.1) == (state, input)) {
                assert_ne!(wanted, *other, "{state:?}, {name}: no exception");
                remark = format!("{text}: {wanted:?}. Not so here: {why}");
                wanted = *other;
            } else if text.starts_with("fig. 5") {
                assert!(sends_as_drawn(text, &driver.sent), "{state:?}, {name}: {sent} for {text}");
            }
            assert_eq!(next, wanted, "{state:?}, {name}: {text}");
            writeln!(table, "| {name} | {next:?} | {sent} | {timer} | {event} | {remark} |").expect("text");
        }
    }
    golden::check("transitions-tcp.md", &table);
}
