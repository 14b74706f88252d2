//! The files under `specs/` hold: each rule is done, by tests that exist, or excepted, with a reason.

use ropewalk_tests::root;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// One RFC, as `specs/README.md` explains it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Spec {
    rfc: u32,
    title: String,
    /// What was read and from where, or "unread".
    read: String,
    #[serde(default)]
    rule: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    id: String,
    section: String,
    level: String,
    rule: String,
    done: Option<Vec<String>>,
    exception: Option<String>,
}

const LEVELS: [&str; 4] = ["MUST", "MUST NOT", "SHOULD", "SHOULD NOT"];

/// Whether `source` has a test of this name that runs: `fn name(`, with `#[test]` and without `#[ignore` above it.
fn has_test(source: &str, name: &str) -> bool {
    let head = format!("fn {name}(");
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let heads = (0..lines.len()).filter(|at| lines[*at].starts_with(&head));
    let mut attributes = heads.map(|at| {
        let above = lines[..at].iter().rev();
        above.take_while(|line| line.starts_with("#[") || line.starts_with("//")).copied().collect::<Vec<_>>()
    });
    attributes.any(|above| {
        above.contains(&"#[test]") && !above.iter().any(|attribute| attribute.starts_with("#[ignore"))
    })
}

/// What is wrong with a reference `path/of/file.rs::name`, if anything.
fn wrong_reference(root: &Path, reference: &str) -> Option<String> {
    let Some((path, name)) = reference.split_once(".rs::") else {
        return Some(format!("{reference}: not `file.rs::name`"));
    };
    match fs::read_to_string(root.join(format!("{path}.rs"))) {
        Err(_) => Some(format!("{reference}: there is no such file")),
        Ok(source) if !has_test(&source, name) => Some(format!("{reference}: there is no such test")),
        Ok(_) => None,
    }
}

/// What is wrong with a rule taken by itself.
fn wrong_rule(root: &Path, rule: &Rule) -> Vec<String> {
    let mut wrong = Vec::new();
    if !LEVELS.contains(&rule.level.as_str()) {
        wrong.push(format!("level {:?} is none of {LEVELS:?}", rule.level));
    }
    if rule.id.is_empty() || rule.section.is_empty() {
        wrong.push("it needs an id and a section".to_string());
    }
    if rule.rule.split_whitespace().count() < 3 {
        wrong.push("the rule is not told".to_string());
    }
    match (&rule.done, &rule.exception) {
        (Some(tests), None) if tests.is_empty() => wrong.push("`done` names no test".to_string()),
        (Some(tests), None) => wrong.extend(tests.iter().filter_map(|test| wrong_reference(root, test))),
        (None, Some(reason)) if reason.split_whitespace().count() < 4 => {
            wrong.push(format!("the exception {reason:?} gives no reason"));
        }
        (None, Some(_)) => {}
        _ => wrong.push("it needs either `done` or `exception`".to_string()),
    }
    wrong
}

/// What is wrong with a file.
fn wrong_spec(root: &Path, spec: &Spec) -> Vec<String> {
    let mut wrong = Vec::new();
    if spec.title.is_empty() || spec.read.is_empty() {
        wrong.push("it needs a title, and what was read of it".to_string());
    }
    if (spec.read == "unread") != spec.rule.is_empty() {
        wrong.push("what was read has rules, and what is unread has none".to_string());
    }
    let mut ids = BTreeSet::new();
    for rule in &spec.rule {
        if !ids.insert(&rule.id) {
            wrong.push(format!("{}: the id is taken", rule.id));
        }
        wrong.extend(wrong_rule(root, rule).into_iter().map(|what| format!("{}: {what}", rule.id)));
    }
    wrong
}

#[test]
fn every_rule_is_done_or_excepted() {
    let mut wrong = Vec::new();
    let mut files: Vec<_> = fs::read_dir(root().join("specs"))
        .expect("a readable folder")
        .map(|entry| entry.expect("a readable entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "specs/ holds no RFC");
    for path in &files {
        let text = fs::read_to_string(path).expect("a readable file");
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let spec: Spec = match toml::from_str(&text) {
            Ok(spec) => spec,
            Err(error) => {
                wrong.push(format!("{name}: {error}"));
                continue;
            }
        };
        if name != format!("rfc{}.toml", spec.rfc) {
            wrong.push(format!("{name}: it is about RFC {}", spec.rfc));
        }
        wrong.extend(wrong_spec(root(), &spec).into_iter().map(|what| format!("{name}: {what}")));
        let done = spec.rule.iter().filter(|rule| rule.done.is_some()).count();
        let excepted = spec.rule.len() - done;
        println!("RFC {}: {} rules, {done} done, {excepted} excepted", spec.rfc, spec.rule.len());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn complaints(rule: &str) -> String {
    let text = format!("rfc = 1\ntitle = \"T\"\nread = \"all\"\n{rule}");
    wrong_spec(root(), &toml::from_str(&text).expect("TOML")).join("\n")
}

#[test]
fn what_is_wrong_is_found() {
    let head = "[[rule]]\nid = \"MUST-1\"\nsection = \"3\"\nlevel = \"MUST\"\nrule = \"It is so.\"\n";
    let this = "done = [\"tests/specs.rs::what_is_wrong_is_found\"]\n";
    assert_eq!(complaints(&format!("{head}{this}")), "");
    let cases = [
        (head.to_string(), "either"),
        (format!("{head}{this}exception = \"One that has a reason.\"\n"), "either"),
        (format!("{head}exception = \"No.\"\n"), "gives no reason"),
        (format!("{head}done = []\n"), "names no test"),
        (format!("{head}done = [\"tests/specs.rs::complaints\"]\n"), "no such test"),
        (format!("{head}done = [\"tests/nowhere.rs::name\"]\n"), "no such file"),
        (format!("{head}done = [\"tests/specs.rs\"]\n"), "not `file.rs::name`"),
        (format!("{head}{this}").replace("\"MUST\"", "\"MAY\""), "none of"),
        (format!("{head}{this}").replace("\"3\"", "\"\""), "section"),
        (format!("{head}{this}").replace("It is so.", "It."), "not told"),
        (format!("{head}{this}{head}{this}"), "is taken"),
        (String::new(), "unread"),
    ];
    for (text, complaint) in cases {
        let found = complaints(&text);
        assert!(found.contains(complaint), "{text}\nwants {complaint:?}, but: {found:?}");
    }
}

#[test]
fn tests_are_told_from_other_functions() {
    let source = "#[test]\nfn one() {}\nfn two() {}\n    /// Three.\n    #[test]\n    #[cfg(unix)]\n    fn three(x in 0..1u8) {}\n\
                  #[test]\n#[ignore = \"slow\"]\nfn four() {}\n// #[test]\nfn five() {}\n";
    let found = ["one", "two", "three", "four", "five", "on"].map(|name| has_test(source, name));
    assert_eq!(found, [true, false, true, false, false, false]);
}
