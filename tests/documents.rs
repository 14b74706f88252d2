//! The documents speak of files that are there.

use ropewalk_tests::root;
use std::fs;
use std::path::{Path, PathBuf};

/// All Markdown files of the repository, built and installed things left out.
fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root().to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("a readable folder") {
            let path = entry.expect("a readable entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && !path.is_symlink() {
                if !name.starts_with('.') && !["target", "out", "results"].contains(&name.as_str()) {
                    open.push(path);
                }
            } else if name.ends_with(".md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The text without its fenced code blocks.
fn prose(text: &str) -> String {
    let mut inside = false;
    let lines = text.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Targets of `[text](target)`; a line break may stand in the text.
fn links(prose: &str) -> Vec<&str> {
    prose.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect()
}

/// Words in backticks that name a file or folder below the root.
fn paths(prose: &str) -> Vec<&str> {
    let roots = ["crates/", "python/", "tests/", "docs/", "scenarios/", "benches/", "specs/"];
    let words = prose.split('`').skip(1).step_by(2);
    let plain = |word: &&str| !word.contains(['*', '<', ' ', '{', '…']);
    words.filter(|word| roots.iter().any(|root| word.starts_with(root))).filter(plain).collect()
}

fn missing(document: &Path) -> Vec<String> {
    let text = fs::read_to_string(document).expect("a readable document");
    let prose = prose(&text);
    let folder = document.parent().expect("a document lies in a folder");
    let linked =
        links(&prose).into_iter().filter(|target| !target.contains("://") && !target.starts_with('#'));
    let linked = linked.map(|target| folder.join(target.split('#').next().unwrap_or(target)));
    let named = paths(&prose).into_iter().map(|path| root().join(path));
    linked.chain(named).filter(|path| !path.exists()).map(|path| path.display().to_string()).collect()
}

#[test]
fn every_link_and_path_leads_somewhere() {
    let documents = documents();
    assert!(documents.len() >= 8, "only {documents:?}");
    let mut broken = Vec::new();
    for document in &documents {
        broken.extend(missing(document).into_iter().map(|path| format!("{}: {path}", document.display())));
    }
    assert!(broken.is_empty(), "not there:\n{}", broken.join("\n"));
}

#[test]
fn links_and_paths_are_found() {
    let text =
        "See [the\nguide](docs/guide.md#a) and `crates/wire/src` or `crates/*/src`.\n```\n[no](no.md)\n```\n";
    let prose = prose(text);
    assert_eq!(links(&prose), ["docs/guide.md#a"]);
    assert_eq!(paths(&prose), ["crates/wire/src"]);
}
