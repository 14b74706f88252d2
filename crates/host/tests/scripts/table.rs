//! What differs between our host and the kernel, as `docs/interoperation.md` has it.

use crate::cases::{Case, TOPICS, all};
use crate::words::{Where, lines};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The lines between these are written by this test.
const BEGIN: &str = "<!-- scripts: begin -->\n";
const END: &str = "<!-- scripts: end -->";

/// The scripts by their names, and the table of what differs.
pub(crate) fn expected() -> String {
    let mut text = String::new();
    for (topic, cases) in TOPICS {
        let names = cases.iter().map(|case| case.name).collect::<Vec<_>>();
        let _ = writeln!(text, "- **{topic}**: {}", names.join("; "));
    }
    text += "\n| script | we alone | Linux 6.18 alone | why |\n|---|---|---|---|\n";
    for case in all().filter(|case| differs(case)) {
        let row = [case.name, &alone(case, Where::Ours), &alone(case, Where::Linux), case.reason];
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}

/// Has the script lines that hold in one world alone?
pub(crate) fn differs(case: &Case) -> bool {
    lines(case.script).iter().any(|line| line.place != Where::Everywhere)
}

/// The lines that hold in this world alone.
fn alone(case: &Case, place: Where) -> String {
    let lines = lines(case.script).into_iter().filter(|line| line.place == place);
    let words = lines.filter_map(|line| line.text.split_once(' ')).map(|(_, text)| format!("`{text}`"));
    let words = words.collect::<Vec<_>>();
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/interoperation.md")
}

/// The page, and the part of it that this test writes.
fn parts() -> [String; 3] {
    let text = std::fs::read_to_string(page()).expect("the page");
    let (before, rest) = text.split_once(BEGIN).expect("the beginning of the table");
    let (table, after) = rest.split_once(END).expect("the end of the table");
    [before.to_owned(), table.to_owned(), after.to_owned()]
}

#[test]
fn the_page_has_the_scripts_and_what_differs() {
    let [before, found, after] = parts();
    if std::env::var("ROPEWALK_BLESS").is_ok() {
        let text = format!("{before}{BEGIN}{}{END}{after}", expected());
        return std::fs::write(page(), text).expect("the page can be written");
    }
    assert!(found == expected(), "the page is not what the scripts say: ROPEWALK_BLESS=1 writes it again");
}

#[test]
fn every_difference_has_a_reason_and_every_reason_a_difference() {
    for case in all() {
        assert_eq!(differs(case), !case.reason.is_empty(), "{}", case.name);
    }
    let mut names = all().map(|case| case.name).collect::<Vec<_>>();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all().count(), "two scripts of one name");
}
