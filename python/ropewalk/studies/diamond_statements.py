"""What the paper says of the diamond, and the words around what is measured of it."""

from __future__ import annotations

from typing import Final

from ropewalk.studies.statement import Statement

LEVEL: Final = Statement(
    claim="TCP reaches a stable 2.5 Mbit/s (Fig. 3a)",
    published="about 2.5 Mbit/s",
    rerun="2.62 Mbit/s",
    measured="{tcp} Mbit/s",
    reason="The airtime of two hops: each carries every segment, and an ACK for every second one. {explained}",
)

ONE_CHANNEL: Final = Statement(
    claim="On one channel Multipath TCP's sum is not above TCP (Fig. 3b)",
    published="not above",
    rerun="2.02 Mbit/s",
    measured="{rates}; TCP {tcp} Mbit/s",
    correct="{correct} Mbit/s, with delayed ACKs and full packets for both",
    reason="{costs}{explained}",
    words={
        "costs": {
            True: "One channel has the same airtime for one path as for two. What Multipath TCP lacks it spends on "
            "an ACK per packet: with delayed ACKs and full packets it has {correct} Mbit/s. ",
            False: "",
        }
    },
)

TWO_CHANNELS: Final = Statement(
    claim="Two channels: about +48 % over TCP, alike for uncoupled, linked increases, RTT compensator (Fig. 3c)",
    published="about +48 %",
    rerun="3.89 Mbit/s, +48.5 %; RTT compensator 3.93",
    measured="{gains}",
    correct="{correct}, with delayed ACKs and full packets for both",
    reason="Two orthogonal channels double the airtime. Of the known differences, one at a time: "
    "{some_alone}, the others no more than {shown:g} points. "
    "Together: {interplay} {uncoupled} RTT compensator: {compensator}",
    words={"some_alone": {True: "{alone}", False: "none changes the gain"}},
)

FAIRNESS: Final = Statement(
    claim="The two subflows share fairly, and neither is faster than TCP (Fig. 3c)",
    published="fair pooling; no subflow above TCP's rate",
    measured="{shares}; TCP {tcp:.2f} Mbit/s",
    reason="Both paths have the same airtime, and a subflow has the path of a TCP connection.",
)

FLAPPINESS: Final = Statement(
    claim="Fully coupled starves one subflow for long stretches, 47 % below the uncoupled (Fig. 3d)",
    published="about 47 % below, in one run",
    rerun="24 % below on average, from 16 to 32 %",
    measured="{rows}",
    reason="A subflow sends {again:.1f} segments again: nobody is hidden, and the queues "
    "never overflow. The published simulator has {rerun:.0f} %: {found} ({under_causes}). "
    "When one segment in 16 is lost, fully coupled has {lossy} against uncoupled{clear}",
    words={
        "found": {True: "with {theirs} here too", False: "not explained by its known defects"},
        "clear": {
            True: ": by its rule each loss takes half of both windows from one path.",
            False: ": no clear difference either.",
        },
    },
)

RANKING: Final = Statement(
    claim="For every frame error rate two channels are best and one channel is lowest (Fig. 4)",
    published="as said",
    measured="{rates} Mbit/s (TCP; one channel; two)",
    reason="Two channels are best {best}, one channel is lowest {lowest}. {order}",
)

COUPLED_UNDER_LOSS: Final = Statement(
    claim="With one lossy link, fully coupled has less and varies more at FER up to 10 % (Fig. 5)",
    published="lower and more variable than the RTT compensator",
    measured="{rates} Mbit/s",
    reason="With four transmissions a FER of 10 % loses one segment in {seldom:,.0f}: there is little to react to. "
    "By more than 2 % lower at {lower} of {number} rates, more variable at {wider}. {under_causes}",
)

TAKES_OVER: Final = Statement(
    claim="As the second link gets worse, the first path takes load over, up to TCP's rate (Fig. 5)",
    published="path 1 rises, bounded by TCP's lossless rate",
    measured="path 1: {rates} Mbit/s from the lowest FER to the highest; TCP {tcp:.2f}",
    reason="{bounded} {rises}",
    words={
        "bounded": {True: "It stays within TCP's rate.", False: "It exceeds TCP's rate."},
        "rises": {
            True: "What the second path no longer takes, the first one carries.",
            False: "It has a channel of its own, and carries as much without losses on the second as "
            "with them; its share rises because the sum falls. With the published simulator's defects {some}",
        },
        "some": {True: "it rises ({theirs}).", False: "it does not rise either: not explained."},
    },
)
