//! Reading Mahimahi traces.

use crate::config::Trace;
use ropewalk_units::Duration;
use std::fmt;
use std::str::FromStr;

/// Later times would not fit a nanosecond clock together with a long run: a year in ms.
const LATEST_MS: u64 = 366 * 24 * 3_600_000;

/// Why a text is not a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub problem: TraceProblem,
}

/// What is wrong with a line of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TraceProblem {
    /// Not a whole number of milliseconds.
    NotATime(String),
    /// Earlier than the line before.
    Decreasing {
        /// The time before, in ms.
        before: u64,
        /// The time here, in ms.
        here: u64,
    },
    /// More than a year.
    TooLate(u64),
    /// There is no line.
    Empty,
    /// The last time is zero, so that a repetition would take no time.
    NoDuration,
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.problem {
            TraceProblem::NotATime(text) => {
                write!(f, "expected a time in whole milliseconds, such as 120, found \"{text}\"")
            }
            TraceProblem::Decreasing { before, here } => {
                write!(f, "times must not decrease, but {here} comes after {before}")
            }
            TraceProblem::TooLate(ms) => write!(f, "{ms} ms is more than a year"),
            TraceProblem::Empty => {
                f.write_str("the trace is empty; expected one time in milliseconds per line")
            }
            TraceProblem::NoDuration => {
                f.write_str("the last time must be above zero: the trace repeats from there")
            }
        }
    }
}

impl std::error::Error for TraceError {}

impl Trace {
    /// Reads a Mahimahi trace: one time in ms per line, never decreasing. Empty lines at the end are ignored.
    ///
    /// # Errors
    /// Names the first line that is wrong.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let mut times: Vec<u64> = Vec::new();
        for (line, content) in (1..).zip(text.trim_end().lines()) {
            let before = times.last().copied().unwrap_or(0);
            times.push(parse_line(content, before).map_err(|problem| TraceError { line, problem })?);
        }
        match times.last() {
            None => Err(TraceError { line: 1, problem: TraceProblem::Empty }),
            Some(0) => Err(TraceError { line: times.len(), problem: TraceProblem::NoDuration }),
            Some(_) => Ok(Self { opportunities_ms: times.into() }),
        }
    }
}

impl Trace {
    /// What a link with this trace played before it began, since the trace repeats: the last `length` before its beginning,
    /// in whole milliseconds, as a trace of its own.
    ///
    /// # Panics
    /// When the trace lasts no time.
    #[must_use]
    pub fn preceding(&self, length: Duration) -> Self {
        let period = self.opportunities_ms[self.opportunities_ms.len() - 1];
        let length = length.as_nanos().div_ceil(1_000_000);
        // So much of the trace is over when this one begins.
        let over = (period - length % period) % period;
        let repetitions = (0..).map(|number| number * period);
        let times = repetitions.flat_map(|shift| self.opportunities_ms.iter().map(move |time| shift + time));
        let mut times = times.skip_while(|&time| time < over).map(|time| time - over);
        let mut preceding = Vec::new();
        // One beyond its end, so that it does not repeat within it.
        while preceding.last().is_none_or(|&time| time <= length)
            && let Some(time) = times.next()
        {
            preceding.push(time);
        }
        Self { opportunities_ms: preceding.into() }
    }
}

fn parse_line(content: &str, before: u64) -> Result<u64, TraceProblem> {
    let here: u64 = content.trim().parse().map_err(|_| TraceProblem::NotATime(excerpt(content)))?;
    if here < before {
        return Err(TraceProblem::Decreasing { before, here });
    }
    if here > LATEST_MS {
        return Err(TraceProblem::TooLate(here));
    }
    Ok(here)
}

/// Enough of a line to recognise it: a binary file has long ones.
fn excerpt(content: &str) -> String {
    content.chars().take(40).collect()
}

impl FromStr for Trace {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_read() {
        let trace = Trace::parse("0\n0\n 3 \r\n7\n\n").unwrap();
        assert_eq!(&*trace.opportunities_ms, [0, 0, 3, 7]);
        assert_eq!("5".parse::<Trace>().unwrap().opportunities_ms.len(), 1);
    }

    #[test]
    fn what_precedes_a_trace_is_its_end() {
        let trace = Trace::parse("0\n2\n3\n10\n").unwrap();
        let preceding = |ms: u64| trace.preceding(Duration::from_millis(ms)).opportunities_ms.to_vec();
        // From 4 ms on: 10 and the next 0, at 6; then the 2 behind the end.
        assert_eq!(preceding(6), [6, 6, 8]);
        assert_eq!(preceding(10), [0, 2, 3, 10, 10, 12]);
        // A repetition and what came 3 ms before it, at 10 and 0.
        assert_eq!(preceding(13), [3, 3, 5, 6, 13, 13, 15]);
        assert_eq!(trace.preceding(Duration::from_micros(5_500)).opportunities_ms.to_vec(), preceding(6));
        assert_eq!(preceding(0), [0, 2]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, line, part) in [
            ("", 1, "empty"),
            ("\n \n", 1, "empty"),
            ("0\n0\n", 2, "above zero"),
            ("1\n2\n1\n", 3, "1 comes after 2"),
            ("1\nabc\n", 2, "found \"abc\""),
            ("1\n\n2\n", 2, "found \"\""),
            ("1\n2.5\n", 2, "found \"2.5\""),
            ("-1\n", 1, "found \"-1\""),
            ("1\n99999999999999\n", 2, "year"),
        ] {
            let error = Trace::parse(text).expect_err(text);
            assert_eq!(error.line, line, "{text:?}");
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
