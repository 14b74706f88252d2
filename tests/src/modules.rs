//! The modules of a crate, one per file, and which uses which: read from the paths in their text.
//!
//! A path counts for the module that defines what it names: re-exports are followed. Tests within a file do not count,
//! and neither do comments and texts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A module's place in its crate: `plan::wifi::routes`; empty for the crate's root.
pub type Name = Vec<String>;

/// The modules of one crate.
pub struct Modules {
    modules: BTreeMap<Name, Module>,
}

/// What a module uses of another one of its crate.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Use {
    /// The other module.
    pub module: Name,
    /// The item; none if it is the module itself.
    pub item: Option<String>,
    /// Is it a type, a trait or a constant?
    pub is_type: bool,
}

#[derive(Default)]
struct Module {
    /// The text without comments, texts, tests and `use` items.
    code: Vec<String>,
    /// `use` items: the name that each brings into scope, and its path.
    imports: Vec<Import>,
}

struct Import {
    name: String,
    path: Vec<String>,
    is_public: bool,
}

impl Modules {
    /// Reads the crate whose root file lies in `folder`.
    ///
    /// # Panics
    /// If a module's file is not there.
    pub fn read(folder: &Path) -> Self {
        let mut modules = Self { modules: BTreeMap::new() };
        modules.add(Name::new(), &folder.join("lib.rs"), folder);
        modules
    }

    /// A crate of these modules and their texts.
    pub fn of<'a>(texts: impl IntoIterator<Item = (Name, &'a str)>) -> Self {
        let module = |text: &str| Module::new(without_tests(tokens(text)));
        Self { modules: texts.into_iter().map(|(name, text)| (name, module(text))).collect() }
    }

    fn add(&mut self, name: Name, file: &Path, folder: &Path) {
        let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let tokens = without_tests(tokens(&text));
        for child in declared(&tokens) {
            let inner = folder.join(&child);
            let file = [folder.join(format!("{child}.rs")), inner.join("mod.rs")];
            let file = file.iter().find(|file| file.exists()).unwrap_or_else(|| panic!("no file of {child}"));
            self.add(joined(&name, &child), file, &inner);
        }
        self.modules.insert(name, Module::new(tokens));
    }

    /// Each module with what it uses of others.
    pub fn uses(&self) -> BTreeMap<Name, BTreeSet<Use>> {
        self.modules.keys().map(|name| (name.clone(), self.used_by(name))).collect()
    }

    fn used_by(&self, name: &Name) -> BTreeSet<Use> {
        let module = &self.modules[name];
        let imports = module.imports.iter().filter(|import| !import.is_public || module.says(&import.name));
        let paths = imports.map(|import| import.path.clone()).chain(module.paths());
        paths.filter_map(|path| self.target(name, &path, 0)).filter(|used| used.module != *name).collect()
    }

    /// What `path` names in the module `from`; none if it lies in another crate.
    fn target(&self, from: &Name, path: &[String], depth: usize) -> Option<Use> {
        let (mut at, mut rest) = match path.first()?.as_str() {
            "crate" => (Name::new(), &path[1..]),
            "self" => (from.clone(), &path[1..]),
            "super" => (from[..from.len().checked_sub(1)?].to_vec(), &path[1..]),
            first if self.modules.contains_key(&joined(from, first)) => (joined(from, first), &path[1..]),
            _ => return None,
        };
        while let [first, more @ ..] = rest {
            match first.as_str() {
                "super" => drop(at.pop()),
                first if self.modules.contains_key(&joined(&at, first)) => at.push(first.to_owned()),
                first => return self.definer(at, first, depth),
            }
            rest = more;
        }
        Some(Use { module: at, item: None, is_type: false })
    }

    /// Where `name`, found in the module `at`, comes from; none if from another crate.
    fn definer(&self, at: Name, name: &str, depth: usize) -> Option<Use> {
        const TYPES: [&str; 7] = ["struct", "enum", "union", "trait", "type", "const", "static"];
        const OTHERS: [&str; 3] = ["fn", "mod", "!"];
        let module = &self.modules[&at];
        let is_type = module.defines(&TYPES, name);
        let found = Use { module: at, item: Some(name.to_owned()), is_type };
        if depth > 8 || is_type || module.defines(&OTHERS, name) {
            return Some(found);
        }
        let imported = module.imports.iter().find(|import| import.name == name);
        match imported {
            Some(import) if import.path != [name] => self.target(&found.module, &import.path, depth + 1),
            _ => Some(self.by_glob(&found.module, name, depth + 1).unwrap_or(found)),
        }
    }

    /// Where `name` comes from if the module has it by `use …::*`.
    fn by_glob(&self, at: &Name, name: &str, depth: usize) -> Option<Use> {
        let globs = self.modules[at].imports.iter().filter(|import| import.name == "*");
        let modules = globs.filter_map(|import| self.target(at, &import.path, depth));
        let mut found = modules.filter_map(|used| self.definer(used.module, name, depth));
        found.find(|used| used.is_type || self.modules[&used.module].defines(&["fn"], name))
    }
}

impl Module {
    fn new(tokens: Vec<String>) -> Self {
        let mut module = Self::default();
        let mut rest = tokens.as_slice();
        while let Some(first) = rest.first() {
            if first == "use" {
                let end = rest.iter().position(|token| token == ";").unwrap_or(rest.len() - 1);
                let is_public = module.ends_public();
                module.import(&rest[1..end], &mut Vec::new(), is_public);
                rest = &rest[end + 1..];
            } else {
                module.code.push(first.clone());
                rest = &rest[1..];
            }
        }
        module
    }

    /// Does the code so far end with `pub` or `pub(…)`?
    fn ends_public(&self) -> bool {
        let from = self.code.iter().rposition(|token| [";", "}", "{", "]"].contains(&token.as_str()));
        self.code[from.map_or(0, |at| at + 1)..].first().is_some_and(|token| token == "pub")
    }

    /// Takes the tree of a `use` item apart.
    fn import(&mut self, tree: &[String], path: &mut Vec<String>, is_public: bool) {
        let before = path.len();
        for (index, token) in tree.iter().enumerate() {
            match token.as_str() {
                "::" => {}
                "{" => {
                    for branch in branches(&tree[index + 1..tree.len() - 1]) {
                        self.import(branch, path, is_public);
                    }
                    path.truncate(before);
                    return;
                }
                "as" => {
                    let name = tree[index + 1].clone();
                    self.imports.push(Import { name, path: path.clone(), is_public });
                    path.truncate(before);
                    return;
                }
                "self" if !path.is_empty() => {}
                other => path.push(other.to_owned()),
            }
        }
        let mut path_of = path.clone();
        let name = path.last().cloned().unwrap_or_default();
        if name == "*" {
            path_of.pop();
        }
        self.imports.push(Import { name, path: path_of, is_public });
        path.truncate(before);
    }

    /// Does its code say this name?
    fn says(&self, name: &str) -> bool {
        self.code.iter().any(|token| token == name)
    }

    /// Does it define an item of this name, by one of these words?
    fn defines(&self, words: &[&str], name: &str) -> bool {
        self.code.windows(2).any(|pair| pair[1] == name && words.contains(&pair[0].as_str()))
    }

    /// The paths in its code, those of `use` items left out.
    fn paths(&self) -> Vec<Vec<String>> {
        let mut paths = Vec::new();
        let is_word = |token: &String| token.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        for (index, token) in self.code.iter().enumerate() {
            let before = |steps: usize| index.checked_sub(steps).map_or("", |at| self.code[at].as_str());
            // Not the rest of a path, what a macro's user has, or a visibility.
            let is_visibility =
                before(2) == "(" && before(1) == "in" || before(2) == "pub" && before(1) == "(";
            let starts = is_word(token) && !["::", "$"].contains(&before(1)) && !is_visibility;
            if !starts || self.code.get(index + 1).is_none_or(|next| next != "::") {
                continue;
            }
            let mut path = vec![token.clone()];
            let mut at = index + 1;
            while self.code.get(at).is_some_and(|next| next == "::")
                && self.code.get(at + 1).is_some_and(is_word)
            {
                path.push(self.code[at + 1].clone());
                at += 2;
            }
            paths.push(path);
        }
        paths
    }
}

fn joined(name: &Name, child: &str) -> Name {
    name.iter().cloned().chain([child.to_owned()]).collect()
}

/// The branches between the braces of a `use` tree.
fn branches(tree: &[String]) -> Vec<&[String]> {
    let (mut found, mut depth, mut start) = (Vec::new(), 0, 0);
    for (index, token) in tree.iter().enumerate() {
        match token.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            "," if depth == 0 => {
                found.push(&tree[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    found.push(&tree[start..]);
    found.retain(|branch| !branch.is_empty());
    found
}

/// The modules that have files of their own.
fn declared(tokens: &[String]) -> Vec<String> {
    let items = tokens.windows(3).filter(|items| items[0] == "mod" && items[2] == ";");
    items.map(|items| items[1].clone()).collect()
}

/// Without items that only tests have.
fn without_tests(tokens: Vec<String>) -> Vec<String> {
    const TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::new();
    let mut rest = tokens.as_slice();
    while !rest.is_empty() {
        if rest.starts_with(&TEST.map(str::to_owned)) {
            rest = after_item(&rest[TEST.len()..]);
        } else {
            kept.push(rest[0].clone());
            rest = &rest[1..];
        }
    }
    kept
}

/// What comes after the item that the tokens begin with.
fn after_item(tokens: &[String]) -> &[String] {
    let mut depth = 0;
    for (index, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "{" => depth += 1,
            "}" if depth == 1 => return &tokens[index + 1..],
            "}" => depth -= 1,
            ";" if depth == 0 => return &tokens[index + 1..],
            _ => {}
        }
    }
    &[]
}

/// Words, `::` and other characters; comments and texts left out.
fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut tokens, mut at) = (Vec::new(), 0);
    while let Some(&c) = chars.get(at) {
        let next = chars.get(at + 1).copied();
        at = match (c, next) {
            ('/', Some('/')) => line_end(&chars, at),
            ('/', Some('*')) => comment_end(&chars, at),
            ('"', _) => text_end(&chars, at),
            ('r', Some('"' | '#')) if raw_end(&chars, at).is_some() => raw_end(&chars, at).unwrap_or(at),
            ('\'', _) => letter_end(&chars, at),
            (':', Some(':')) => {
                tokens.push("::".to_owned());
                at + 2
            }
            (c, _) if is_word(c) => {
                let end = (at..chars.len()).find(|&end| !is_word(chars[end])).unwrap_or(chars.len());
                tokens.push(chars[at..end].iter().collect());
                end
            }
            (c, _) => {
                tokens.extend((!c.is_whitespace()).then(|| c.to_string()));
                at + 1
            }
        };
    }
    tokens
}

fn line_end(chars: &[char], at: usize) -> usize {
    (at..chars.len()).find(|&end| chars[end] == '\n').unwrap_or(chars.len())
}

fn comment_end(chars: &[char], at: usize) -> usize {
    let end = (at + 2..chars.len()).find(|&end| chars[end - 1] == '*' && chars[end] == '/' && end > at + 2);
    end.map_or(chars.len(), |end| end + 1)
}

fn text_end(chars: &[char], at: usize) -> usize {
    let mut end = at + 1;
    while end < chars.len() && chars[end] != '"' {
        end += if chars[end] == '\\' { 2 } else { 1 };
    }
    end + 1
}

/// The end of a raw text, if one begins here.
fn raw_end(chars: &[char], at: usize) -> Option<usize> {
    let marks = chars[at + 1..].iter().take_while(|&&c| c == '#').count();
    let start = at + 1 + marks;
    (chars.get(start) == Some(&'"')).then_some(())?;
    let closes = |&end: &usize| {
        chars[end] == '"' && chars[end + 1..].iter().take(marks).filter(|&&c| c == '#').count() == marks
    };
    Some((start + 1..chars.len()).find(closes).map_or(chars.len(), |end| end + 1 + marks))
}

/// The end of a character, or of a lifetime's mark.
fn letter_end(chars: &[char], at: usize) -> usize {
    match (chars.get(at + 1), chars.get(at + 2)) {
        (Some('\\'), _) => {
            (at + 3..chars.len()).find(|&end| chars[end] == '\'').map_or(chars.len(), |end| end + 1)
        }
        (_, Some('\'')) => at + 3,
        _ => at + 1,
    }
}
