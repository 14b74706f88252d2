//! No circle between the modules of a crate.
//!
//! - No file leads back to itself by what it uses.
//! - Two modules side by side, each with all that lies below it, do not use each other.
//! - A parent may use its children. A child may use the types, traits and constants that the modules around it declare,
//!   never their functions. So the nouns of a folder may stand in the file above it.
//!
//! `mod` lines and re-exports are no uses; a use counts for the module that defines what is used.

use ropewalk_tests::modules::{Modules, Name, Use};
use ropewalk_tests::root;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// All crates, by the names of their folders.
fn crates() -> BTreeSet<String> {
    let folders = std::fs::read_dir(root().join("crates")).expect("the crates are there");
    folders
        .map(|entry| entry.expect("a folder can be read").file_name().into_string().expect("UTF-8"))
        .collect()
}

/// Who uses whom.
type Graph = BTreeMap<Name, BTreeSet<Name>>;

/// Uses between files, without types of the modules around.
fn between_files(uses: &BTreeMap<Name, BTreeSet<Use>>) -> Graph {
    let counts = |from: &Name, used: &&Use| !(used.is_type && from.starts_with(&used.module));
    let targets = |from: &Name, all: &BTreeSet<Use>| {
        all.iter().filter(|used| counts(from, used)).map(|used| used.module.clone()).collect()
    };
    uses.iter().map(|(from, all)| (from.clone(), targets(from, all))).collect()
}

/// Uses between the children of `parent`, each with all that lies below it.
fn between_children(files: &Graph, parent: &Name) -> Graph {
    let depth = parent.len();
    let child =
        |name: &Name| name.starts_with(parent).then(|| name.get(..=depth).map(<[_]>::to_vec)).flatten();
    let mut graph = Graph::new();
    for (from, targets) in files {
        let Some(from) = child(from) else { continue };
        let others = targets.iter().filter_map(child).filter(|to| *to != from).collect::<Vec<_>>();
        graph.entry(from).or_default().extend(others);
    }
    graph
}

/// All that `start` leads to.
fn reached(graph: &Graph, start: &Name) -> BTreeSet<Name> {
    let mut reached = BTreeSet::new();
    let mut open = vec![start];
    while let Some(name) = open.pop() {
        for next in graph.get(name).into_iter().flatten() {
            if reached.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    reached
}

/// Uses that lie on a circle, and the modules they join.
fn circles(graph: &Graph, modules: &mut BTreeSet<String>, text: &mut String) {
    for (from, targets) in graph {
        for to in targets.iter().filter(|to| reached(graph, to).contains(from)) {
            let names = [from, to].map(|name| name.join("::"));
            let _ = writeln!(text, "  {} uses {}", names[0], names[1]);
            modules.extend(names);
        }
    }
}

/// The modules of a crate that lie on circles, and their uses.
fn of_crate(name: &str) -> (BTreeSet<String>, String) {
    let files = between_files(&Modules::read(&root().join("crates").join(name).join("src")).uses());
    let (mut modules, mut text) = (BTreeSet::new(), String::new());
    circles(&files, &mut modules, &mut text);
    for parent in files.keys() {
        circles(&between_children(&files, parent), &mut modules, &mut text);
    }
    (modules, text)
}

#[test]
fn no_crate_has_a_circle() {
    let crates = crates();
    assert!(crates.contains("tcp") && crates.contains("scenario"), "{crates:?}");
    let mut wrong = String::new();
    for name in crates {
        let (found, text) = of_crate(&name);
        if !found.is_empty() {
            let _ = writeln!(wrong, "{name} has circles:\n{text}");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// What the module at `name` uses, in a crate made of `files`.
fn uses(files: &[(&str, &str)], name: &str) -> Vec<String> {
    let modules = Modules::of(files.iter().map(|&(name, text)| (path(name), text)));
    let mut names: Vec<String> =
        modules.uses()[&path(name)].iter().map(|used| used.module.join("::")).collect();
    names.dedup();
    names
}

fn path(name: &str) -> Name {
    name.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

#[test]
fn uses_are_read_right() {
    let files = [
        ("", "mod a; mod b; mod c; pub use a::A; #[cfg(test)] mod tests { use crate::c::C; }"),
        ("a", "pub struct A; // use crate::b::B;\nconst X: &str = \"crate::b::B\";"),
        ("b", "use crate::A as Other; fn b() { for _ in super::c::all() {} }"),
        ("c", "use crate::{b::{self, inner::{D, E}}, std::fmt}; pub(in crate::a) struct C; pub fn all() {}"),
        ("b::inner", "pub use super::super::a::A; pub struct D; pub struct E;"),
    ];
    assert_eq!(uses(&files, ""), [""; 0], "a re-export is no use, nor is a test's");
    assert_eq!(uses(&files, "a"), [""; 0], "nor are comments and texts");
    assert_eq!(uses(&files, "b"), ["a", "c"], "through the re-export, and without `use`");
    assert_eq!(uses(&files, "c"), ["", "b", "b::inner"], "each branch of the tree");
}

#[test]
fn a_circle_is_found() {
    let graph = |pairs: &[(&str, &str)]| {
        let mut graph = Graph::new();
        for &(from, to) in pairs {
            graph.entry(path(from)).or_default().insert(path(to));
            graph.entry(path(to)).or_default();
        }
        graph
    };
    let found = |graph: &Graph| {
        let mut modules = BTreeSet::new();
        circles(graph, &mut modules, &mut String::new());
        modules.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(found(&graph(&[("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")])), ["b", "c"]);
    let crossed = graph(&[("a::x", "b::y"), ("b::z", "a::w")]);
    assert_eq!(found(&crossed), [""; 0], "files alone");
    assert_eq!(found(&between_children(&crossed, &Name::new())), ["a", "b"], "but not their rooms");
}

#[test]
fn types_of_the_module_above_are_no_uses() {
    let files = [
        ("", "mod a;"),
        ("a", "mod child; use child::Child; pub struct Noun; pub fn verb() { let _ = Child; }"),
        ("a::child", "use super::{Noun, verb}; pub struct Child;"),
    ];
    let modules = Modules::of(files.map(|(name, text)| (path(name), text)));
    let graph = between_files(&modules.uses());
    assert_eq!(graph[&path("a::child")], BTreeSet::from([path("a")]), "the function");
    let files = files.map(|(name, text)| (path(name), text.replace("{Noun, verb}", "Noun")));
    let modules = Modules::of(files.iter().map(|(name, text)| (name.clone(), text.as_str())));
    assert!(between_files(&modules.uses())[&path("a::child")].is_empty(), "a type");
}
