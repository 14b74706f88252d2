//! Mahimahi traces: reading, checking, hashing.

use super::build::Builder;
use crate::error::{Diagnostic, ScenarioError};
use ropewalk_sim::Trace;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The trace files that a scenario names, each read once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traces {
    by_name: BTreeMap<String, (Trace, String)>,
    /// Hashes of other files, by name.
    others: BTreeMap<String, String>,
}

impl Traces {
    /// A file with the content of a trace.
    pub(crate) fn name(&self, trace: &Trace) -> Option<&str> {
        self.by_name.iter().find(|(_, (known, _))| known == trace).map(|(name, _)| name.as_str())
    }

    /// SHA-256 of a file's content, in hexadecimal digits.
    pub(crate) fn hash(&self, name: &str) -> Option<&str> {
        let of_trace = || self.by_name.get(name).map(|(_, hash)| hash.as_str());
        of_trace().or_else(|| self.others.get(name).map(String::as_str))
    }
}

/// The trace in the file `name`; `key` names it.
pub(super) fn read(builder: &mut Builder<'_>, key: &str, name: &str) -> Result<Trace, ScenarioError> {
    if let Some((trace, _)) = builder.traces.by_name.get(name) {
        return Ok(trace.clone());
    }
    let path = builder.folder.map_or_else(|| PathBuf::from(name), |folder| folder.join(name));
    let content = std::fs::read(&path).map_err(|error| {
        let message = format!("the trace file `{}` cannot be read: {error}", path.display());
        builder.wrong(key, message, "a Mahimahi trace, relative to the scenario file")
    })?;
    let opportunities = parse(&content).map_err(|fault| {
        ScenarioError::new(Diagnostic {
            file: Some(path.display().to_string()),
            line: Some(fault.line),
            column: Some(1),
            key: key.to_owned(),
            message: fault.message,
            expected: "a time in ms on each line, ascending".into(),
            width: fault.text.chars().count(),
            source_line: Some(fault.text),
            ..Diagnostic::default()
        })
    })?;
    let trace = Trace { opportunities_ms: opportunities.into() };
    builder.traces.by_name.insert(name.to_owned(), (trace.clone(), hash(&content)));
    Ok(trace)
}

fn hash(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The text of another file that a scenario names, and its path in messages; `what` it should be.
pub(super) fn read_text(
    builder: &mut Builder<'_>,
    key: &str,
    name: &str,
    what: &str,
) -> Result<(String, String), ScenarioError> {
    let path = builder.folder.map_or_else(|| PathBuf::from(name), |folder| folder.join(name));
    let text = std::fs::read_to_string(&path).map_err(|error| {
        let message = format!("the file `{}` cannot be read: {error}", path.display());
        builder.wrong(key, message, format!("{what}, relative to the scenario file"))
    })?;
    builder.traces.others.insert(name.to_owned(), hash(text.as_bytes()));
    Ok((text, path.display().to_string()))
}

/// What is wrong with a trace, and in which line (from 1).
#[derive(Debug, PartialEq, Eq)]
struct TraceFault {
    line: usize,
    message: String,
    text: String,
}

fn parse(content: &[u8]) -> Result<Vec<u64>, TraceFault> {
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
        assert_eq!(parse(b"0\n5\n5\n7\n"), Ok(vec![0, 5, 5, 7]));
        assert_eq!(parse(b"1\r\n2\r\n"), Ok(vec![1, 2]));
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
            let fault = parse(content).unwrap_err();
            assert_eq!(fault.line, line, "{content:?}");
            assert!(fault.message.contains(word), "{} lacks {word}", fault.message);
        }
    }
}
