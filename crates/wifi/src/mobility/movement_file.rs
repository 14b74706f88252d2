//! Movement files of ns-2, as its `setdest` and `BonnMotion` write them.
//!
//! These are read, one per line: `$node_(i) set X_ 10.5` (and `Y_`; `Z_` must be 0),
//! `$ns_ at 2.0 "$node_(i) setdest x y speed"`, and comments (`#`). The hop counts that `setdest`
//! adds for its own use (`$god_ set-dist …`) are skipped. Anything else is an error.

use super::Leg;
use crate::position::Position;
use ropewalk_units::{Duration, Instant};
use std::collections::BTreeMap;
use std::fmt;

/// A movement file: a script per node.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Movement {
    scripts: BTreeMap<u32, Script>,
}

#[derive(Clone, PartialEq, Debug)]
struct Script {
    start: Position,
    /// In order of time.
    orders: Vec<Order>,
}

/// From this time on the node moves to this place, at this speed (m/s).
#[derive(Clone, Copy, PartialEq, Debug)]
struct Order {
    at: Instant,
    to: Position,
    speed: f64,
}

/// Why a text is no movement file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MovementError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub problem: MovementProblem,
}

/// What is wrong with a line of a movement file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MovementProblem {
    /// It is none of the commands that are understood.
    UnknownCommand(String),
    /// A number was expected.
    NotANumber {
        /// Which one: `X_`, `time`, `speed`, …
        what: &'static str,
        /// What stands there.
        found: String,
    },
    /// A number is too large, negative where it must not be, infinite or NaN.
    OutOfRange {
        /// Which one.
        what: &'static str,
        /// What it must be.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// The node has no first position: `set X_` or `set Y_` is missing.
    NoStart {
        /// The node.
        node: u32,
        /// `X_` or `Y_`.
        coordinate: &'static str,
    },
    /// A first position is set twice.
    Twice {
        /// The node.
        node: u32,
        /// `X_` or `Y_`.
        coordinate: &'static str,
    },
    /// The file names no node.
    Empty,
}

impl fmt::Display for MovementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.problem {
            MovementProblem::UnknownCommand(text) => write!(
                f,
                "expected $node_(0) set X_ 10, $ns_ at 2.0 \"$node_(0) setdest 10 20 1.5\" or a # comment, \
                 found \"{text}\""
            ),
            MovementProblem::NotANumber { what, found } => {
                write!(f, "{what}: expected a number, found \"{found}\"")
            }
            MovementProblem::OutOfRange { what, expected, found } => {
                write!(f, "{what} must be {expected}, not {found}")
            }
            MovementProblem::NoStart { node, coordinate } => {
                write!(f, "node {node} has no first position: $node_({node}) set {coordinate} is missing")
            }
            MovementProblem::Twice { node, coordinate } => {
                write!(f, "{coordinate} of node {node} is set a second time")
            }
            MovementProblem::Empty => f.write_str("the file names no node"),
        }
    }
}

impl std::error::Error for MovementError {}

/// A node while the file is read.
#[derive(Default)]
struct Draft {
    first_line: usize,
    x: Option<f64>,
    y: Option<f64>,
    orders: Vec<Order>,
}

impl Movement {
    /// Reads a movement file. Orders of a node may stand in any order of time; of two at the same
    /// time the later line counts.
    ///
    /// # Errors
    /// Names the first line that is wrong and why, or the line that first names a node without a
    /// position.
    pub fn parse(text: &str) -> Result<Self, MovementError> {
        let mut drafts: BTreeMap<u32, Draft> = BTreeMap::new();
        for (line, content) in (1..).zip(text.lines()) {
            parse_line(content, line, &mut drafts).map_err(|problem| MovementError { line, problem })?;
        }
        if drafts.is_empty() {
            return Err(MovementError { line: 1, problem: MovementProblem::Empty });
        }
        let mut scripts = BTreeMap::new();
        for (node, mut draft) in drafts {
            let missing = |coordinate| MovementError {
                line: draft.first_line,
                problem: MovementProblem::NoStart { node, coordinate },
            };
            let x = draft.x.ok_or_else(|| missing("X_"))?;
            let y = draft.y.ok_or_else(|| missing("Y_"))?;
            draft.orders.sort_by_key(|order| order.at);
            scripts.insert(node, Script { start: Position::new(x, y), orders: draft.orders });
        }
        Ok(Self { scripts })
    }

    /// The nodes it names, ascending.
    pub fn nodes(&self) -> impl Iterator<Item = u32> {
        self.scripts.keys().copied()
    }

    /// The trajectory of a node; `None` for a node the file does not name.
    pub fn trajectory(&self, node: u32) -> Option<ScriptedTrajectory> {
        let script = self.scripts.get(&node)?;
        let leg = Leg::stay(script.start, Instant::ZERO, Instant::ZERO);
        Some(ScriptedTrajectory { orders: script.orders.clone(), next: 0, leg })
    }
}

fn parse_line(content: &str, line: usize, drafts: &mut BTreeMap<u32, Draft>) -> Result<(), MovementProblem> {
    let unknown = || MovementProblem::UnknownCommand(content.trim().chars().take(60).collect());
    let cleaned = content.replace('"', " ");
    let words: Vec<&str> = cleaned.split_whitespace().collect();
    let node_of = |name: &str| node_number(name).ok_or_else(unknown);
    match words[..] {
        [] => Ok(()),
        [first, ..] if first.starts_with('#') => Ok(()),
        ["$god_", "set-dist", ..] | ["$ns_", "at", _, "$god_", "set-dist", ..] => Ok(()),
        [name, "set", coordinate, value] => {
            let node = node_of(name)?;
            set(draft_of(drafts, node, line), node, coordinate, value).unwrap_or_else(|| Err(unknown()))
        }
        ["$ns_", "at", time, name, "setdest", x, y, speed] => {
            let order = order(time, x, y, speed)?;
            draft_of(drafts, node_of(name)?, line).orders.push(order);
            Ok(())
        }
        _ => Err(unknown()),
    }
}

fn draft_of(drafts: &mut BTreeMap<u32, Draft>, node: u32, line: usize) -> &mut Draft {
    drafts.entry(node).or_insert_with(|| Draft { first_line: line, ..Draft::default() })
}

/// The number in `$node_(12)`.
fn node_number(name: &str) -> Option<u32> {
    name.strip_prefix("$node_(")?.strip_suffix(')')?.parse().ok()
}

/// Sets a coordinate of a node's first position. `None`: there is no such coordinate.
fn set(draft: &mut Draft, node: u32, coordinate: &str, value: &str) -> Option<Result<(), MovementProblem>> {
    let (name, slot) = match coordinate {
        "X_" => ("X_", &mut draft.x),
        "Y_" => ("Y_", &mut draft.y),
        "Z_" => return Some(check_height(value)),
        _ => return None,
    };
    Some(metres(name, value).and_then(|metres| match slot.replace(metres) {
        None => Ok(()),
        Some(_) => Err(MovementProblem::Twice { node, coordinate: name }),
    }))
}

fn check_height(value: &str) -> Result<(), MovementProblem> {
    if metres("Z_", value)? == 0.0 {
        return Ok(());
    }
    Err(MovementProblem::OutOfRange {
        what: "Z_",
        expected: "0: stations move in a plane",
        found: value.into(),
    })
}

fn order(time: &str, x: &str, y: &str, speed: &str) -> Result<Order, MovementProblem> {
    /// Longer than any run; far from the end of the clock.
    const LATEST: f64 = 1e9;
    let seconds = number("time", time)?;
    if !(0.0..=LATEST).contains(&seconds) {
        let expected = "from 0 to 1e9 s";
        return Err(MovementProblem::OutOfRange { what: "time", expected, found: time.into() });
    }
    let metres_per_second = number("speed", speed)?;
    if !(0.0..f64::INFINITY).contains(&metres_per_second) {
        let expected = "finite and not below 0 m/s";
        return Err(MovementProblem::OutOfRange { what: "speed", expected, found: speed.into() });
    }
    let to = Position::new(metres("x", x)?, metres("y", y)?);
    Ok(Order { at: Instant::ZERO + Duration::from_secs_f64(seconds), to, speed: metres_per_second })
}

fn metres(what: &'static str, text: &str) -> Result<f64, MovementProblem> {
    let value = number(what, text)?;
    if value.is_finite() {
        return Ok(value);
    }
    Err(MovementProblem::OutOfRange { what, expected: "a finite number of metres", found: text.into() })
}

fn number(what: &'static str, text: &str) -> Result<f64, MovementProblem> {
    text.parse().map_err(|_| MovementProblem::NotANumber { what, found: text.chars().take(40).collect() })
}

/// One station moving by a file. A station stands until its first order, and again when an order
/// has led it to its place. An order ends the movement before it. An order at speed 0 is a stop.
#[derive(Clone, PartialEq, Debug)]
pub struct ScriptedTrajectory {
    orders: Vec<Order>,
    next: usize,
    leg: Leg,
}

impl ScriptedTrajectory {
    pub(super) fn position(&mut self, at: Instant) -> Position {
        while let Some(order) = self.orders.get(self.next)
            && order.at <= at
        {
            let here = self.leg.position(order.at);
            self.leg = if order.speed == 0.0 {
                Leg::stay(here, order.at, order.at)
            } else {
                Leg::travel(here, order.to, order.at, order.speed)
            };
            self.next += 1;
        }
        self.leg.position(at)
    }
}
