"""All mutants of a crate in one source: `a + b` becomes `(if on(7) { a - b } else { a + b })`.

cargo-mutants says which mutants there are. The tree of each file says where the operands, arms and bodies lie.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import tree_sitter_rust
from tree_sitter import Language, Node, Parser

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Mutant: TypeAlias = dict[str, Any]
"""As `cargo mutants --list --json` writes it, and its number as `id`."""

ON: Final = "crate::mutants::on"
PARSER: Final = Parser(Language(tree_sitter_rust.language()))

MODULE: Final = """
/// Mutants, chosen by the variable MUTANT. With COVER, the numbers of those that were reached go to that file.
pub mod mutants {
    use std::io::Write;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
    const UNKNOWN: u32 = u32::MAX;
    const COVERING: u32 = u32::MAX - 1;
    const MOST: usize = 1 << 16;
    static ACTIVE: AtomicU32 = AtomicU32::new(UNKNOWN);
    static SEEN: [AtomicBool; MOST] = [const { AtomicBool::new(false) }; MOST];
    #[inline(always)]
    #[allow(missing_docs)]
    pub fn on(mutant: u32) -> bool {
        let active = ACTIVE.load(Relaxed);
        if active < COVERING { active == mutant } else { slow(mutant) }
    }
    #[cold]
    #[inline(never)]
    fn slow(mutant: u32) -> bool {
        if ACTIVE.load(Relaxed) == UNKNOWN {
            let chosen = std::env::var("MUTANT").ok().and_then(|id| id.parse().ok()).unwrap_or(0);
            let active = if std::env::var_os("COVER").is_some() { COVERING } else { chosen };
            ACTIVE.store(active, Relaxed);
            if active != COVERING { return active == mutant; }
        }
        if !SEEN[mutant as usize].swap(true, Relaxed) {
            let file = std::env::var_os("COVER").unwrap();
            let mut file = std::fs::OpenOptions::new().append(true).create(true).open(file).unwrap();
            file.write_all(format!("{mutant}\\n").as_bytes()).unwrap();
        }
        false
    }
}
"""
"""What is added to each crate."""


class Source:
    """A file's octets, its tree, and where mutants of each kind have their place."""

    def __init__(self, text: str) -> None:
        self.octets = text.encode()
        self.lines = text.split("\n")
        self.tree = PARSER.parse(self.octets)
        self.operators: dict[int, Node] = {}
        self.unary: dict[int, Node] = {}
        self.arms: dict[int, Node] = {}
        self.guards: dict[int, Node] = {}
        self.fields: dict[int, Node] = {}
        self.bodies: list[Node] = []
        for node in nodes(self.tree.root_node):
            self._place(node)

    def _place(self, node: Node) -> None:
        if node.type in {"binary_expression", "compound_assignment_expr"}:
            self.operators[part(node, "operator").start_byte] = node
        elif node.type == "unary_expression":
            self.unary[node.start_byte] = node
        elif node.type == "match_arm":
            self.arms[node.start_byte] = node
            guard = part(node, "pattern").child_by_field_name("condition")
            if guard:
                self.guards[guard.start_byte] = guard
        elif node.type == "field_initializer_list" and base_of(node):
            fields = ("field_initializer", "shorthand_field_initializer")
            self.fields.update((field.start_byte, field) for field in node.children if field.type in fields)
        elif node.type == "function_item":
            self.bodies.append(part(node, "body"))

    def offset(self, at: dict[str, int]) -> int:
        """Octets before a line and column, both counted from 1."""
        before = self.lines[: at["line"] - 1]
        column = self.lines[at["line"] - 1][: at["column"] - 1]
        return sum(len(line.encode()) + 1 for line in before) + len(column.encode())

    def node_of(self, mutant: Mutant) -> Node | None:
        """The node that is another one in this mutant."""
        start = self.offset(mutant["span"]["start"])
        if mutant["genre"] == "FnValue":
            around = [body for body in self.bodies if body.start_byte <= start < body.end_byte]
            return max(around, key=lambda body: body.start_byte, default=None)
        places = {
            "BinaryOperator": self.operators,
            "UnaryOperator": self.unary,
            "MatchArm": self.arms,
            "MatchArmGuard": self.guards,
            "StructField": self.fields,
        }
        return places.get(mutant["genre"], {}).get(start)

    def text(self, node: Node) -> str:
        """As it is."""
        return self.octets[node.start_byte : node.end_byte].decode()


def nodes(node: Node) -> Iterator[Node]:
    """The node and all below it."""
    yield node
    for child in node.children:
        yield from nodes(child)


def part(node: Node, name: str) -> Node:
    """A part that it must have."""
    found = node.child_by_field_name(name)
    if found is None:
        raise ValueError(f"{node.type} without {name}")
    return found


def base_of(fields: Node) -> Node | None:
    """What stands behind `..`."""
    return next(
        (child.named_children[0] for child in fields.children if child.type == "base_field_initializer"), None
    )


class Rewriter:
    """One file with these mutants in it."""

    def __init__(self, text: str, mutants: list[Mutant]) -> None:
        self.source = Source(text)
        self.at: dict[int, list[Mutant]] = defaultdict(list)
        self.unplaced: list[int] = []
        """Numbers of mutants whose place is none that can be chosen at run time."""
        for mutant in mutants:
            node = self.source.node_of(mutant)
            if node:
                self.at[node.id].append(mutant)
            else:
                self.unplaced.append(mutant["id"])

    def rewritten(self) -> str:
        """The file, whose functions are none of them const."""
        root = self.source.tree.root_node
        before, behind = self.source.octets[: root.start_byte], self.source.octets[root.end_byte :]
        return before.decode() + self.render(root) + behind.decode()

    def render(self, node: Node) -> str:
        """A node with the mutants in it."""
        mutants = self.at.get(node.id, [])
        inside = self._inside(node, mutants)
        change = {
            "FnValue": self._early,
            "BinaryOperator": self._binary,
            "UnaryOperator": self._unary,
            "MatchArmGuard": self._guard,
            "StructField": self._field,
        }
        known = change.get(mutants[0]["genre"]) if mutants else None
        return known(node, mutants, inside) if known else inside

    def _inside(self, node: Node, mutants: list[Mutant]) -> str:
        if not node.children:
            return self.source.text(node)
        deleted = [mutant["id"] for mutant in mutants if mutant["genre"] == "MatchArm"]
        out, at = [], node.start_byte
        for child in node.children:
            out.append(self.source.octets[at : child.start_byte].decode())
            out.append(self._pattern(child, deleted) if child.type == "match_pattern" else self.render(child))
            at = child.end_byte
        out.append(self.source.octets[at : node.end_byte].decode())
        return "".join(out)

    def _pattern(self, pattern: Node, deleted: list[int]) -> str:
        """An arm that is deleted matches nothing."""
        if not deleted:
            return self.render(pattern)
        kept = " && ".join(f"!{ON}({number})" for number in deleted)
        guard = pattern.child_by_field_name("condition")
        if not guard:
            return f"{self.source.text(pattern)} if {kept}"
        before = self.source.octets[pattern.start_byte : guard.start_byte].decode()
        return f"{before}({kept} && ({self.render(guard)}))"

    def _early(self, _body: Node, mutants: list[Mutant], inside: str) -> str:
        early = (f" if {ON}({m['id']}) {{ return {m['replacement']}; }}" for m in mutants)
        return "{" + "".join(early) + inside[1:]

    def _unary(self, node: Node, mutants: list[Mutant], inside: str) -> str:
        operand = self.source.text(node)[1:]
        return "(" + _choice(((m["id"], m["replacement"] + operand) for m in mutants), inside) + ")"

    def _guard(self, _guard: Node, mutants: list[Mutant], inside: str) -> str:
        true = (f"{ON}({m['id']}) || " for m in mutants if m["replacement"] == "true")
        false = (f"!{ON}({m['id']}) && " for m in mutants if m["replacement"] == "false")
        return f"({''.join(true)}({''.join(false)}({inside})))"

    def _binary(self, node: Node, mutants: list[Mutant], inside: str) -> str:
        left, right = (self.source.text(part(node, side)) for side in ("left", "right"))
        text = _choice(((m["id"], f"{left} {m['replacement']} {right}") for m in mutants), inside)
        return f"({text})" if node.type == "binary_expression" else text

    def _field(self, node: Node, mutants: list[Mutant], _inside: str) -> str:
        """Without the field, its value is the base's."""
        if node.type == "field_initializer":
            name, value = self.source.text(part(node, "field")), self.render(part(node, "value"))
        else:
            name = value = self.source.text(node)
        fields = node.parent
        base = base_of(fields) if fields else None
        if fields is None or fields.parent is None or base is None:
            raise ValueError(f"a field without a base: {name}")
        kind = self.source.text(part(fields.parent, "name"))
        of_base = f"let base: {kind} = {self.source.text(base)}; base.{name}"
        return f"{name}: " + _choice([(mutants[0]["id"], of_base)], value)


def _choice(options: Any, otherwise: str) -> str:
    return "".join(f"if {ON}({number}) {{ {text} }} else " for number, text in options) + f"{{ {otherwise} }}"


def rewrite(clean: Path, tree: Path, mutants: list[Mutant], *, constant: set[str]) -> list[int]:
    """Write the files of `clean` that have mutants to `tree`, and the module to their crates.

    Functions named in `constant` stay const. Returns the numbers of mutants that have no place.
    """
    files: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        files[mutant["file"]].append(mutant)
    unplaced = []
    for file, own in files.items():
        rewriter = Rewriter((clean / file).read_text(encoding="utf-8"), own)
        plain = re.compile(r"const fn (?!(?:" + "|".join(constant or {"-"}) + r")\b)")
        write(tree / file, plain.sub("fn ", rewriter.rewritten()))
        unplaced += rewriter.unplaced
    for crate in {file.partition("/src/")[0] for file in files}:
        root = f"{crate}/src/lib.rs"
        text = (
            (clean / root).read_text(encoding="utf-8")
            if root not in files
            else (tree / root).read_text("utf-8")
        )
        write(tree / root, text + MODULE)
    return unplaced


def write(path: Path, text: str) -> None:
    """Write a file, unless that is what it has: cargo builds again what is newer."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
