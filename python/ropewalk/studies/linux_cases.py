"""The cases of the study `linux`: scenarios, what is compared of each, and how near both worlds have to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ropewalk.source import Source, resolve

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Case:
    """A scenario, run with so many seeds."""

    name: str
    source: Source
    measure: str
    """What is compared: a key of `ropewalk.comparison.MEASURES`."""

    seeds: int = 1


@dataclass(frozen=True, slots=True)
class Group:
    """Cases of one kind."""

    title: str
    about: str
    bar: float | None
    """The part by which the means may differ; None: shown alone."""

    cases: tuple[Case, ...]
    seconds: float | None = None
    """For a measure in seconds: the time by which the means may differ, in place of a part."""

    @property
    def bar_in_words(self) -> str:
        """The bar, for the head of a table."""
        if self.seconds is not None:
            return f"Within {self.seconds:g} s"
        return "No bar" if self.bar is None else f"Within {100 * self.bar:g} %"


LINKS: Final = {
    "2 Mbit/s, 50 ms": (2e6, 0.05),
    "8 Mbit/s, 10 ms": (8e6, 0.01),
    "20 Mbit/s, 25 ms": (20e6, 0.025),
    "64 Mbit/s, 5 ms": (64e6, 0.005),
    "100 Mbit/s, 1 ms": (100e6, 0.001),
}
"""Rate in bit/s and one-way delay in s."""

SIZES: Final = {"10 kB": 1e4, "100 kB": 1e5, "1 MB": 1e6, "4 MB": 4e6}

PATTERNS: Final = {
    "one segment": [200],
    "three in a row": [200, 201, 202],
    "every tenth of fifty": [200, 210, 220, 230, 240],
    "a retransmission too": [200, 241],
    "in slow start": [20],
    "two of the last ten": [685, 688],
}
"""Data packets of a megabyte that are lost."""

HYSTART_RATE: Final = 20e6
HYSTART_LEAST: Final = 1e6
"""Where it matters what ends slow start."""

LONGEST_QUICK_S: Final = 5
"""Transfers that take longer are left out of a quick study."""

SPARE_S: Final = 1.0
"""Beyond what a transfer should take."""


# Per cent of losses from which a run without SACK depends much on a few timeouts.
ERRATIC = 5


def groups(*, quick: bool) -> list[Group]:
    """All groups; of a quick study fewer cases and seeds."""
    return [
        _single(quick=quick),
        _hystart(),
        _exact(),
        _random(quick=quick),
        _paths(quick=quick),
        _buffers(quick=quick),
        _losses_on_both(quick=quick),
        *_handover(quick=quick),
        _bbr(quick=quick),
    ]


def _scenario(name: str, duration_s: float, links: dict[str, Any], **connection: Any) -> Source:
    bulk = {"from": "client", "to": "server", "application": {"kind": "bulk"}} | connection
    return resolve(
        {
            "scenario": {"name": name, "duration": f"{duration_s:.1f} s", "sample_interval": "50 ms"},
            "hosts": {"client": {}, "server": {}},
            "links": links,
            "connections": {"bulk": bulk},
        }
    )


def _link(rate: float, delay_s: float, queue: int, **more: Any) -> dict[str, Any]:
    speed = {"rate": f"{rate / 1e6:g} Mbit/s", "delay": f"{delay_s * 1e3:g} ms"}
    return {"between": ["client", "server"], **speed, "queue": f"{queue} packets"} | more


def _transfer(octets: float) -> dict[str, Any]:
    return {"application": {"kind": "bulk", "bytes": f"{octets / 1e3:g} kB"}}


def _transfer_time(rate: float, delay_s: float, octets: float) -> float:
    """In seconds: what it takes, and half as long again."""
    return 1.5 * octets * 8 / rate + 24 * delay_s + SPARE_S


def _single(*, quick: bool) -> Group:
    cases = [
        Case(
            f"{size} over {link}",
            _scenario(
                "single",
                _transfer_time(rate, delay, octets),
                {"l": _link(rate, delay, 1000)},
                **_transfer(octets),
            ),
            "transfer_s",
            seeds=2 if quick else 5,
        )
        for link, (rate, delay) in LINKS.items()
        for size, octets in SIZES.items()
        if not quick or octets * 8 / rate < LONGEST_QUICK_S
    ]
    about = (
        "TCP alone, the preset `linux` (CUBIC with HyStart as in Linux, here and below), a queue of 1 000 packets, "
        "no losses: the time of a transfer."
    )
    return Group("Transfers of a single flow", about, 0.02, tuple(cases))


def _hystart() -> Group:
    cases = [
        Case(
            f"{size} over {link}, hystart {name}",
            _scenario(
                "hystart",
                _transfer_time(rate, delay, octets),
                {"l": _link(rate, delay, 200)},
                tcp={"hystart": name},
                **_transfer(octets),
            ),
            "transfer_s",
            seeds=2,
        )
        for link, (rate, delay) in LINKS.items()
        if rate == HYSTART_RATE
        for size, octets in SIZES.items()
        if octets >= HYSTART_LEAST
        for name in ("linux", "plus-plus")
    ]
    about = (
        "The same with a queue of 200 packets, which slow start fills unless HyStart ends it before. The preset has "
        "HyStart as in Linux; HyStart++ (RFC 9406) ends slow start later."
    )
    return Group("What ends slow start", about, 0.02, tuple(cases))


def _exact() -> Group:
    rate, delay = LINKS["8 Mbit/s, 10 ms"]
    cases = [
        Case(
            f"{name}{'' if sack else ', no SACK'}",
            _scenario(
                "exact",
                _transfer_time(rate, delay, 1e6) + 2,
                {"l": _link(rate, delay, 1000, forward={"loss": {"model": "exact", "packets": packets}})},
                tcp={"sack": sack, "congestion_control": "newreno"},
                **_transfer(1e6),
            ),
            "transfer_s",
            seeds=10,
        )
        for sack in (True, False)
        for name, packets in PATTERNS.items()
    ]
    about = "1 MB over 8 Mbit/s and 10 ms with Reno; the same data packets are lost in both worlds."
    return Group("Losses of chosen packets", about, 0.02, tuple(cases))


def _random(*, quick: bool) -> Group:
    losses = [1, 3] if quick else [0.5, 1, 2, 3, 5, 7]
    cases = [
        Case(
            f"{control}, {loss:g} %{'' if sack else ', no SACK'}",
            _scenario(
                "random",
                10,
                {"l": _link(8e6, 0.01, 50, forward={"loss": f"{loss:g} %"})},
                tcp={"congestion_control": control, "sack": sack},
            ),
            "goodput_mbps",
            seeds=3 if quick else 10 if sack or loss < ERRATIC else 30,
        )
        for control in ("newreno", "cubic")
        for loss in losses
        for sack in ((True,) if quick else (True, False))
    ]
    about = "TCP for ten seconds over 8 Mbit/s and 10 ms, a queue of 50 packets, each packet lost by chance: goodput."
    return Group("Random losses", about, 0.05, tuple(cases))


def _paths(*, quick: bool) -> Group:
    paths = {"a": (8e6, 0.01), "b": (4e6, 0.02), "c": (2e6, 0.04)}
    cases = [
        Case(
            f"{count} paths, {depth}",
            _scenario("paths", 10, dict(_several(paths, count, deep=depth == "deep")), protocol="mptcp"),
            "goodput_mbps",
            seeds=2 if quick else 10,
        )
        for count in (2, 3)
        for depth in ("queues of the bandwidth-delay product", "deep")
    ]
    about = "Multipath TCP for ten seconds over 8 Mbit/s and 10 ms, 4 Mbit/s and 20 ms, 2 Mbit/s and 40 ms: goodput."
    return Group("Two and three paths", about, 0.05, tuple(cases))


def _several(paths: dict[str, tuple[float, float]], count: int, *, deep: bool) -> Iterator[tuple[str, Any]]:
    for name, (rate, delay) in list(paths.items())[:count]:
        product = round(rate * 2 * delay / 8 / 1500)
        yield name, _link(rate, delay, 200 if deep else product)


def _buffers(*, quick: bool) -> Group:
    sizes = ["64 kB", "256 kB"] if quick else ["64 kB", "128 kB", "256 kB", "1 MB", "4 MB"]
    links = {"a": _link(8e6, 0.01, 50), "b": _link(2e6, 0.05, 50, forward={"loss": "3 %"})}
    cases = [
        Case(
            size,
            _scenario("buffers", 10, links, protocol="mptcp", mptcp={"receive_buffer": size}),
            "goodput_mbps",
            seeds=2 if quick else 30,
        )
        for size in sizes
    ]
    about = (
        "Multipath TCP over 8 Mbit/s and 10 ms, and over 2 Mbit/s, 50 ms and losses of 3 %, by the receive buffer: "
        "goodput."
    )
    return Group("Receive buffers, where one path holds data back", about, 0.05, tuple(cases))


def _losses_on_both(*, quick: bool) -> Group:
    losses = [4, 6] if quick else [1, 3, 4, 5, 6, 7]
    cases = [
        Case(
            f"{control}, losses of {loss:g} % on both",
            _scenario(
                "both-lose",
                10,
                {
                    "a": _link(8e6, 0.01, 50, loss=f"{loss:g} %"),
                    "b": _link(4e6, 0.02, 50, loss=f"{loss:g} %"),
                },
                protocol="mptcp",
                mptcp={"congestion_control": control},
            ),
            "goodput_mbps",
            seeds=2 if quick else 10,
        )
        for control in (("cubic",) if quick else ("cubic", "uncoupled"))
        for loss in losses
    ]
    about = (
        "Multipath TCP for ten seconds over 8 Mbit/s and 10 ms, and 4 Mbit/s and 20 ms, queues of 50 packets, each "
        "packet lost by chance: goodput."
    )
    return Group("Losses on both paths", about, 0.05, tuple(cases))


def _handover(*, quick: bool) -> tuple[Group, Group]:
    speeds = {"the fast path": (8e6, 0.01), "the slow path": (4e6, 0.02)}
    controls = ("cubic",) if quick else ("cubic", "uncoupled")
    seeds = 2 if quick else 10

    def scenario(control: str, dark: str) -> Source:
        changes = [{"at": "5 s", "state": "down"}, {"at": "15 s", "state": "up"}]
        links = {
            name[4:8]: _link(rate, delay, 50, **({"changes": changes} if name == dark else {}))
            for name, (rate, delay) in speeds.items()
        }
        more = {"protocol": "mptcp", "mptcp": {"congestion_control": control}}
        return _scenario("handover-study", 20, links, **more)

    def cases(measure: str, words: str) -> tuple[Case, ...]:
        return tuple(
            Case(f"{control}, {dark} is down{words}", scenario(control, dark), measure, seeds)
            for control in controls
            for dark in speeds
        )

    about = (
        "Multipath TCP for twenty seconds over 8 Mbit/s and 10 ms, and 4 Mbit/s and 20 ms, queues of 50 packets. One "
        "path is down from 5 s to 15 s: "
    )
    return (
        Group("Handover", f"{about}goodput.", 0.05, cases("goodput_mbps", "")),
        Group(
            "The gap of a handover",
            f"{about}the longest time in which the application gets nothing, in steps of 50 ms.",
            None,
            cases("pause_s", ": pause"),
            seconds=0.2,
        ),
    )


def _bbr(*, quick: bool) -> Group:
    cases = [
        Case(
            f"BBR, losses of {loss:g} %, a queue of {queue} packets",
            _scenario(
                "bbr",
                10,
                {"l": _link(8e6, 0.01, queue, forward={"loss": f"{loss:g} %"})},
                tcp={"congestion_control": "bbr"},
            ),
            "goodput_mbps",
            seeds=2 if quick else 10,
        )
        for loss in ((0, 3) if quick else (0, 1, 3, 7))
        for queue in (15, 200)
    ]
    about = (
        "TCP for ten seconds over 8 Mbit/s and 10 ms. The kernel has version 1, which keeps its rate whatever is "
        "lost; the simulation has version 3, which gives way to losses above 2 %: goodput."
    )
    return Group("BBR", about, None, tuple(cases))
