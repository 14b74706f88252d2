//! Recorded traffic: a time and a length on each line.

use super::context::Place;
use crate::error::{Diagnostic, ScenarioError};
use crate::schema::application::{RecordedFile, RecordedTable};
use ropewalk_units::Duration;
use ropewalk_wire::Payload;
use std::sync::Arc;

const EXPECTED: &str = "a line for each datagram: µs from the start, a comma, octets of payload";

/// Datagrams of recorded lengths at recorded times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recorded {
    /// Where they stand.
    pub source: RecordedFile,
    /// In the order of their times. There is one at least.
    pub datagrams: Arc<[RecordedDatagram]>,
}

/// One of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordedDatagram {
    /// From the start of the connection.
    pub after: Duration,
    /// Its octets of payload, as a range of all.
    pub payload: Payload,
}

impl Recorded {
    /// Octets of the shortest and of the longest datagram.
    pub fn lengths(&self) -> (u32, u32) {
        let lengths = self.datagrams.iter().map(|datagram| datagram.payload.len);
        (lengths.clone().min().unwrap_or(0), lengths.max().unwrap_or(0))
    }
}

/// Reads the file that the application at `place` names. No datagram has more than `largest` octets.
pub(super) fn recorded(
    place: &Place<'_>,
    table: &RecordedTable,
    largest: u32,
) -> Result<Recorded, ScenarioError> {
    let source = table.read();
    let key = place.key("application.file");
    let (text, path) = place.context.text(&key, &source.file, EXPECTED)?;
    let datagrams = parse(&text, largest).map_err(|Fault { line, message }| {
        ScenarioError::new(Diagnostic {
            file: Some(path),
            line: Some(line),
            column: Some(1),
            key,
            message,
            expected: EXPECTED.to_owned(),
            source_line: text.lines().nth(line - 1).map(|line| line.chars().take(80).collect()),
            ..Diagnostic::default()
        })
    })?;
    Ok(Recorded { source, datagrams: datagrams.into() })
}

/// What is wrong, and in which line (from 1).
#[derive(Debug, PartialEq, Eq)]
struct Fault {
    line: usize,
    message: String,
}

fn parse(text: &str, largest: u32) -> Result<Vec<RecordedDatagram>, Fault> {
    let mut datagrams: Vec<RecordedDatagram> = Vec::new();
    let mut offset = 0;
    for (index, line) in text.lines().enumerate() {
        let fault = |message: String| Fault { line: index + 1, message };
        let (after, len) = read(line).ok_or_else(|| fault("this line is no time and length".into()))?;
        if len == 0 || len > largest {
            return Err(fault(format!(
                "a datagram of {len} octets where 1 to {largest} go through its path"
            )));
        }
        if datagrams.last().is_some_and(|last| after < last.after) {
            return Err(fault("the times go back here".into()));
        }
        datagrams.push(RecordedDatagram { after, payload: Payload { offset, len } });
        offset += u64::from(len);
    }
    if datagrams.is_empty() {
        return Err(Fault { line: 1, message: "no datagram at all".into() });
    }
    Ok(datagrams)
}

/// The time and the length on a line.
fn read(line: &str) -> Option<(Duration, u32)> {
    let (time, octets) = line.split_once(',')?;
    // Thirty years are beyond any recording, and below the overflow of nanoseconds.
    let micros = time.trim().parse().ok().filter(|micros: &u64| *micros < 1_000_000_000_000_000)?;
    Some((Duration::from_micros(micros), octets.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_datagrams() {
        let of = |micros, offset, len| RecordedDatagram {
            after: Duration::from_micros(micros),
            payload: Payload { offset, len },
        };
        let expected = vec![of(0, 0, 100), of(7, 100, 1400), of(7, 1500, 1)];
        assert_eq!(parse("0,100\r\n7, 1400\n7,1", 1400), Ok(expected));
    }

    #[test]
    fn mistakes_name_their_line() {
        for (text, line, word) in [
            ("", 1, "no datagram"),
            ("0,100\n5;100\n", 2, "no time and length"),
            ("0,100\n\n", 2, "no time and length"),
            ("-1,100\n", 1, "no time and length"),
            ("9000000000000000,100\n", 1, "no time and length"),
            ("3,100\n2,100\n", 2, "go back"),
            ("0,0\n", 1, "0 octets"),
            ("0,1401\n", 1, "1401 octets"),
        ] {
            let fault = parse(text, 1400).unwrap_err();
            assert_eq!(fault.line, line, "{text:?}");
            assert!(fault.message.contains(word), "{} lacks {word}", fault.message);
        }
    }
}
