//! What is wrong with a scenario, where, and what would have been right.

use std::fmt;
use std::ops::Deref;

/// A mistake in a scenario. Dereferences to its [`Diagnostic`]; printed, it shows the line with a caret:
///
/// ```text
/// web.toml:14:1: unknown key `los` in `links.b`
///    |
/// 14 | los = "3 %"
///    | ^^^ expected one of `rate`, `delay`, …
///    = did you mean `loss`?
/// ```
///
/// All mistakes that were found in one go are in it, in the order of the file: [`ScenarioError::mistakes`]. It dereferences
/// to the first. Printed, it shows the first fifty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioError(Vec<Diagnostic>);

/// Mistakes that are printed. A program that writes scenarios can make thousands of one kind.
const SHOWN: usize = 50;

/// The parts of a [`ScenarioError`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Diagnostic {
    /// The scenario file, or the trace file that is broken; `None` when the text came without a file.
    pub file: Option<String>,
    /// Line, from 1; `None` when the mistake is in an override.
    pub line: Option<usize>,
    /// Column in characters, from 1.
    pub column: Option<usize>,
    /// The dotted path of the key, e.g. `links.b.loss`; empty for a mistake in the syntax.
    pub key: String,
    /// What is wrong.
    pub message: String,
    /// What would have been right; may be empty.
    pub expected: String,
    /// The nearest thing that would have been right.
    pub suggestion: Option<String>,
    /// The text of the line.
    pub source_line: Option<String>,
    /// How many characters of the line are wrong.
    pub width: usize,
    /// The override that brought the mistake in, as `links.b.los=3 %`.
    pub set: Option<String>,
}

impl ScenarioError {
    pub(crate) fn new(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }

    /// Several as one, in the order of the file, none twice. Those of overrides come first.
    ///
    /// # Panics
    /// There is none.
    pub(crate) fn all(errors: Vec<Self>) -> Self {
        let mut all: Vec<Diagnostic> = Vec::new();
        for mistake in errors.into_iter().flat_map(|error| error.0) {
            if !all.iter().any(|other| other.says_the_same(&mistake)) {
                all.push(mistake);
            }
        }
        all.sort_by_key(|mistake| (mistake.line, mistake.column));
        assert!(!all.is_empty(), "an error says what is wrong");
        Self(all)
    }

    /// Does it say nothing that these do not?
    pub(crate) fn is_in(&self, others: &[Self]) -> bool {
        self.0
            .iter()
            .all(|own| others.iter().flat_map(|other| &other.0).any(|other| other.says_the_same(own)))
    }

    /// All mistakes, in the order of the file; at least one.
    pub fn mistakes(&self) -> &[Diagnostic] {
        &self.0
    }
}

impl Deref for ScenarioError {
    type Target = Diagnostic;

    fn deref(&self) -> &Diagnostic {
        &self.0[0]
    }
}

impl std::error::Error for ScenarioError {}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.0.iter().take(SHOWN).enumerate() {
            f.write_str(if index == 0 { "" } else { "\n\n" })?;
            fmt::Display::fmt(mistake, f)?;
        }
        match self.0.len() {
            1 => Ok(()),
            count if count <= SHOWN => write!(f, "\n\n{count} mistakes"),
            count => write!(f, "\n\n{count} mistakes, of which the first {SHOWN} are shown"),
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_place(f)?;
        f.write_str(&self.message)?;
        match (self.line, &self.source_line) {
            (Some(line), Some(text)) => self.write_caret(f, line, text)?,
            _ if !self.expected.is_empty() => write!(f, "\n  = expected {}", self.expected)?,
            _ => {}
        }
        match &self.suggestion {
            Some(suggestion) => write!(f, "\n  = did you mean `{suggestion}`?"),
            None => Ok(()),
        }
    }
}

impl Diagnostic {
    /// The same place, and the same key or the same words: copies of one table, or both directions of one link.
    fn says_the_same(&self, other: &Self) -> bool {
        (self.line, self.column) == (other.line, other.column)
            && (&self.file, &self.set) == (&other.file, &other.set)
            && (self.key == other.key || self.message == other.message)
    }

    fn write_place(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(set) = &self.set {
            return write!(f, "--set {set}: ");
        }
        f.write_str(self.file.as_deref().unwrap_or("scenario"))?;
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, ":{line}:{column}")?;
        }
        f.write_str(": ")
    }

    fn write_caret(&self, f: &mut fmt::Formatter<'_>, line: usize, text: &str) -> fmt::Result {
        let number = line.to_string();
        let margin = " ".repeat(number.len());
        // Tabs before the caret are repeated, so that it stands below its column in any editor.
        let indent: String = text
            .chars()
            .take(self.column.unwrap_or(1) - 1)
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        let carets = "^".repeat(self.width.max(1));
        write!(f, "\n{margin} |\n{number} | {text}\n{margin} | {indent}{carets}")?;
        if self.expected.is_empty() { Ok(()) } else { write!(f, " expected {}", self.expected) }
    }
}
