//! Tables that are kept: what changes in them is a change of behaviour.

use std::path::Path;

/// Holds a text to the one that is kept in `tests/golden`. With `ROPEWALK_BLESS` it is written there first.
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
