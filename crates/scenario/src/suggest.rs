//! "Did you mean …?": the nearest of what would have been right.

/// Words of neighbouring tools, and ours for them.
const SYNONYMS: &[(&str, &str)] = &[
    ("bandwidth", "rate"),
    ("capacity", "rate"),
    ("speed", "rate"),
    ("throughput", "rate"),
    ("latency", "delay"),
    ("propagation", "delay"),
    ("buffer", "queue"),
    ("aqm", "queue"),
    ("error", "loss"),
    ("per", "loss"),
    ("plr", "loss"),
    ("endpoints", "between"),
    ("nodes", "between"),
    ("source", "from"),
    ("src", "from"),
    ("destination", "to"),
    ("dst", "to"),
    ("time", "duration"),
    ("length", "duration"),
    ("size", "bytes"),
    ("app", "application"),
    ("cc", "congestion_control"),
    ("init_cwnd", "initial_window"),
    ("rwnd", "receive_buffer"),
    ("reno", "newreno"),
    ("droptail", "drop-tail"),
    ("fifo", "drop-tail"),
    ("pfifo", "drop-tail"),
    ("minrtt", "lowest-rtt"),
    ("default", "linux"),
    ("add_address_timeout", "add_addr_timeout"),
    ("stale_after", "stale_loss_cnt"),
];

/// The candidate nearest to `word`, if one is near enough to be what was meant.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let folded = fold(word);
    let meant = SYNONYMS.iter().find(|(other, _)| *other == folded).map(|(_, ours)| fold(ours));
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let ours = fold(candidate);
        let distance = if meant.as_ref() == Some(&ours) { 0 } else { edit_distance(&folded, &ours) };
        let allowed = (ours.chars().count().max(folded.chars().count()) / 3).max(1);
        if distance <= allowed && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate.to_owned())
}

/// Case and the choice between `-` and `_` are not what a word is about.
fn fold(word: &str) -> String {
    word.to_lowercase().replace('-', "_")
}

/// Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment).
fn edit_distance(a: &str, b: &str) -> usize {
    // Long strings are never near to a key; the bound keeps the quadratic time away from hostile input.
    const LONGEST: usize = 64;
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().max(b.len()) > LONGEST {
        return usize::MAX;
    }
    let width = b.len() + 1;
    let mut rows = vec![0; (a.len() + 1) * width];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i * width + j] = if i == 0 || j == 0 {
                i + j
            } else {
                let cost = usize::from(a[i - 1] != b[j - 1]);
                let replaced = rows[(i - 1) * width + j - 1] + cost;
                let mut least = replaced.min(rows[(i - 1) * width + j] + 1).min(rows[i * width + j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    least = least.min(rows[(i - 2) * width + j - 2] + 1);
                }
                least
            };
        }
    }
    rows[rows.len() - 1]
}

/// What is between an expectation and a suggestion, on the way through serde, which has no place for both.
const HINT: char = '\u{1f}';

/// An expectation with the first suggestion that can be right.
pub(crate) fn with_hint(expected: &str, text: &str, is_right: impl Fn(&str) -> bool) -> String {
    match units(text).into_iter().find(|suggestion| is_right(suggestion)) {
        Some(suggestion) => format!("{expected}{HINT}{suggestion}"),
        None => expected.to_owned(),
    }
}

/// The two again.
pub(crate) fn without_hint(text: String) -> (String, Option<String>) {
    match text.split_once(HINT) {
        Some((expected, suggestion)) => (expected.to_owned(), Some(suggestion.to_owned())),
        None => (text, None),
    }
}

/// A number and what stands behind it.
pub(crate) fn number_and_unit(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '_' | '+' | '-');
    let mut end = text.find(|c: char| !is_number(c))?;
    // "1e30 Mbit/s": an exponent, unless a unit begins with its letter.
    let behind = &text[end..];
    if let Some(exponent) = behind.strip_prefix(['e', 'E'])
        && exponent.starts_with(|c: char| is_number(c))
    {
        end += 1 + exponent.find(|c: char| !is_number(c))?;
    }
    (end > 0).then(|| (&text[..end], text[end..].trim()))
}

/// A quantity whose unit is only misspelt ("10 mbit/s", "5 msec"), put right in each way that could be meant.
fn units(text: &str) -> Vec<String> {
    const UNITS: &[(&str, &str)] = &[
        ("mbit", "Mbit/s"),
        ("mib/s", "Mbit/s"),
        ("mbps", "Mbit/s"),
        ("mbit/s", "Mbit/s"),
        ("mb/s", "Mbit/s"),
        ("gbit", "Gbit/s"),
        ("gbit/s", "Gbit/s"),
        ("gbps", "Gbit/s"),
        ("kbit", "kbit/s"),
        ("kbit/s", "kbit/s"),
        ("kbps", "kbit/s"),
        ("sec", "s"),
        ("second", "s"),
        ("seconds", "s"),
        ("msec", "ms"),
        ("millis", "ms"),
        ("usec", "us"),
        ("minutes", "min"),
        ("m", "min"),
        ("m", "ms"),
        ("kb", "kB"),
        ("kb", "kbit/s"),
        ("k", "kB"),
        ("k", "kbit/s"),
        ("mb", "MB"),
        ("mb", "Mbit/s"),
        ("gb", "GB"),
        ("gb", "Gbit/s"),
        ("kib", "KiB"),
        ("mib", "MiB"),
        ("bytes", "B"),
        ("b", "B"),
        ("percent", "%"),
        ("packet", "packets"),
        ("pkts", "packets"),
        ("p", "packets"),
    ];
    let Some((number, unit)) = number_and_unit(text) else { return Vec::new() };
    let folded = unit.to_lowercase();
    let meant = UNITS.iter().filter(|(other, ours)| *other == folded && *ours != unit);
    meant.map(|(_, ours)| format!("{number} {ours}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_key_is_found() {
        let keys = ["rate", "delay", "loss", "queue", "between"];
        for (word, meant) in [
            ("los", Some("loss")),
            ("dealy", Some("delay")),
            ("Queue", Some("queue")),
            ("bandwidth", Some("rate")),
            ("latency", Some("delay")),
            ("betwen", Some("between")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, keys).as_deref(), meant, "{word}");
        }
        assert_eq!(nearest("drop_tail", ["drop-tail", "red"]).as_deref(), Some("drop-tail"));
    }

    #[test]
    fn swaps_count_once() {
        assert_eq!(edit_distance("delya", "delay"), 1);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance(&"x".repeat(65), "x"), usize::MAX);
    }

    #[test]
    fn units_are_put_right() {
        for (text, meant) in [
            ("10 mbit/s", Some("10 Mbit/s")),
            ("5 msec", Some("5 ms")),
            ("64kb", Some("64 kB")),
            ("10 ms", None),
            ("ms", None),
            ("10", None),
        ] {
            assert_eq!(units(text).first().map(String::as_str), meant, "{text}");
        }
    }

    #[test]
    fn numbers_end_where_units_begin() {
        for (text, parts) in [
            ("1e30 Mbit/s", Some(("1e30", "Mbit/s"))),
            ("-1.5 km", Some(("-1.5", "km"))),
            ("10", None),
            ("ms", None),
            ("3 errors", Some(("3", "errors"))),
        ] {
            assert_eq!(number_and_unit(text), parts, "{text}");
        }
    }
}
