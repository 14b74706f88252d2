//! The language of the scripts.
//!
//! A script is a list of lines. A line may begin with `ours` or `linux`: then it holds in that
//! world alone. `+N` lets N milliseconds pass first. Then one of:
//!
//! ```text
//! listen | accept | connect                    the application opens
//! write N | read N | finish | close | abort    … goes on: `finish` ends its own stream,
//!                                              `close` gives up the other one too
//! sees established | end | reset | refused | timeout   what it is told
//! < FLAGS FROM:TO [ack N] [win N] …            a segment arrives
//! < too-big MTU FROM                           … or an ICMP message about a segment
//!                                              that began there
//! > FLAGS FROM:TO [ack N] [win N] …            a segment must leave at this time,
//!                                              with these fields
//! > nothing                                    nothing leaves until this time
//! ```
//!
//! FLAGS are of `S F R P . E W`, or `-` for none; P is not compared. Numbers count from the initial
//! sequence numbers, so that data begins at 1. Further fields: `mss N`, `wscale N`, `sackok`,
//! `sack A-B,C-D`, `ts V/E`, `ce`. Of a segment that must leave: `ecr E`, `stamped`, `nots`,
//! `nowscale`, `nosackok`, `nosack`, `new` (of another connection), `push`, `nopush`, `ect`,
//! `notect`. A TSecr counts from the first TSval of the host that is tried. Fields that a line does
//! not name are not compared, but the octets of data are always.

use ropewalk_testnet::words::number;
use ropewalk_units::Duration;

/// Where a line holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Where {
    Everywhere,
    Ours,
    Linux,
}

/// What the application does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Act {
    Listen,
    Accept,
    Connect,
    /// So many octets.
    Write(usize),
    /// So many octets must be there.
    Read(usize),
    Finish,
    Close,
    Abort,
}

/// What the application is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Told {
    Established,
    End,
    Reset,
    Refused,
    Timeout,
    /// None of them.
    Nothing,
}

/// What a line is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Step<'a> {
    Act(Act),
    Sees(Told),
    /// The words of a segment that arrives.
    Arrives(Vec<&'a str>),
    TooBig {
        mtu: u32,
        from: u32,
    },
    /// The words of a segment that must leave.
    Leaves(Vec<&'a str>),
    Silence,
}

/// One line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Line<'a> {
    pub(crate) text: &'a str,
    pub(crate) place: Where,
    pub(crate) after: Duration,
    pub(crate) step: Step<'a>,
}

/// The lines of a script.
///
/// # Panics
/// At a line that is not understood.
pub(crate) fn lines(script: &str) -> Vec<Line<'_>> {
    script.lines().map(str::trim).filter(|line| !line.is_empty()).map(line).collect()
}

fn line(text: &str) -> Line<'_> {
    let mut words = text.split_whitespace().peekable();
    let place = match words.peek() {
        Some(&"ours") => Where::Ours,
        Some(&"linux") => Where::Linux,
        _ => Where::Everywhere,
    };
    if place != Where::Everywhere {
        words.next();
    }
    let after = words.next_if(|word| word.starts_with('+')).map_or(0, |word| number(&word[1..]));
    let words = words.collect::<Vec<_>>();
    let step = step(&words).unwrap_or_else(|| panic!("not understood: {text}"));
    Line { text, place, after: Duration::from_millis(after), step }
}

fn step<'a>(words: &[&'a str]) -> Option<Step<'a>> {
    Some(match *words {
        ["<", "too-big", mtu, from] => Step::TooBig { mtu: number(mtu), from: number(from) },
        ["<", ref segment @ ..] => Step::Arrives(segment.to_vec()),
        [">", "nothing"] => Step::Silence,
        [">", ref segment @ ..] => Step::Leaves(segment.to_vec()),
        ["sees", what] => Step::Sees(told(what)?),
        ["listen"] => Step::Act(Act::Listen),
        ["accept"] => Step::Act(Act::Accept),
        ["connect"] => Step::Act(Act::Connect),
        ["write", octets] => Step::Act(Act::Write(number(octets))),
        ["read", octets] => Step::Act(Act::Read(number(octets))),
        ["finish"] => Step::Act(Act::Finish),
        ["close"] => Step::Act(Act::Close),
        ["abort"] => Step::Act(Act::Abort),
        _ => return None,
    })
}

fn told(word: &str) -> Option<Told> {
    Some(match word {
        "established" => Told::Established,
        "end" => Told::End,
        "reset" => Told::Reset,
        "refused" => Told::Refused,
        "timeout" => Told::Timeout,
        "nothing" => Told::Nothing,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_where_when_and_what() {
        let lines = lines("listen\n linux +40 > . 1:1 ack 5\n\n ours sees end\n +7 < too-big 1200 1");
        assert_eq!(lines.len(), 4);
        assert_eq!((lines[0].place, &lines[0].step), (Where::Everywhere, &Step::Act(Act::Listen)));
        assert_eq!((lines[1].place, lines[1].after), (Where::Linux, Duration::from_millis(40)));
        assert_eq!(lines[1].step, Step::Leaves(vec![".", "1:1", "ack", "5"]));
        assert_eq!((lines[2].place, &lines[2].step), (Where::Ours, &Step::Sees(Told::End)));
        assert_eq!(lines[3].step, Step::TooBig { mtu: 1200, from: 1 });
    }

    #[test]
    #[should_panic(expected = "not understood")]
    fn a_line_that_means_nothing_is_not_skipped() {
        lines("listen\nrest");
    }
}
