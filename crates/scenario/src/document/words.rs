//! Paths of keys, taken apart, and lists of names in words.

/// The parts of a dotted path; indices may be written `[0]` or `.0`.
pub(super) fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split(['.', '[', ']']).filter(|segment| !segment.is_empty())
}

/// "one of `a`, `b`", or "`a`" when there is only one.
pub(super) fn one_of<'a>(candidates: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = candidates.into_iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [] => "nothing: there is none".to_owned(),
        [only] => only.clone(),
        _ => format!("one of {}", quoted.join(", ")),
    }
}
