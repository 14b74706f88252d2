"""The tree with all mutants, without those that the compiler refuses, and its test programs."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rewriting import rewrite, write

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rewriting import Mutant

BRANCH: Final = re.compile(rb"if crate::mutants::on\((\d+)\) \{")
NEAR: Final = 250
"""Octets before an error in which the mutants stand whose types do not fit what they replace."""


class Program(NamedTuple):
    """A test program, and the folder that it runs in."""

    name: str
    path: str
    folder: str


def mutants_of(root: Path, packages: list[str]) -> list[Mutant]:
    """All mutants that cargo-mutants knows, numbered from 1."""
    command = ["cargo", "mutants", "--list", "--json"]
    for package in packages:
        command += ["--package", package]
    listed: list[Mutant] = json.loads(
        subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE).stdout
    )
    for number, mutant in enumerate(listed, 1):
        mutant["id"] = number
        del mutant["diff"]
    return listed


def copy(root: Path, tree: Path) -> None:
    """Write what git knows of the project to `tree`, and leave what is the same."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, stdout=subprocess.PIPE).stdout
    for name in listed.decode().split("\0"):
        source, target = root / name, tree / name
        if name and source.is_file() and (not target.exists() or target.read_bytes() != source.read_bytes()):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())


class Tree:
    """A copy of the project with mutants in it."""

    def __init__(self, root: Path, folder: Path, packages: list[str], mutants: list[Mutant]) -> None:
        self.root, self.path, self.packages, self.mutants = root, folder / "tree", packages, mutants
        self.target = folder / "target"
        self.constant: set[str] = set()
        self.refused: set[int] = set()

    def cargo(self, *arguments: str) -> tuple[int, list[dict[str, Any]]]:
        """Run cargo in the tree: its exit code and its messages."""
        flags = {"RUSTFLAGS": "--cap-lints allow", "CARGO_TARGET_DIR": str(self.target)}
        chosen = [word for package in self.packages for word in ("--package", package)]
        command = ["cargo", *arguments, "--locked", "--quiet", "--message-format=json", *chosen]
        done = subprocess.run(
            command,
            check=False,
            cwd=self.path,
            env=os.environ | flags,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]

    def settle(self) -> None:
        """Take out mutants until the rest compiles.

        Raises:
            RuntimeError: An error is in none of them.
        """
        copy(self.root, self.path)
        while True:
            kept = [mutant for mutant in self.mutants if mutant["id"] not in self.refused]
            self.refused |= set(rewrite(self.root, self.path, kept, constant=self.constant))
            code, messages = self.cargo("check", "--tests")
            if code == 0:
                return
            before = len(self.refused) + len(self.constant)
            for message in messages:
                if message["reason"] == "compiler-message" and message["message"]["level"] == "error":
                    self._blame(message["message"])
            if len(self.refused) + len(self.constant) == before:
                raise RuntimeError("the tree does not compile, and no mutant is to blame")
            print(f"{len(self.refused)} mutants do not compile", flush=True)

    def _blame(self, error: dict[str, Any]) -> None:
        constant = re.search(r"non-const .*`(?:[\w:<>]+::)?(\w+)`", error["message"])
        if constant:
            self.constant.add(constant.group(1))
            return
        places = sorted(spans(error), key=lambda span: not span["is_primary"])
        files = {span["file_name"]: (self.path / span["file_name"]) for span in places}
        octets = {name: path.read_bytes() for name, path in files.items() if path.exists()}
        places = [span for span in places if span["file_name"] in octets]
        for span in places:
            inside = branches_at(octets[span["file_name"]], span["byte_start"], span["byte_end"])
            if inside:
                self.refused |= inside
                return
        for span in places:
            text = octets[span["file_name"]][max(0, span["byte_start"] - NEAR) : span["byte_end"]]
            near = [int(found.group(1)) for found in BRANCH.finditer(text)]
            if near:
                self.refused |= set(near[-3:])
                return

    def programs(self) -> list[Program]:
        """Build the tests."""
        code, messages = self.cargo("test", "--no-run")
        if code:
            raise RuntimeError("the tests do not build")
        made = [message for message in messages if message.get("executable") and message["profile"]["test"]]
        return [self._program(message) for message in made]

    def _program(self, message: dict[str, Any]) -> Program:
        folder = Path(message["manifest_path"]).parent
        kind = "lib" if "lib" in message["target"]["kind"] else message["target"]["name"]
        return Program(f"{folder.name} {kind}", message["executable"], str(folder))


def spans(error: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The places that an error names."""
    yield from error["spans"]
    for child in error["children"]:
        yield from spans(child)


def branches_at(octets: bytes, begin: int, end: int) -> set[int]:
    """The mutants in whose own code these octets lie."""
    found = set()
    for branch in BRANCH.finditer(octets, 0, end):
        depth, at = 1, branch.end()
        while depth and at < len(octets):
            depth += {ord("{"): 1, ord("}"): -1}.get(octets[at], 0)
            at += 1
        if branch.start() <= begin and end <= at:
            found.add(int(branch.group(1)))
    return found


def keep(path: Path, value: Any) -> None:
    """Write JSON."""
    write(path, _json(value))


def is_kept(path: Path, value: Any) -> bool:
    """Has the file this value?"""
    return path.exists() and path.read_text(encoding="utf-8") == _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, indent=1) + "\n"
