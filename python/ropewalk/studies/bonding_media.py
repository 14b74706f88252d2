"""Voice and video over the bond, both ways: what a listener and a viewer have of it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from ropewalk.benefit import judge
from ropewalk.figures import Bars, Chart, Level
from ropewalk.statistics import mean_interval
from ropewalk.studies import bonding_beyond_cells as wider
from ropewalk.studies import bonding_media_cells as made
from ropewalk.studies.emodel import best_rating
from ropewalk.tables import cell as text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from ropewalk.benefit import Benefit
    from ropewalk.report import Report
    from ropewalk.statistics import Interval
    from ropewalk.studies.bonding_measures import Measured

DEADLINE_MS: Final = 150.0
"""A frame that is whole later after it was captured is not shown.

ITU-T G.114 §4 has this one-way delay as the limit that most applications do not notice.
"""

SATISFIED, DISSATISFIED = 80.0, 60.0
"""From the first on users are satisfied; below the second nearly all are dissatisfied (ITU-T G.109, Table 1)."""

WAYS: Final = {"down": "downwards", "up": "upwards"}
VARIANTS: Final = (*made.VARIANTS, *wider.ALONE.values())


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame of a call: when it was captured and when it was whole, if ever; in ms."""

    captured: float
    complete: float | None
    key: bool = False


def shown(frames: Sequence[Frame], deadline_ms: float = DEADLINE_MS) -> list[bool]:
    """Which frames are shown: whole in time, with all before them from the last key frame on.

    A frame that comes too late to be shown is good enough for those after it to build on.
    """
    found = []
    usable: float | None = None
    for frame in frames:
        before = 0.0 if frame.key else usable
        usable = None if before is None or frame.complete is None else max(before, frame.complete)
        found.append(usable is not None and usable <= frame.captured + deadline_ms)
    return found


def freezes(pictures: Sequence[bool], interval_ms: float = made.VIDEO_MS) -> int:
    """How often the picture stands still, as browsers count it (`freezeCount` of W3C's WebRTC statistics).

    From one frame that is shown to the next go three intervals or more, or one and 150 ms, whichever is longer.
    The ends count as frames that are shown.
    """
    least = max(3 * interval_ms, interval_ms + 150)
    places = [-1, *(place for place, is_shown in enumerate(pictures) if is_shown), len(pictures)]
    return sum((after - before) * interval_ms >= least for before, after in pairwise(places))


class Media:
    """The part of the report about calls."""

    def __init__(self, measured: Measured, report: Report, add: Callable[[Chart], None]) -> None:
        """Of these results, for this report; charts are handed to `add`."""
        self.measured = measured
        self.report = report
        self.add = add
        self.conditions = list(wider.conditions())
        self.seconds = measured.extent.beyond_s - made.START_S - made.REST_S
        self._frames = (
            measured.results["media"]
            .tables["frames"]
            .partition_by("load", "condition", "variant", "connection", as_dict=True)
        )
        self._ratings: dict[tuple[str, ...], list[float]] = {}

    def _by_seed(self, load: str, condition: str, variant: str, name: str) -> list[pl.DataFrame]:
        """The frames of a connection, in order, of each seed."""
        rows = self._frames[load, condition, variant, name].sort("seed", "frame")
        return rows.partition_by("seed", maintain_order=True)

    # Measures, each by seed.

    def ratings(self, load: str, condition: str, variant: str, way: str) -> list[float]:
        """R of the call."""
        key = (load, condition, variant, way)
        if key not in self._ratings:
            self._ratings[key] = [
                best_rating(((run["complete_s"] - run["captured_s"]) * 1e3).to_list())
                for run in self._by_seed(load, condition, variant, made.voice(way))
            ]
        return self._ratings[key]

    def pictures(self, load: str, condition: str, variant: str, way: str) -> list[list[bool]]:
        """Which frames are shown."""
        return [
            shown(
                [
                    Frame(
                        1e3 * captured,
                        None if complete is None else 1e3 * complete,
                        frame % made.KEY_EVERY == 0,
                    )
                    for frame, captured, complete in run.select(
                        "frame", "captured_s", "complete_s"
                    ).iter_rows()
                ]
            )
            for run in self._by_seed(load, condition, variant, made.video(way))
        ]

    def in_time(self, load: str, condition: str, variant: str, way: str) -> list[float]:
        """Frames shown, per cent."""
        return [100 * sum(run) / len(run) for run in self.pictures(load, condition, variant, way)]

    def freezes_a_minute(self, load: str, condition: str, variant: str, way: str) -> list[float]:
        """Freezes in a minute."""
        return [freezes(run) * 60 / self.seconds for run in self.pictures(load, condition, variant, way)]

    def goodputs(self, load: str, condition: str, variant: str, way: str) -> list[float]:
        """Of the TCP flow beside the call, Mbit/s."""
        return self.measured.goodputs(
            "media", load=load, condition=condition, variant=variant, name=made.tcp(way)
        )

    # The report.

    def write(self) -> None:
        """Add it."""
        self.report.heading("A call with voice and video, both ways at once")
        self.report.text(
            f"G.711, a packet of {made.VOICE_OCTETS} octets each {made.VOICE_MS} ms, and video of "
            f"{1000 // made.VIDEO_MS} frames per second, {made.VIDEO_PACKETS} packets of {made.VIDEO_OCTETS} octets "
            f"each, with a key frame of {made.KEY_PACKETS} packets each {made.KEY_EVERY * made.VIDEO_MS // 1000} s, "
            "go both ways; alone, or beside one greedy TCP flow each way. Lines carry as much upwards as downwards; "
            "recorded ones what was recorded.",
            "The rating of voice is R of ITU-T G.107 (E-model) for G.711 with concealment, by delay, loss and bursts "
            "of loss, every other parameter at its default: 93 is the best, from 80 on users are satisfied, below 60 "
            "nearly all are dissatisfied (G.109). The jitter buffer is the one that is best for the run. A frame of "
            f"video is shown if it is whole {DEADLINE_MS:g} ms after it was captured, and so are the frames since "
            "the last key frame by then. A freeze is what browsers count as one.",
        )
        for load in made.LOADS:
            for way in WAYS:
                self._values(f"Voice {load}, {WAYS[way]}: rating R", self.ratings, load, way, VARIANTS)
        for load in made.LOADS:
            for way in WAYS:
                told = f"{load}, {WAYS[way]}"
                self._values(f"Video {told}: frames shown (%)", self.in_time, load, way, VARIANTS)
                self._values(f"Video {told}: freezes a minute", self.freezes_a_minute, load, way, VARIANTS)
        for way in WAYS:
            told = f"TCP beside a call, both ways at once, {WAYS[way]}"
            self._values(f"{told}: goodput (Mbit/s)", self.goodputs, made.LOADED, way, VARIANTS)
        self.report.text(
            "Benefit and harm against the best line alone: the 95 % interval of the difference, paired by seed, "
            "excludes zero. A difference that nobody hears or sees may be clear, too."
        )
        for way in WAYS:
            told = f"beside TCP, {WAYS[way]}, against the best line alone"
            self._verdicts(f"Voice {told}: R", self.ratings, way)
            self._verdicts(f"Video {told}: frames shown (%)", self.in_time, way)
            self._verdicts(
                f"TCP beside a call, {WAYS[way]}, against the best line alone (Mbit/s)", self.goodputs, way
            )
        self._chart()

    def _values(
        self,
        caption: str,
        of: Callable[[str, str, str, str], list[float]],
        load: str,
        way: str,
        variants: Sequence[str],
    ) -> None:
        rows = [
            [variant, *(short(mean_interval(of(load, at, variant, way))) for at in self.conditions)]
            for variant in variants
        ]
        self.report.table(caption, ["scheduler, or a line alone", *self.conditions], rows)

    def benefit(
        self, of: Callable[[str, str, str, str], list[float]], condition: str, variant: str, way: str
    ) -> Benefit:
        """A scheduler against the best line alone, beside TCP."""
        alone = {line: of(made.LOADED, condition, line, way) for line in wider.ALONE.values()}
        return judge(variant, of(made.LOADED, condition, variant, way), alone)

    def _verdicts(self, caption: str, of: Callable[[str, str, str, str], list[float]], way: str) -> None:
        first = next(iter(made.VARIANTS))
        beaten = [self.benefit(of, at, first, way).best_path for at in self.conditions]
        rows = [["the line to beat", *beaten]]
        for variant in made.VARIANTS:
            found = [self.benefit(of, at, variant, way) for at in self.conditions]
            rows.append([variant, *(f"{_signed(one.difference)}: {one.verdict}" for one in found)])
        self.report.table(caption, ["difference", *self.conditions], rows)

    def _chart(self) -> None:
        bars = [
            Bars.of(
                variant,
                [mean_interval(self.ratings(made.LOADED, at, variant, "down")) for at in self.conditions],
            )
            for variant in VARIANTS
        ]
        self.add(
            Chart(
                "media-voice",
                "Voice beside TCP both ways, downwards",
                "",
                "rating R (ITU-T G.107)",
                [],
                caption="Means over the seeds, with their 95 % intervals. G.711 with concealment and the best jitter "
                "buffer.",
                categories=[
                    condition.replace(", ", ",\n").replace(" for ", "\nfor ") for condition in self.conditions
                ],
                bars=bars,
                levels=[
                    Level("users are satisfied from here on (G.109)", SATISFIED),
                    Level("nearly all are dissatisfied below", DISSATISFIED),
                ],
            )
        )


def short(interval: Interval) -> str:
    """A mean and its interval, to what can be heard or seen."""
    return text_of(interval) if not interval.known else f"{interval.mean:.1f} ± {interval.half_width:.1f}"


def _signed(difference: Interval) -> str:
    spread = f" ± {difference.half_width:.1f}" if difference.known else ""
    return f"{difference.mean:+.1f}{spread}"
