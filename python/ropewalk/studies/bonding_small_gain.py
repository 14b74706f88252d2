"""What may be behind the losses of the bonding paper's figure 3 with k = 0.1: roundings, and late senders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ropewalk.studies import bonding_cells as made

if TYPE_CHECKING:
    from ropewalk.report import Report
    from ropewalk.statistics import Interval
    from ropewalk.studies.bonding_measures import Measured


class SmallGain:
    """That part of the report."""

    def __init__(self, measured: Measured, report: Report) -> None:
        """Of these results, for this report."""
        self.measured = measured
        self.report = report

    def losses(self, rounding: str, pace: str, sender: str) -> list[Interval]:
        """Per cent, by T_dwd."""
        return [
            self.measured.loss("small gain", rounding=rounding, pace=pace, sender=sender, decrement_ms=delay)
            for delay in made.DECREMENT_DELAYS_MS
        ]

    def write(self) -> None:
        """Add it."""
        self.report.heading("Figure 3 with k = 0.1")
        self.report.text(
            "Every way to treat fractions of a weight with every pace of its fall; a flow that begins between two "
            "reports; and a sender whose timers are late, so that several packets leave at once."
        )
        delays = made.DECREMENT_DELAYS_MS
        published = [f"{made.PUBLISHED_LOSS[made.SMALL_GAIN, delay]:.2f}" for delay in delays]
        rows: list[list[object]] = [["published", "", "", *published]]
        seen = dict.fromkeys(
            tuple(str(cell.parameters[name]) for name in ("rounding", "pace", "sender"))
            for cell in made.small_gain_cells()
        )
        rows += [[*key, *map(_told, self.losses(*key))] for key in seen]
        self.report.table(
            "Loss in per cent with k = 0.1, by how fractions of a weight are treated, how often it falls by one, and "
            "how even the sender is",
            ["fractions", "falls", "sender", *(f"T_dwd {delay} ms" for delay in delays)],
            rows,
        )


def _told(loss: Interval) -> str:
    return f"{loss.mean:.2f}" + (f" ± {loss.half_width:.2f}" if loss.known else "")
