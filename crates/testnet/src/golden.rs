//! Tables that are kept. A difference in one is a change of behaviour.

use ropewalk_units::Instant;
use std::fmt::Debug;
use std::path::Path;

/// Compares a text with the one that is kept in `tests/golden`. With `ROPEWALK_BLESS` set, it is
/// written there first.
///
/// # Panics
/// When they differ, or there is none.
pub fn check(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden").join(file);
    if std::env::var_os("ROPEWALK_BLESS").is_some() {
        std::fs::write(&path, text).expect("writable");
    }
    let kept = std::fs::read_to_string(&path).expect("a golden file");
    let differs = |(kept, now): (&str, &str)| (kept != now).then(|| format!("- {kept}\n+ {now}"));
    let changes: Vec<String> = kept.lines().zip(text.lines()).filter_map(differs).collect();
    assert!(kept == text, "{file} has changed; ROPEWALK_BLESS=1 writes it again:\n{}", changes.join("\n"));
}

/// What is sent, for a cell of a table: repetitions once, with the number of all; a dash for
/// nothing.
pub fn sent(all: impl Iterator<Item = String>) -> String {
    let mut sent: Vec<String> = all.collect();
    let all = sent.len();
    sent.dedup();
    if sent.len() > 6 {
        sent.sort_unstable();
        sent.dedup();
    }
    let several = if all > sent.len() { format!(" ({all} in all)") } else { String::new() };
    if sent.is_empty() { "–".to_owned() } else { sent.join("; ") + &several }
}

/// The timer that runs, for a cell of a table: what it is for, and in what time it expires.
pub fn timer<K: Debug>(now: Instant, next: Option<(Instant, K)>) -> String {
    let describe = |(at, kind): (Instant, K)| format!("{kind:?} in {}", now.max(at).saturating_since(now));
    next.map_or_else(|| "–".to_owned(), describe)
}
