"""What the bonding paper states, judged by what was measured: every verdict is computed."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING, Final

from ropewalk.benefit import clearly_above
from ropewalk.report import Verdict
from ropewalk.statistics import Interval, mean_interval
from ropewalk.studies import bonding_cells as made
from ropewalk.studies import bonding_statements as said
from ropewalk.studies.bonding_measures import over_readings
from ropewalk.tables import cell as text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ropewalk.report import Claim
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

    return said.LOSS_FALLS.judged(
        over_readings({reading: monotonous(reading) for reading in made.READINGS}),
        losses=told(
            {
                reading: ", ".join(text_of(ramp_loss(measured, reading, *corner)) for corner in corners)
                + " %"
                for reading in PACES
            }
        ),
    )


def small_gain(measured: Measured) -> Claim:
    """With k = 0.1 several per cent are lost, more than with the other k."""

    def extent(gain: float, reading: str) -> tuple[float, float]:
        values = [ramp_loss(measured, reading, gain, delay).mean for delay in made.DECREMENT_DELAYS_MS]
        return min(values), max(values)

    small = {reading: extent(0.1, reading) for reading in made.READINGS}
    return said.SMALL_GAIN.judged(
        over_readings(
            {reading: low >= SEVERAL and low > extent(0.5, reading)[1] for reading, (low, _) in small.items()}
        ),
        losses=told({reading: f"{low:.2f} to {high:.2f} %" for reading, (low, high) in small.items()}),
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
            rises([swings(measured, reading, gain, delay) for gain in made.GAINS])
            for delay in made.DECREMENT_DELAYS_MS
        )

    def listed(reading: str, delay: int) -> str:
        spreads = (swings(measured, reading, gain, delay) for gain in made.GAINS)
        return f"{', '.join(text_of(mean_interval(spread)) for spread in spreads)} ({delay} ms)"

    return said.OSCILLATES.judged(
        over_readings({reading: holds(reading) for reading in PACES}),
        swings=told(
            {
                reading: f"{'; '.join(listed(reading, delay) for delay in made.DECREMENT_DELAYS_MS)} Mbit/s"
                for reading in PACES
            }
        ),
        gains=", ".join(f"{gain:g}" for gain in made.GAINS),
    )


def rises(by_step: Sequence[Sequence[float]]) -> bool:
    """Whether the last step is clearly above the first, and none clearly below the one before it."""
    falls = any(clearly_above(a, b) for a, b in pairwise(by_step))
    return clearly_above(by_step[-1], by_step[0]) and not falls


def calmer_with_delay(measured: Measured) -> Claim:
    """Figure 3: the larger T_dwd, the smaller the swings, at the k for which the paper says so."""

    def holds(reading: str) -> bool:
        by_delay = [swings(measured, reading, 1.0, delay) for delay in made.DECREMENT_DELAYS_MS]
        return all(clearly_above(a, b) for a, b in pairwise(by_delay))

    return said.CALMER.judged(
        over_readings({reading: holds(reading) for reading in PACES}),
        swings=told(
            {
                reading: ", ".join(
                    f"{text_of(mean_interval(swings(measured, reading, 1.0, delay)))} ({delay} ms)"
                    for delay in made.DECREMENT_DELAYS_MS
                )
                + " Mbit/s"
                for reading in PACES
            }
        ),
    )


def surpluses(measured: Measured, reading: str, gain: float, delay: int) -> list[float]:
    """What LTE carried while the demand fell, beyond what did not fit into DSL: Mbit/s."""
    where: dict[str, str | float] = {"gain": gain, "decrement_ms": delay}
    part = f"ramp {reading}"
    carried = measured.courses(part, "lte", "received_mbps", where)
    offered = measured.courses(part, None, "sent_mbps", where)
    return [
        lte.mean(*FALL_S)
        - fmean(max(0.0, rate - measured.room_mbps) for rate in demand.between(*FALL_S) or [0.0])
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

    return said.SLOWER.judged(
        over_readings({reading: holds(reading) for reading in PACES}),
        surpluses=told(
            {reading: ", ".join(listed(reading, gain) for gain in gains) + " Mbit/s" for reading in PACES}
        ),
        delays=", ".join(map(str, made.DECREMENT_DELAYS_MS)),
        most=most,
        least=least,
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
            course.first(start, end, at_least=0.9 * ((constant + rate) - made.DSL_MBPS) * measured.inner)
            for course in courses
        ]
        for rate, start, end in made.DEMAND[1:]
    ]


def moves_at_once(measured: Measured) -> Claim:
    """Figure 5: the excess moves quickly to LTE when a flow starts."""
    took = {reading: [mean_interval(times) for times in moved_s(measured, reading)] for reading in PACES}
    return said.MOVES_AT_ONCE.judged(
        over_readings(
            {
                reading: all(_high(interval) <= AT_ONCE_S for interval in by_start)
                for reading, by_start in took.items()
            }
        ),
        times=told(
            {
                reading: ", ".join(text_of(interval) for interval in by_start) + " s"
                for reading, by_start in took.items()
            }
        ),
        at_once=AT_ONCE_S,
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
    return said.HANDS_BACK.judged(
        over_readings(
            {name: low <= _low(interval) and _high(interval) <= high for name, interval in took.items()}
        ),
        times="; ".join(f"{text_of(interval)} s {name}" for name, interval in took.items()),
        low=low,
        high=high,
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
    return said.BURSTS.judged(
        over_readings(
            {
                reading: all(
                    _low(burst) > _high(later) and _high(later) <= LOW_LOSS for burst, later in by_start
                )
                for reading, by_start in found.items()
            }
        ),
        losses=told(
            {
                reading: ", ".join(f"{text_of(burst)} then {text_of(later)}" for burst, later in by_start)
                + " %"
                for reading, by_start in found.items()
            }
        ),
        low=LOW_LOSS,
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

    return said.SHIFTS_FIRST.judged(
        over_readings({reading: holds(reading) for reading in PACES}),
        times=told(
            {
                reading: ", ".join(
                    f"{text_of(mean_interval(back_s(measured, reading, delay)))} s ({delay} ms)"
                    for delay in delays
                )
                for reading in PACES
            }
        ),
        peaks=told(
            {
                reading: ", ".join(text_of(mean_interval(peak(reading, delay))) for delay in delays)
                + " Mbit/s"
                for reading in PACES
            }
        ),
    )


def only_large_delay(measured: Measured) -> Claim:
    """Figure 6: only a large T_dwd leaves lasting room."""
    delays = made.FRIENDLY_DELAYS_MS
    last = {
        reading: {delay: tcp_of(measured, reading, delay, *LAST_S) for delay in delays} for reading in PACES
    }
    return said.ONLY_LARGE_DELAY.judged(
        over_readings(
            {
                reading: all(clearly_above(by_delay[1000], by_delay[delay]) for delay in delays[:-1])
                for reading, by_delay in last.items()
            }
        ),
        rates=told(
            {
                reading: ", ".join(
                    f"{text_of(mean_interval(values))} ({delay} ms)" for delay, values in by_delay.items()
                )
                + " Mbit/s"
                for reading, by_delay in last.items()
            }
        ),
        start=LAST_S[0],
        end=LAST_S[1],
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
    return said.ONE_AND_TWO.judged(
        Verdict.UNDECIDABLE if verdict == Verdict.CONTRADICTED and between else verdict,
        rates="; ".join(
            f"{text_of(by_flows[1])} and {text_of(by_flows[2])} Mbit/s "
            f"({by_flows[2].mean / max(by_flows[1].mean, 1e-9):.2f} times) {name}"
            for name, by_flows in values.items()
        ),
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

    return said.GAIN_MATTERS_NOT.judged(
        over_readings({reading: holds(by_gain) for reading, by_gain in values.items()}),
        rates="; ".join(
            ", ".join(f"{text_of(value)} (k {gain:g})" for gain, value in by_gain.items()) + f" Mbit/s {name}"
            for name, by_gain in values.items()
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
