"""The rating of a voice call by the E-model (ITU-T G.107, 2015): R = R0 - Is - Id - Ie_eff + A.

All that is no network's doing has its default value. A rating of 90 satisfies very much, below 60 nearly all users
are dissatisfied (ITU-T G.109).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

R0: Final = 94.77
"""Basic signal-to-noise ratio: G.107 §7.2 with its default values, 15 - 1.5 (SLR + No) = 15 - 1.5 (8 - 61.18)."""

SIMULTANEOUS: Final = 1.41
"""Is, what comes with the voice at the same time: G.107 §7.3 with its default values.

With R0 it makes the 93.2 that G.107 has for all default values.
"""

ADVANTAGE: Final = 0.0
"""A, what users forgive for the sake of access: G.107 §7.6, none for conventional lines."""

TELR_DB: Final = 65.0
"""Talker echo loudness rating: G.107, default value."""

WEPL_DB: Final = 110.0
"""Weighted echo path loss: G.107, default value."""

LEAST_DELAY_MS: Final = 100.0
"""Ta up to which delay itself disturbs nobody: G.107 §7.4, its default of mT."""

G711_IE: Final = 0.0
"""Equipment impairment of G.711: G.113 Appendix I."""

G711_BPL: Final = 25.1
"""Robustness of G.711 against random loss, in per cent, with packet loss concealment: G.113 Appendix I.

Without concealment it would be 4.3.
"""

WORST_IE: Final = 95.0
"""What the impairment by loss tends to: G.107 §7.5, eq. 7-29."""

FRAME_MS: Final = 20.0
"""G.711 over RTP: speech of so long makes a packet (RFC 3551 §4.2)."""


def rating(delay_ms: float, lost: float, burst_ratio: float = 1.0) -> float:
    """R of a call with G.711, from 0 to about 93.

    Args:
        delay_ms: From mouth to ear (Ta, and half of the round trip that an echo takes).
        lost: Of the packets, the part that was not there when it was to be played, from 0 to 1.
        burst_ratio: `burst_ratio` of these losses.
    """
    found = R0 - SIMULTANEOUS - delay_impairment(delay_ms) - loss_impairment(lost, burst_ratio) + ADVANTAGE
    return max(0.0, found)


def delay_impairment(delay_ms: float) -> float:
    """Id = Idte + Idle + Idd, by talker echo, listener echo and delay (G.107 §7.4)."""
    return _talker_echo(delay_ms) + _listener_echo(2 * delay_ms) + _too_late(delay_ms)


def _root(difference: float, square: float) -> float:
    """The form of both echo terms: it is near zero for a negative difference and near the difference above."""
    return difference + math.sqrt(difference**2 + square)


def _talker_echo(one_way_ms: float) -> float:
    """Idte: G.107 §7.4; with its default STMR of 15 dB no other terms."""
    t = one_way_ms
    terv = TELR_DB - 40 * math.log10((1 + t / 10) / (1 + t / 150)) + 6 * math.exp(-0.3 * t * t)
    re = 80 + 2.5 * (terv - 14)
    # Roe = -1.5 (No - RLR), which the default values make R0 (G.107 §7.4).
    return (_root((R0 - re) / 2, 100) - 1) * (1 - math.exp(-t))


def _listener_echo(round_trip_ms: float) -> float:
    """Idle: G.107 §7.4."""
    rle = 10.5 * (WEPL_DB + 7) * math.pow(round_trip_ms + 1, -0.25)
    return _root((R0 - rle) / 2, 169)


def _too_late(delay_ms: float) -> float:
    """Idd: G.107 §7.4, with its default sensitivity to delay."""
    if delay_ms <= LEAST_DELAY_MS:
        return 0.0
    x = math.log2(delay_ms / LEAST_DELAY_MS)
    return 25 * (math.pow(1 + x**6, 1 / 6) - 3 * math.pow(1 + (x / 3) ** 6, 1 / 6) + 2)


def loss_impairment(lost: float, burst_ratio: float = 1.0) -> float:
    """Ie_eff: G.107 eq. 7-29, Ppl in per cent."""
    percent = 100 * lost
    return G711_IE + (WORST_IE - G711_IE) * percent / (percent / burst_ratio + G711_BPL)


def burst_ratio(missing: Sequence[bool]) -> float:
    """Mean length of runs of missing packets, over that of losses that know nothing of each other (G.107 §7.5).

    Those have runs of 1 / (1 - part that is missing). At least 1: fewer runs than chance has room for are no merit
    of the network.
    """
    lost = sum(missing)
    if lost in {0, len(missing)}:
        return 1.0
    runs = sum(now and not before for before, now in zip([False, *missing], missing, strict=False))
    return max(1.0, lost / runs * (1 - lost / len(missing)))


def best_rating(delays_ms: Sequence[float | None]) -> float:
    """R of a call with the jitter buffer that is best for it: it plays each packet so long after it was sent.

    What came later, or never (None), is missing. A shorter buffer loses more, a longer one delays all.
    """
    came = sorted({math.ceil(delay) for delay in delays_ms if delay is not None})
    # A buffer between two delays that occur loses what the shorter one loses, and delays more.
    return max((_with_buffer(delays_ms, buffer) for buffer in _thinned(came)), default=0.0)


MOST_BUFFERS: Final = 60
"""Lengths of a jitter buffer that are tried: far more than differences of R that anybody would hear."""


def _thinned(values: Sequence[int]) -> list[int]:
    """At most so many of them, in equal steps, the last one among them."""
    step = max(1, math.ceil(len(values) / MOST_BUFFERS))
    return list(values[::-1][::step])


def _with_buffer(delays_ms: Sequence[float | None], buffer_ms: float) -> float:
    missing = [delay is None or delay > buffer_ms for delay in delays_ms]
    return rating(FRAME_MS + buffer_ms, sum(missing) / len(missing), burst_ratio(missing))
