//! Mahimahi traces: a time in ms on each line.

use ropewalk_sim::Trace;

/// What is wrong with a trace, and in which line (from 1).
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TraceFault {
    pub(super) line: usize,
    pub(super) message: String,
    /// The line.
    pub(super) text: String,
}

/// The trace that a file holds.
pub(super) fn parse(content: &[u8]) -> Result<Trace, TraceFault> {
    Ok(Trace { opportunities_ms: times(content)?.into() })
}

fn times(content: &[u8]) -> Result<Vec<u64>, TraceFault> {
    let mut times = Vec::new();
    let mut last = 0;
    for (index, line) in content.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let shown = String::from_utf8_lossy(line);
        let text = shown.trim();
        let fault = |message: &str| TraceFault {
            line: index + 1,
            message: message.to_owned(),
            // A binary file has lines of any length.
            text: text.chars().take(80).collect(),
        };
        let time: u64 = text.parse().map_err(|_| fault("this line of the trace is not a time in ms"))?;
        if time < last {
            return Err(fault("the times of the trace go back here"));
        }
        // Far beyond any recording, and far below the overflow of nanoseconds.
        if time > 1_000_000_000_000 {
            return Err(fault("this time is more than 30 years into the trace"));
        }
        if !line.ends_with(b"\n") {
            return Err(fault("the trace ends within this line: it looks truncated"));
        }
        last = time;
        times.push(time);
    }
    let whole = |message: &str| TraceFault { line: 1, message: message.to_owned(), text: String::new() };
    match times.last() {
        None => Err(whole("the trace is empty")),
        Some(0) => Err(whole("the trace lasts no time: its last opportunity is at 0 ms")),
        Some(_) => Ok(times),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_traces() {
        assert_eq!(times(b"0\n5\n5\n7\n"), Ok(vec![0, 5, 5, 7]));
        assert_eq!(times(b"1\r\n2\r\n"), Ok(vec![1, 2]));
    }

    #[test]
    fn bad_traces_name_their_line() {
        for (content, line, word) in [
            (&b""[..], 1, "empty"),
            (b"0\n0\n", 1, "no time"),
            (b"1\n2\nx\n", 3, "not a time"),
            (b"1\n2\n1\n", 3, "go back"),
            (b"1\n200\n30", 3, "go back"),
            (b"1\n2\n300", 3, "truncated"),
            (b"1\n\n2\n", 2, "not a time"),
            (b"1\n\xff\xfe\n", 2, "not a time"),
            (b"-1\n", 1, "not a time"),
            (b"99999999999999\n", 1, "30 years"),
        ] {
            let fault = times(content).unwrap_err();
            assert_eq!(fault.line, line, "{content:?}");
            assert!(fault.message.contains(word), "{} lacks {word}", fault.message);
        }
    }
}
