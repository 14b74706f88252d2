//! Every state of the end of a connection with every kind of input, on two subflows: the next state, what is sent, and
//! the timer that runs then.
//!
//! The states are those of RFC 8684, figure 22 (appendix D); the table is kept in `tests/golden/transitions-mptcp.md`.
//! Beside each row stands what the RFC asks, and the next state must be that one.

use crate::script::{PEER_KEY, Script, config};
use ropewalk_mptcp::{Event, SubflowId, keys};
use ropewalk_testnet::golden;
use ropewalk_units::Duration;
use ropewalk_wire::{DataAck, Flags, Segment};
use std::fmt::Write;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Estab,
    FinWait1,
    FinWait2,
    CloseWait,
    Closing,
    LastAck,
    TimeWait,
    Closed,
}

const STATES: [(State, &str); 8] = [
    (State::Estab, "M_ESTAB"),
    (State::FinWait1, "M_FIN WAIT-1"),
    (State::FinWait2, "M_FINWAIT-2"),
    (State::CloseWait, "M_CLOSE WAIT"),
    (State::Closing, "M_CLOSING"),
    (State::LastAck, "M_LAST-ACK"),
    (State::TimeWait, "M_TIME WAIT"),
    (State::Closed, "M_CLOSED"),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Input {
    Close,
    Abort,
    /// DATA_ACK of the DATA_FIN, or of all that was sent.
    DataAck,
    DataFin,
    /// … with the DATA_ACK.
    DataFinAck,
    /// 100 octets that come before a DATA_FIN.
    Data,
    /// A FIN on one of the two subflows.
    Fin,
    /// FINs on both, which acknowledge ours.
    Fins,
    FastClose,
    /// RSTs on both subflows.
    Resets,
    /// The next timer expires.
    Timer,
    /// … and all after it, for an hour.
    Timers,
}

const INPUTS: [(Input, &str); 12] = [
    (Input::Close, "M_CLOSE"),
    (Input::Abort, "M_ABORT"),
    (Input::DataAck, "rcv DATA_ACK of all"),
    (Input::DataFin, "rcv DATA_FIN"),
    (Input::DataFinAck, "rcv DATA_FIN, DATA_ACK of all"),
    (Input::Data, "rcv data"),
    (Input::Fin, "rcv FIN on one subflow"),
    (Input::Fins, "rcv FIN on both"),
    (Input::FastClose, "rcv MP_FASTCLOSE"),
    (Input::Resets, "rcv RST on both"),
    (Input::Timer, "timer"),
    (Input::Timers, "timers, an hour"),
];

/// A connection that accepted, with two subflows, and what it has told so far.
struct Driver {
    script: Script,
    events: Vec<Event>,
    /// The peer's DATA_FIN was there when ours was wanted.
    passive: bool,
    finishes: bool,
    sent: Vec<(SubflowId, Segment)>,
}

impl Driver {
    fn in_state(state: State) -> Self {
        let from = |state, inputs: &[Input]| {
            let mut driver = Self::in_state(state);
            inputs.iter().for_each(|input| driver.apply(*input));
            driver
        };
        let mut driver = match state {
            State::Estab => {
                let mut script = Script::server(config());
                script.join();
                Self { script, events: Vec::new(), passive: false, finishes: false, sent: Vec::new() }
            }
            State::FinWait1 => from(State::Estab, &[Input::Close]),
            State::FinWait2 => from(State::FinWait1, &[Input::DataAck]),
            State::CloseWait => from(State::Estab, &[Input::DataFin]),
            State::Closing => from(State::FinWait1, &[Input::DataFin]),
            State::LastAck => from(State::CloseWait, &[Input::Close]),
            State::TimeWait => from(State::FinWait2, &[Input::DataFin]),
            State::Closed => from(State::TimeWait, &[Input::Fins]),
        };
        assert_eq!(driver.state(), state);
        driver.sent.clear();
        driver
    }

    fn has(&self, event: &Event) -> bool {
        self.events.contains(event)
    }

    /// As figure 22 would call it, from what an application is told.
    fn state(&mut self) -> State {
        self.events.extend(self.script.events());
        let failed = self.events.iter().any(|event| matches!(event, Event::Failed(_)));
        let (peer, acknowledged) = (self.has(&Event::PeerFinished), self.has(&Event::FinishAcknowledged));
        match (self.finishes, acknowledged, peer) {
            _ if failed || self.has(&Event::Closed) => State::Closed,
            (false, _, false) => State::Estab,
            (false, _, true) => State::CloseWait,
            (true, false, false) => State::FinWait1,
            (true, true, false) => State::FinWait2,
            (true, false, true) if self.passive => State::LastAck,
            (true, false, true) => State::Closing,
            (true, true, true) => State::TimeWait,
        }
    }

    fn apply(&mut self, input: Input) {
        self.events.extend(self.script.events());
        // DATA_FIN counts as one octet, and nobody sends another.
        let acknowledged = u32::from(self.finishes);
        let lines = match input {
            Input::Close => {
                self.passive |= !self.finishes && self.has(&Event::PeerFinished);
                self.finishes = true;
                "finish".to_owned()
            }
            Input::Abort => "abort".to_owned(),
            Input::DataAck => format!("+10 0 < . 1:1 ack 1 win 60000 dack {acknowledged}"),
            Input::DataFin => "+10 0 < . 1:1 ack 1 win 60000 dack 0 map 0 0 1 fin".to_owned(),
            Input::DataFinAck => format!("+10 0 < . 1:1 ack 1 win 60000 dack {acknowledged} map 0 0 1 fin"),
            Input::Data => "+10 0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100\n read".to_owned(),
            Input::Fin => "+10 1 < F. 1:2 ack 1 win 60000".to_owned(),
            Input::Fins => {
                // Our FINs are there once both DATA_FINs are acknowledged.
                let ack = if self.state() == State::TimeWait { 2 } else { 1 };
                format!("+10 0 < F. 1:2 ack {ack} win 60000\n 1 < F. 1:2 ack {ack} win 60000")
            }
            Input::FastClose => "+10 0 < . 1:1 ack 1 win 60000 fastclose".to_owned(),
            Input::Resets => "+10 0 < R 1:1\n 1 < R 1:1".to_owned(),
            Input::Timer => return self.wait(1),
            Input::Timers => return self.wait(usize::MAX),
        };
        lines.lines().for_each(|line| self.run(line));
    }

    fn run(&mut self, line: &str) {
        self.script.run(line);
        self.sent.extend(self.script.take_out());
    }

    /// Lets so many timers expire, those within an hour.
    fn wait(&mut self, timers: usize) {
        let end = self.script.now + Duration::from_secs(3600);
        for _ in 0..timers {
            let Some((at, _)) = self.script.connection.poll_timeout().filter(|(at, _)| *at <= end) else {
                return;
            };
            let milliseconds = at.max(self.script.now).saturating_since(self.script.now).as_nanos();
            self.run(&format!("+{} read", milliseconds.div_ceil(1_000_000)));
        }
    }

    fn describe_sent(&self) -> String {
        golden::sent(self.sent.iter().map(describe))
    }

    fn describe_timer(&self) -> String {
        golden::timer(self.script.now, self.script.connection.poll_timeout())
    }
}

/// The subflow, flags of TCP, and what the options say of the end.
fn describe((id, segment): &(SubflowId, Segment)) -> String {
    let mut text = format!("{}:", id.0);
    for (flag, name) in [(Flags::FIN, " FIN"), (Flags::RST, " RST")] {
        text += if segment.flags.contains(flag) { name } else { "" };
    }
    if let Some(dss) = &segment.options.mptcp.dss {
        text += if dss.data_fin() { " DATA_FIN" } else { "" };
        let low = |ack: DataAck| match ack {
            DataAck::Long(dsn) => dsn.get() as u32,
            DataAck::Short(low) => low,
        };
        let first = (keys::initial_dsn(PEER_KEY) + 1).get() as u32;
        if let Some(ack) = dss.data_ack() {
            write!(text, " DATA_ACK {}", low(ack).wrapping_sub(first)).expect("text");
        }
    }
    for option in segment.options.mptcp.rare() {
        let name = format!("{option:?}");
        write!(text, " {}", name.split(['(', ' ']).next().expect("a name")).expect("text");
    }
    if text.ends_with(':') { text + " ACK" } else { text }
}

/// What RFC 8684 asks: the next state, and where it says so.
fn asked(state: State, input: Input) -> (State, &'static str) {
    use State::{CloseWait, Closed, Closing, Estab, FinWait1, FinWait2, LastAck, TimeWait};
    match (state, input) {
        (Closed, _) => (Closed, "no connection"),
        (Estab, Input::Close) => (FinWait1, "fig. 22: M_CLOSE / snd DATA_FIN"),
        (CloseWait, Input::Close) => (LastAck, "fig. 22: M_CLOSE / snd DATA_FIN"),
        (_, Input::Close) => (state, "closing already"),
        (_, Input::Abort) => (Closed, "§3.5: MP_FASTCLOSE"),
        (_, Input::FastClose) => (Closed, "§3.5: closed by MP_FASTCLOSE"),
        (FinWait1, Input::DataAck) => {
            (FinWait2, "fig. 22: rcv DATA_ACK[DFIN]; the subflows stay for what the peer may send")
        }
        (Closing, Input::DataAck | Input::DataFinAck) => {
            (TimeWait, "fig. 22: rcv DATA_ACK[DFIN] / CLOSE all subflows")
        }
        (LastAck, Input::DataAck | Input::DataFinAck) => {
            (TimeWait, "fig. 22: rcv DATA_ACK[DFIN] / CLOSE all subflows; M_CLOSED once they are")
        }
        (_, Input::DataAck) => (state, "§3.3.2: nothing new"),
        (Estab, Input::DataFin | Input::DataFinAck) => {
            (CloseWait, "fig. 22: rcv DATA_FIN / snd DATA_ACK[DFIN]")
        }
        (FinWait1, Input::DataFin) => (Closing, "fig. 22: rcv DATA_FIN / snd DATA_ACK"),
        (FinWait1, Input::DataFinAck) => (TimeWait, "fig. 22, twice: rcv DATA_ACK[DFIN], rcv DATA_FIN"),
        (FinWait2, Input::DataFin | Input::DataFinAck) => {
            (TimeWait, "fig. 22: rcv DATA_FIN / snd DATA_ACK[DFIN]")
        }
        (_, Input::DataFin | Input::DataFinAck) => (state, "§3.3.3: the DATA_FIN was there"),
        (_, Input::Data) => (state, "§3.3.1"),
        (TimeWait, Input::Fins | Input::Resets) => {
            (Closed, "fig. 22: all subflows in CLOSED / delete MPTCP PCB")
        }
        (_, Input::Fin) => (state, "§3.3.3: a FIN ends its subflow only"),
        (_, Input::Fins | Input::Resets) => (state, "§3.3.3: break before make, up to a timeout"),
        (TimeWait, Input::Timers) => {
            (Closed, "fig. 22: all subflows in CLOSED / delete MPTCP PCB; here after R2")
        }
        (FinWait1 | Closing | LastAck, Input::Timer) => (state, "§3.3.3: the DATA_FIN is sent again"),
        (FinWait1 | Closing | LastAck, Input::Timers) => (Closed, "§3.3.3: given up at last"),
        (_, Input::Timer) => (state, "nothing to wait for"),
        (_, Input::Timers) => (state, "nothing to wait for"),
    }
}

/// Figure 22 says what a transition sends, after the slash.
fn sends_as_drawn(text: &str, sent: &str) -> bool {
    match text.rsplit(" / ").next().expect("split yields one part at least") {
        "snd DATA_FIN" => sent.contains("DATA_FIN"),
        "snd DATA_ACK" | "snd DATA_ACK[DFIN]" => sent.contains("DATA_ACK 1"),
        "CLOSE all subflows" | "CLOSE all subflows; M_CLOSED once they are" => {
            sent.contains("0: FIN") && sent.contains("1: FIN")
        }
        _ => true,
    }
}

#[test]
fn every_state_answers_every_input_as_the_rfc_asks_and_as_it_did() {
    let mut table = String::from(
        "# Multipath TCP: the end of a connection\n\n\
         `crates/mptcp/tests/packets/transitions.rs` makes this table, for a connection with two subflows and\n\
         no data. Sent segments begin with the number of their subflow.\n",
    );
    for (state, name) in STATES {
        let driver = Driver::in_state(state);
        write!(table, "\n## {name}\n\nTimer: {}.\n\n", driver.describe_timer()).expect("text");
        table += "| input | next state | sent | timer | RFC 8684 |\n|---|---|---|---|---|\n";
        for (input, input_name) in INPUTS {
            let mut driver = Driver::in_state(state);
            driver.apply(input);
            let next = driver.state();
            let (sent, timer) = (driver.describe_sent(), driver.describe_timer());
            let (wanted, text) = asked(state, input);
            assert_eq!(next, wanted, "{name}, {input_name}: {text}");
            assert!(sends_as_drawn(text, &sent), "{name}, {input_name}: {sent} for {text}");
            let next = STATES.iter().find(|(state, _)| *state == next).expect("all of them").1;
            writeln!(table, "| {input_name} | {next} | {sent} | {timer} | {text} |").expect("text");
        }
    }
    golden::check("transitions-mptcp.md", &table);
}
