//! The pages that are written from declarations say what the declarations say.

use ropewalk_scenario::keys_reference;
use std::path::Path;

fn current(page: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    if std::env::var_os("ROPEWALK_BLESS").is_some() {
        std::fs::write(&path, text).expect("writable");
    }
    let shipped = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(shipped == text, "run the tests with ROPEWALK_BLESS=1 to write {page} again");
}

#[test]
fn the_reference_of_keys_is_current() {
    current("docs/reference/keys.md", &keys_reference());
}

#[test]
fn the_reference_has_units_presets_and_defaults() {
    let page = keys_reference();
    let row = |key: &str| {
        let start = format!("| `{key}` |");
        page.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("no {key}"))
    };
    assert!(
        row("initial_window").contains("whole number, segments | `10` | `1` |"),
        "{}",
        row("initial_window")
    );
    assert!(row("good_to_bad").contains("| required |"), "{}", row("good_to_bad"));
}
