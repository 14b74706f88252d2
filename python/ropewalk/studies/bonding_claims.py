"""What the bonding paper states, judged by what was measured: every verdict is computed."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING, Final

from ropewalk.benefit import clearly_above
from ropewalk.report import Claim, Verdict
from ropewalk.statistics import Interval, mean_interval
from ropewalk.studies import bonding_cells as made
from ropewalk.studies.bonding_measures import INNER, ROOM_MBPS, over_readings
from ropewalk.tables import cell as text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ropewalk.studies.bonding_measures import Course, Measured

PACES: Final = (made.AS_PRINTED, made.LIKELIEST)
"""The readings that over-time statements are judged in."""

SEVERAL: Final = 2.0
"""Per cent of loss from which we call it several."""
TOP_S: Final = (16.0, 25.0)
"""The flat top of figure 3's demand, less a second of settling."""
FALL_S: Final = (25.0, 40.0)
"""Where it falls."""
AT_ONCE_S: Final = 1.0
"""The excess has moved at once if nine tenths of it have after so long: twenty reports."""
HAND_BACK_S: Final = (3.0, 7.0)
"""What we take for about 5 s."""
LOW_LOSS: Final = made.PUBLISHED_LOSS[0.5, 250]
"""Per cent that the paper calls low: its own loss under the parameters of figure 5."""
SECOND_S: Final = (88.7, 165.1)
"""Figure 6: the flow of 63 Mbit/s."""
SECOND_MBPS: Final = 63.0
SHIFTED: Final = 0.1
"""Load has moved if LTE carries at least this part of the flow."""
LAST_THIRD_S: Final = (140.0, 165.0)
LAST_S: Final = (155.0, 165.0)
"""Where lasting room is judged: with 1000 ms the overshoot of the start drains until about 155 s in some seeds."""
NEAR: Final = 0.1
"""A measured value is near a published one within this part of it, or within its interval."""
PUBLISHED_TCP: Final = {1: 7.79, 2: 14.30}
"""§5.4: Mbit/s of one and two flows."""

SHARING: Final = (
    "It depends on how TCP's losses spread over time, and the text tells neither the shaper nor how "
    "even the UDP sender is. "
    "The line has 2 Mbit/s to spare; the rest of what TCP gets, the bond must have moved to LTE. A "
    "weight falls only after T_dwd without loss, so it counts how TCP's losses are spread over time. "
    "Tail drop loses a few packets at once and then none for a second or more; "
    "RED loses a packet now and then, which keeps the weight up. A UDP sender that is late by half a millisecond on "
    "average sends small bursts, which spread the losses of tail drop likewise."
)


def all_claims(measured: Measured) -> list[Claim]:
    """Every statement in the order of the paper's figures."""
    return [claim(measured) for claim in CLAIMS]


def ramp_loss(measured: Measured, reading: str, gain: float, delay: int) -> Interval:
    """Loss in per cent of figure 3."""
    return measured.loss(f"ramp {reading}", gain=gain, decrement_ms=delay)


def words(reading: str) -> str:
    """What the report calls a reading."""
    return made.READINGS[reading][2]


def told(by_reading: Mapping[str, str]) -> str:
    """Measured values of several readings, each with its words."""
    return "; ".join(f"{text} {words(reading)}" for reading, text in by_reading.items())


# Figure 3.


def loss_falls(measured: Measured) -> Claim:
    """Loss falls with k, and with T_dwd, everywhere."""
    corners = ((0.1, 50), (0.5, 250), (1.0, 500))

    def monotonous(reading: str) -> bool:
        value = {
            (gain, delay): ramp_loss(measured, reading, gain, delay).mean
            for gain in made.GAINS
            for delay in made.DECREMENT_DELAYS_MS
        }
        gains, delays = made.GAINS, made.DECREMENT_DELAYS_MS
        with_gain = all(value[a, d] >= value[b, d] for a, b in pairwise(gains) for d in delays)
        return with_gain and all(value[g, a] >= value[g, b] for a, b in pairwise(delays) for g in gains)

    return Claim(
        claim="One rising flow: loss falls as k and T_dwd grow",
        published="6.25 % (k 0.1, T_dwd 50 ms), 0.53 % (0.5, 250 ms), 0.15 % (1, 500 ms)",
        measured=told(
            {
                reading: ", ".join(text_of(ramp_loss(measured, reading, *corner)) for corner in corners)
                + " %"
                for reading in PACES
            }
        ),
        verdict=over_readings({reading: monotonous(reading) for reading in made.READINGS}),
        reason=(
            "As printed, the weight falls by one per report (50 ms) once nothing was lost for T_dwd, and T_dwd "
            "hardly matters. With one per T_dwd the losses order as published and come far nearer (see the "
            "tables): the experiments very likely ran that. What is left may be the queue before the DSL "
            "line and the shape of the demand, neither of which the paper gives in numbers."
        ),
    )


def small_gain(measured: Measured) -> Claim:
    """With k = 0.1 several per cent are lost, more than with the other k."""

    def extent(gain: float, reading: str) -> tuple[float, float]:
        values = [ramp_loss(measured, reading, gain, delay).mean for delay in made.DECREMENT_DELAYS_MS]
        return min(values), max(values)

    small = {reading: extent(0.1, reading) for reading in made.READINGS}
    return Claim(
        claim="With k = 0.1 not enough traffic is shifted: several per cent are lost throughout",
        published="4.1 to 6.25 %",
        measured=told({reading: f"{low:.2f} to {high:.2f} %" for reading, (low, high) in small.items()}),
        verdict=over_readings(
            {reading: low >= SEVERAL and low > extent(0.5, reading)[1] for reading, (low, _) in small.items()}
        ),
        reason=(
            "The step is k · lost / sent · 50, which with k = 0.1 and less than a tenth lost is below one half. "
            "Whether it moves the weight depends on how fractions are treated, which the paper does not tell: "
            "cut off it never does, rounded it does from a loss of a tenth on, kept it always does."
        ),
    )


def swings(measured: Measured, reading: str, gain: float, delay: int) -> list[float]:
    """Standard deviation of LTE's throughput while the demand is constant, Mbit/s."""
    where: dict[str, str | float] = {"gain": gain, "decrement_ms": delay}
    return [
        course.spread(*TOP_S) for course in measured.courses(f"ramp {reading}", "lte", "received_mbps", where)
    ]


def oscillates_with_gain(measured: Measured) -> Claim:
    """Figure 3: the larger k, the larger the swings."""

    def holds(reading: str) -> bool:
        return all(
            clearly_above(swings(measured, reading, b, delay), swings(measured, reading, a, delay))
            for a, b in pairwise(made.GAINS)
            for delay in made.DECREMENT_DELAYS_MS
        )

    return Claim(
        claim="The larger k, the more the load swings between the lines",
        published="figure 3",
        measured=told(
            {
                reading: ", ".join(
                    f"{text_of(mean_interval(swings(measured, reading, gain, 50)))} (k {gain:g})"
                    for gain in made.GAINS
                )
                + " Mbit/s"
                for reading in PACES
            }
        )
        + " (standard deviation of LTE's throughput at constant demand, T_dwd 50 ms)",
        verdict=over_readings({reading: holds(reading) for reading in PACES}),
        reason=(
            "Judged for every T_dwd, by differences paired by seed. A weight that never has to move does not swing."
        ),
    )


def calmer_with_delay(measured: Measured) -> Claim:
    """Figure 3: the larger T_dwd, the smaller the swings, at the k for which the paper says so."""

    def holds(reading: str) -> bool:
        by_delay = [swings(measured, reading, 1.0, delay) for delay in made.DECREMENT_DELAYS_MS]
        return all(clearly_above(a, b) for a, b in pairwise(by_delay))

    return Claim(
        claim="A larger T_dwd counteracts the swings of a high k",
        published="figure 3",
        measured=told(
            {
                reading: ", ".join(
                    f"{text_of(mean_interval(swings(measured, reading, 1.0, delay)))} ({delay} ms)"
                    for delay in made.DECREMENT_DELAYS_MS
                )
                + " Mbit/s"
                for reading in PACES
            }
        )
        + " (standard deviation of LTE's throughput at constant demand, k = 1)",
        verdict=over_readings({reading: holds(reading) for reading in PACES}),
        reason="The longer the weight rests after a loss, the fewer steps down it takes before the next.",
    )


def surpluses(measured: Measured, reading: str, gain: float, delay: int) -> list[float]:
    """What LTE carried while the demand fell, beyond what did not fit into DSL: Mbit/s."""
    where: dict[str, str | float] = {"gain": gain, "decrement_ms": delay}
    part = f"ramp {reading}"
    carried = measured.courses(part, "lte", "received_mbps", where)
    offered = measured.courses(part, None, "sent_mbps", where)
    return [
        lte.mean(*FALL_S) - fmean(max(0.0, rate - ROOM_MBPS) for rate in demand.between(*FALL_S) or [0.0])
        for lte, demand in zip(carried, offered, strict=True)
    ]


def slower_with_delay(measured: Measured) -> Claim:
    """Figure 3: the larger T_dwd, the more is left on LTE while the demand falls, and the emptier is DSL."""
    gains = made.GAINS[1:]
    least, *_, most = made.DECREMENT_DELAYS_MS

    def holds(reading: str) -> bool:
        return all(
            clearly_above(surpluses(measured, reading, gain, most), surpluses(measured, reading, gain, least))
            for gain in gains
        )

    def listed(reading: str, gain: float) -> str:
        values = (surpluses(measured, reading, gain, delay) for delay in made.DECREMENT_DELAYS_MS)
        return f"{', '.join(text_of(mean_interval(value)) for value in values)} (k {gain:g})"

    return Claim(
        claim="The larger T_dwd, the slower the load comes back as the demand falls, and the less DSL is used",
        published="figure 3, 25 to 40 s",
        measured=told(
            {reading: ", ".join(listed(reading, gain) for gain in gains) + " Mbit/s" for reading in PACES}
        )
        + f" (on LTE though DSL had room, T_dwd {', '.join(map(str, made.DECREMENT_DELAYS_MS))} ms)",
        verdict=over_readings({reading: holds(reading) for reading in PACES}),
        reason=(
            f"Judged by {most} ms against {least} ms. In between, what a short T_dwd leaves on LTE by its swings can "
            "exceed what a longer one leaves by being slow. With k = 0.1 too little has been moved to come back."
        ),
    )


# Figures 4 and 5.


def _courses(
    measured: Measured, reading: str, path: str | None, column: str, demand: str = made.TAKEN
) -> list[Course]:
    return measured.courses("flows", path, column, {"reading": reading, "demand": demand})


def moved_s(measured: Measured, reading: str) -> list[list[float]]:
    """For each start, by seed: after how long LTE carries nine tenths of the excess."""
    courses = _courses(measured, reading, "lte", "received_mbps")
    constant = made.DEMAND[0][0]
    return [
        [
            course.first(start, end, at_least=0.9 * ((constant + rate) - made.DSL_MBPS) * INNER)
            for course in courses
        ]
        for rate, start, end in made.DEMAND[1:]
    ]


def moves_at_once(measured: Measured) -> Claim:
    """Figure 5: the excess moves quickly to LTE when a flow starts."""
    took = {reading: [mean_interval(times) for times in moved_s(measured, reading)] for reading in PACES}
    return Claim(
        claim="When a flow starts, its excess moves to LTE at once",
        published="figure 5, at 5, 20 and 50 s",
        measured=told(
            {
                reading: ", ".join(text_of(interval) for interval in by_start) + " s"
                for reading, by_start in took.items()
            }
        )
        + " until LTE carries nine tenths of it",
        verdict=over_readings(
            {
                reading: all(_high(interval) <= AT_ONCE_S for interval in by_start)
                for reading, by_start in took.items()
            }
        ),
        reason=(
            f"At once: within {AT_ONCE_S:g} s, twenty reports. A weight that is not zero rises by k · 50 times the "
            "loss ratio."
        ),
    )


def _high(interval: Interval) -> float:
    return interval.high if interval.known else interval.mean


def _low(interval: Interval) -> float:
    return interval.low if interval.known else interval.mean


def hand_back_s(measured: Measured, reading: str, demand: str = made.TAKEN) -> list[float]:
    """By seed: from the end of the first excess to when LTE carries less than 0.5 Mbit/s, 8 s at most."""
    end, following = made.DEMAND[1][2], made.DEMAND[2][1]
    return [
        course.first(end, following, below=0.5)
        for course in _courses(measured, reading, "lte", "received_mbps", demand)
    ]


def hands_back(measured: Measured) -> Claim:
    """Figure 5: 11 Mbit/s come back in about 5 s."""
    took = {
        f"{words(reading)}, {demand}": mean_interval(hand_back_s(measured, reading, demand))
        for demand in made.DEMANDS
        for reading in PACES
    }
    low, high = HAND_BACK_S
    return Claim(
        claim="When a flow of 11 Mbit/s excess ends, its load is handed back to DSL in about 5 s",
        published="about 5 s (12 to 17 s)",
        measured="; ".join(f"{text_of(interval)} s {name}" for name, interval in took.items()),
        verdict=over_readings(
            {name: low <= _low(interval) and _high(interval) <= high for name, interval in took.items()}
        ),
        reason=(
            "The time is the weight times T_dwd, and the weight depends on the demand, whose figure is lost. "
            f"About 5 s are {low:g} to {high:g} s here. 11 of 75 Mbit/s need a weight of 9: it is gone after 2.25 s. "
            "11 of 40 Mbit/s, what is left when a flow of 48 ends, need a weight of 19: that takes 4.75 s."
        ),
    )


def losses_of(measured: Measured, reading: str) -> list[tuple[list[float], list[float]]]:
    """For each start, by seed: packets lost in the second after it, and from then to the flow's end."""
    both = [_courses(measured, reading, path, "lost") for path in ("dsl", "lte")]
    return [
        (
            [a.sum(start, start + 1) + b.sum(start, start + 1) for a, b in zip(*both, strict=True)],
            [a.sum(start + 1, end) + b.sum(start + 1, end) for a, b in zip(*both, strict=True)],
        )
        for _, start, end in made.DEMAND[1:]
    ]


def _packets(mbps: float, seconds: float) -> float:
    return mbps * 1e6 / 8 / made.PACKET * seconds


def _part(lost: Sequence[float], mbps: float, seconds: float) -> Interval:
    """Of the packets sent in a stretch, per cent lost."""
    return mean_interval(100 * value / _packets(mbps, seconds) for value in lost)


def bursts_and_little_after(measured: Measured) -> Claim:
    """Figure 5: losses come in a burst at a start, then few."""
    found: dict[str, list[tuple[Interval, Interval]]] = {}
    for reading in PACES:
        by_start = losses_of(measured, reading)
        found[reading] = [
            (
                _part(burst, made.DEMAND[0][0] + rate, 1),
                _part(later, made.DEMAND[0][0] + rate, end - start - 1),
            )
            for (burst, later), (rate, start, end) in zip(by_start, made.DEMAND[1:], strict=True)
        ]
    return Claim(
        claim="Losses come in a burst whenever a flow starts; afterwards loss stays low",
        published="figure 5",
        measured=told(
            {
                reading: ", ".join(f"{text_of(burst)} then {text_of(later)}" for burst, later in by_start)
                + " %"
                for reading, by_start in found.items()
            }
        )
        + " (first second, then to the flow's end)",
        verdict=over_readings(
            {
                reading: all(
                    _low(burst) > _high(later) and _high(later) <= LOW_LOSS for burst, later in by_start
                )
                for reading, by_start in found.items()
            }
        ),
        reason=f"Low: at most {LOW_LOSS:g} %, what the paper has in figure 3 with the same k and T_dwd.",
    )


# Figure 6 and §5.4.


def tcp_of(measured: Measured, reading: str, delay: int, start: float, end: float) -> list[float]:
    """Mean throughput of the TCP flow in a stretch of figure 6, by seed, Mbit/s."""
    where: dict[str, str | float] = {"connection": "tcp", "decrement_ms": delay, "reading": reading}
    return [course.mean(start, end) for course in measured.throughputs("friendly", where)]


def back_s(measured: Measured, reading: str, delay: int) -> list[float]:
    """By seed: from the second flow's start until LTE carries less than half of its peak in the first 5 s."""
    where: dict[str, str | float] = {"decrement_ms": delay, "reading": reading}
    start, end = SECOND_S
    took = []
    for course in measured.courses("friendly", "lte", "received_mbps", where):
        first = course.between(start, start + 5) or [0.0]
        after = start + course.first(start, end, at_least=max(first))
        took.append(after - start + course.first(after, end, below=max(first) / 2))
    return took


def shifts_first(measured: Measured) -> Claim:
    """Figure 6: the start's burst moves load to LTE, and it comes back the faster the smaller T_dwd."""
    delays = made.FRIENDLY_DELAYS_MS

    def peak(reading: str, delay: int) -> list[float]:
        where: dict[str, str | float] = {"decrement_ms": delay, "reading": reading}
        start = SECOND_S[0]
        courses = measured.courses("friendly", "lte", "received_mbps", where)
        return [max(course.between(start, start + 5) or [0.0]) for course in courses]

    def holds(reading: str) -> bool:
        took = [back_s(measured, reading, delay) for delay in delays]
        shifted = all(min(peak(reading, delay)) >= SHIFTED * SECOND_MBPS for delay in delays)
        return shifted and all(clearly_above(b, a) for a, b in pairwise(took))

    return Claim(
        claim="The burst at the start of 63 Mbit/s moves load to LTE; the smaller T_dwd, the faster it comes back",
        published="figure 6",
        measured=told(
            {
                reading: ", ".join(
                    f"{text_of(mean_interval(back_s(measured, reading, delay)))} s ({delay} ms)"
                    for delay in delays
                )
                for reading in PACES
            }
        )
        + " until LTE carries half of its peak, which is "
        + told(
            {
                reading: ", ".join(text_of(mean_interval(peak(reading, delay))) for delay in delays)
                + " Mbit/s"
                for reading in PACES
            }
        ),
        verdict=over_readings({reading: holds(reading) for reading in PACES}),
        reason="Both flows find the line full at the start; the losses are far more than a weight of zero needs.",
    )


def only_large_delay(measured: Measured) -> Claim:
    """Figure 6: only a large T_dwd leaves lasting room."""
    delays = made.FRIENDLY_DELAYS_MS
    last = {
        reading: {delay: tcp_of(measured, reading, delay, *LAST_S) for delay in delays} for reading in PACES
    }
    return Claim(
        claim="Only a large T_dwd leaves lasting room on DSL for TCP (63 Mbit/s of UDP, k = 1)",
        published="figure 6: lasting with 1000 ms only",
        measured=told(
            {
                reading: ", ".join(
                    f"{text_of(mean_interval(values))} ({delay} ms)" for delay, values in by_delay.items()
                )
                + " Mbit/s"
                for reading, by_delay in last.items()
            }
        )
        + f" at the end, {LAST_S[0]:g} to {LAST_S[1]:g} s",
        verdict=over_readings(
            {
                reading: all(clearly_above(by_delay[1000], by_delay[delay]) for delay in delays[:-1])
                for reading, by_delay in last.items()
            }
        ),
        reason=(
            "Judged by TCP with 1000 ms against each smaller T_dwd, paired by seed, when what the start had "
            "overshot is drained: until then a large T_dwd leaves room by being slow. What lasts comes of TCP's own "
            "losses, each of which lifts the weight until T_dwd after the last."
        ),
    )


def tcp_sum(
    measured: Measured, flows: int, gain: float, reading: str, queue: str = made.TAIL_DROP
) -> Interval:
    """What the TCP flows of §5.4 get together, Mbit/s."""
    return mean_interval(measured.goodputs("crossing", flows=flows, gain=gain, reading=reading, queue=queue))


def _crossing(measured: Measured, queue: str, flows: int) -> Interval:
    return tcp_sum(measured, flows, 1.0, made.LIKELIEST, queue)


def _near(measured: Interval, published: float) -> bool:
    return abs(measured.mean - published) <= max(
        NEAR * published, measured.half_width if measured.known else 0
    )


def one_and_two(measured: Measured) -> Claim:
    """§5.4: the level of one and two TCP flows."""
    settings: dict[str, Callable[[int], Interval]] = {
        f"{words(made.LIKELIEST)}": lambda n: tcp_sum(measured, n, 1.0, made.LIKELIEST),
        f"{words(made.AS_PRINTED)}": lambda n: tcp_sum(measured, n, 1.0, made.AS_PRINTED),
        **{
            f"{words(made.LIKELIEST)}, {name}": partial(_crossing, measured, queue)
            for queue, name in (
                (made.EARLY_DROP, "early drop before DSL"),
                (made.JITTERY, "tail drop and a UDP sender that is late by half a millisecond"),
            )
        },
    }
    values = {name: {n: value(n) for n in PUBLISHED_TCP} for name, value in settings.items()}
    near = {
        name: all(_near(by_flows[n], PUBLISHED_TCP[n]) for n in PUBLISHED_TCP)
        for name, by_flows in values.items()
    }
    between = all(
        min(by_flows[n].mean for by_flows in values.values())
        < PUBLISHED_TCP[n]
        < max(by_flows[n].mean for by_flows in values.values())
        for n in PUBLISHED_TCP
    )
    verdict = over_readings(near)
    return Claim(
        claim="Beside 62 Mbit/s of UDP one TCP flow gets 7.79 Mbit/s of DSL, and two almost twice as much",
        published="7.79 and 14.30 Mbit/s (1.84 times)",
        measured="; ".join(
            f"{text_of(by_flows[1])} and {text_of(by_flows[2])} Mbit/s "
            f"({by_flows[2].mean / max(by_flows[1].mean, 1e-9):.2f} times) {name}"
            for name, by_flows in values.items()
        ),
        verdict=Verdict.UNDECIDABLE if verdict == Verdict.CONTRADICTED and between else verdict,
        reason=SHARING,
    )


def gain_matters_not(measured: Measured) -> Claim:
    """§5.4: k does not matter for the sharing."""
    values = {
        words(reading): {gain: tcp_sum(measured, 1, gain, reading) for gain in (0.5, 1.0)}
        for reading in PACES
    }
    values["tail drop and a UDP sender that is late by half a millisecond"] = {
        gain: tcp_sum(measured, 1, gain, made.LIKELIEST, made.JITTERY) for gain in (0.5, 1.0)
    }

    def holds(by_gain: dict[float, Interval]) -> bool:
        return _near(by_gain[0.5], by_gain[1.0].mean) or _near(by_gain[1.0], by_gain[0.5].mean)

    return Claim(
        claim="k has no significant influence on the sharing between TCP and UDP",
        published="as expected, none",
        measured="; ".join(
            ", ".join(f"{text_of(value)} (k {gain:g})" for gain, value in by_gain.items()) + f" Mbit/s {name}"
            for name, by_gain in values.items()
        ),
        verdict=over_readings({reading: holds(by_gain) for reading, by_gain in values.items()}),
        reason=(
            "Judged within a tenth, or the interval if that is wider. From a weight of zero a loss raises it by the "
            "initial increment, which does not depend on k; from any other, by k times the loss ratio."
        ),
    )


CLAIMS: Final[tuple[Callable[[Measured], Claim], ...]] = (
    loss_falls,
    small_gain,
    oscillates_with_gain,
    calmer_with_delay,
    slower_with_delay,
    moves_at_once,
    hands_back,
    bursts_and_little_after,
    shifts_first,
    only_large_delay,
    one_and_two,
    gain_matters_not,
)
