"""Scenarios built in Python. A mistake is told at the call that made it.

    >>> import ropewalk
    >>> scenario = ropewalk.Scenario("two-paths", duration="10 s")
    >>> scenario.hosts("client", "server")
    >>> scenario.link("a", "client", "server", rate="10 Mbit/s", delay="10 ms")
    >>> scenario.link("b", "client", "server", rate="2 Mbit/s", delay="10 ms", loss="3 %")
    >>> scenario.connection("bulk", "client", "server", protocol="mptcp")
    >>> scenario.run().benefit()                                                 # doctest: +SKIP

Keys are those of scenario files. A key whose name is a word of Python takes an underscore behind it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ropewalk.errors import ScenarioError
from ropewalk.source import resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    from ropewalk import _core
    from ropewalk.results import RunResult

    Result = TypeVar("Result")


class Scenario(Mapping[str, Any]):
    """A scenario that grows call by call. It is a mapping, and goes wherever a scenario may be given."""

    def __init__(self, name: str, *, duration: str, **keys: Any) -> None:
        """Begin with the keys of `[scenario]`."""
        self._tree: dict[str, Any] = {}
        self._calls: dict[str, str] = {}
        self._put("scenario", {"name": name, "duration": duration, **_plain(keys)})

    def tcp(self, **keys: Any) -> None:
        """Set TCP keys of every connection."""
        self._put("tcp", _plain(keys))

    def mptcp(self, **keys: Any) -> None:
        """Set Multipath TCP keys of every connection."""
        self._put("mptcp", _plain(keys))

    def topology(self, kind: str, **keys: Any) -> None:
        """Add hosts, routers and links from a template."""
        self._put("topology", {"kind": kind, **_plain(keys)})

    def hosts(self, *names: str) -> None:
        """Add hosts that have no keys."""
        for name in names:
            self._add("hosts", name, {})

    def host(self, name: str, **keys: Any) -> None:
        """Add a host, or with `count` a group of hosts."""
        self._add("hosts", name, keys)

    def router(self, name: str, **keys: Any) -> None:
        """Add a router, or with `count` a group of routers."""
        self._add("routers", name, keys)

    def link(self, name: str, first: str, second: str, **keys: Any) -> None:
        """Add a link from one node to another, or to each member of a group."""
        self._add("links", name, {"between": [first, second], **keys})

    def bond(self, name: str, **keys: Any) -> None:
        """Add a bond of links."""
        self._add("bonds", name, keys)

    def connection(self, name: str, from_: str, to: str, **keys: Any) -> None:
        """Add a connection from one host to another, or between groups of hosts."""
        self._add("connections", name, {"from": from_, "to": to, **keys})

    def table(self, name: str, **keys: Any) -> None:
        """Set any other table, such as `wifi`."""
        self._put(name, _plain(keys))

    def to_toml(self) -> str:
        """The scenario as the text of a file."""
        return resolve(self._tree).text

    def check(self) -> _core.Info:
        """Validate it without running.

        Raises:
            ScenarioError: It is not valid; the error names the calls.
        """
        from ropewalk import api

        return self._told(lambda: api.check(self._tree))

    def explain(self) -> str:
        """Its topology, drawn, and every default.

        Raises:
            ScenarioError: It is not valid; the error names the calls.
        """
        from ropewalk import api

        return self._told(lambda: api.explain(self._tree))

    def run(self, **options: Any) -> RunResult:
        """Run it, with the options of `ropewalk.run`.

        Raises:
            ScenarioError: It is not valid; the error names the calls.
            RunError: A run failed.
        """
        from ropewalk import api

        return self._told(lambda: api.run(self._tree, **options))

    def _add(self, kind: str, name: str, keys: Mapping[str, Any]) -> None:
        tables = self._tree.setdefault(kind, {})
        if name in tables:
            where, before = _caller(), self._calls[f"{kind}.{name}"]
            message = f"there is a `{kind}.{name}` already, from {before}"
            raise ScenarioError(f"{where}: {message}", message=message, key=f"{kind}.{name}")
        tables[name] = _plain(keys)
        self._calls[f"{kind}.{name}"] = _caller()

    def _put(self, name: str, keys: dict[str, Any]) -> None:
        self._tree[name] = keys
        self._calls[name] = _caller()

    def _told(self, work: Callable[[], Result]) -> Result:
        """Mistakes in terms of the calls: the text that the core has read is nobody's."""
        try:
            return work()
        except ScenarioError as error:
            raise self._at_calls(error) from None

    def _at_calls(self, error: ScenarioError) -> ScenarioError:
        mistakes = [(key, None, self._said(key, text)) for key, _, text in error.mistakes]
        return ScenarioError(
            "\n\n".join(text for _, _, text in mistakes),
            message=error.message,
            key=error.key,
            expected=error.expected,
            suggestion=error.suggestion,
            mistakes=mistakes,
        )

    def _said(self, key: str | None, text: str) -> str:
        """A diagnostic with the call and the key in place of file and line."""
        head, *rest = text.splitlines()
        message = head.split(": ", 1)[-1]
        expected = [f"  = {line.split('^ ', 1)[1]}" for line in rest if "^ " in line]
        notes = [line for line in rest if line.lstrip().startswith("= ")]
        where = f"{self._call(key)}: {key}" if key else self._call(key)
        return "\n".join([f"{where}: {message}", *expected, *notes])

    def _call(self, key: str | None) -> str:
        """The call that made the innermost table on the way to a key."""
        rest = key or "scenario"
        while rest:
            if rest in self._calls:
                return self._calls[rest]
            rest = rest.rpartition(".")[0]
        return self._calls["scenario"]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tree)

    def __len__(self) -> int:
        return len(self._tree)

    def __getitem__(self, table: str) -> Any:
        return self._tree[table]


def _plain(keys: Mapping[str, Any]) -> dict[str, Any]:
    """Without the underscore behind words of Python."""
    return {key.removesuffix("_"): value for key, value in keys.items()}


def _caller() -> str:
    """File and line of the call from outside of this module."""
    frame = sys._getframe()  # noqa: SLF001 - the one way to know who called
    while frame.f_back is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
