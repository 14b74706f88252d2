"""What the paper on responses to reordering says, and the words around what is measured of it."""

from __future__ import annotations

from typing import Final

from ropewalk.studies.statement import Statement

BEST: Final = Statement(
    claim="Three subflows do best with DSACK and uncoupled control, at about 10 Mbit/s (Fig. 9)",
    published="about 10 Mbit/s of “global throughput”, DSACK above the others",
    rerun="DSACK: window estimate 10.0 at its peak, goodput 7.2 Mbit/s",
    measured="as their simulator has them: window estimate at its peak {their_peaks} Mbit/s; goodput "
    "{their_goodputs} Mbit/s",
    correct="window estimate at its peak {peaks} Mbit/s; goodput {goodputs} Mbit/s",
    reason="As the paper's simulator has it DSACK {best}, and its estimate is {near} the published one. "
    "With fixed delays each path keeps its order, so there is little for any detector to undo. "
    "With acknowledgements that do not wait, the estimate here is {free_peak:.1f} and the goodput "
    "{free_goodput:.1f} Mbit/s: the one {free_ratio:.2f} times the other, and {rerun_ratio:.2f} times in the "
    "paper's simulator. That suggests that its DSACK runs waited less than its rules say; why is not known. Nothing "
    "else that was tried comes near (see the table). "
    "Correct runs have {spurious} spurious retransmissions in all. What the paper calls global "
    "throughput is very likely the sum of window over round-trip time. That estimate counts "
    "what is queued and lost too, so it is compared with the estimate here and not with goodput.",
    words={
        "best": {
            True: "delivers more than the others",
            False: "does not deliver more than the others",
        },
        "near": {True: "near", False: "not near"},
    },
)

BELOW_NONE: Final = Statement(
    claim="Eifel and F-RTO are 40 less than no response (three subflows, uncoupled; Fig. 9)",
    published="“40 less than” none: per cent, by the simulator's numbers",
    measured="under the other rules of their simulator: {eifel} against none; F-RTO with ACKs dropped: {dropped}",
    correct="goodput {correct} against none",
    reason="By RFC 3522 and RFC 5682 neither acts without evidence that the original arrived. {enough}"
    "Its Eifel takes back what true losses cost, and these runs have hardly any. So that does not explain it.",
    words={
        "enough": {
            True: "In the paper's simulator F-RTO drops ACKs at a rate that comes from the wall clock: "
            "{part} % of them make it so much less. ",
            False: "No part of the ACKs that its F-RTO may have dropped makes it so much less. ",
        }
    },
)

LINKED: Final = Statement(
    claim="Two subflows, linked increases: DSACK is as under uncoupled, Eifel and F-RTO are lower (Fig. 8)",
    published="DSACK and none as under uncoupled; Eifel and F-RTO lower once something spurious was detected",
    measured="as their simulator has them: {theirs} Mbit/s",
    correct="DSACK {linked:.2f} Mbit/s, under uncoupled {uncoupled:.2f}; against none {differences}",
    reason="Nothing is retransmitted needlessly over fixed delays, so Eifel and F-RTO have nothing "
    "to detect. The part about DSACK {as_uncoupled}",
    words={"as_uncoupled": {True: "holds.", False: "does not hold either."}},
)

COMPENSATOR: Final = Statement(
    claim="Two subflows, RTT compensator: DSACK is good, but not the best (conclusion)",
    published="good, not the best",
    measured="as their simulator has them: {theirs} Mbit/s",
    correct="{values} Mbit/s",
    reason="The four responses do not differ over fixed delays, so none of them is the best. "
    "As the paper's simulator has it DSACK {less} the best.",
    words={"less": {True: "is below", False: "is not clearly below"}},
)

EIFEL: Final = Statement(
    claim="Eifel improves throughput with two subflows only (conclusion)",
    published="better than none with two subflows, not with three",
    measured="under the other rules of their simulator, against none, two subflows: {their_two}; three: "
    "{their_three}",
    correct="against none, two subflows: {two}; three: {three}; over delays that reorder packets, three "
    "subflows, uncoupled: {jittered}",
    reason="Eifel acts when a timestamp shows that the original arrived. Over fixed delays that "
    "does not happen, with two subflows or three. Over delays that reorder packets it helps with both.",
)

FRTO: Final = Statement(
    claim="F-RTO rises exponentially, falls at a spurious retransmission and stays in recovery (conclusion)",
    published="as said",
    measured="goodput with ACKs dropped: {dropped}",
    correct="{timeouts} timeouts and {spurious} spurious retransmissions in all runs with F-RTO",
    reason="In the paper's simulator F-RTO drops ACKs at a rate taken from the wall clock{stays}It also switches "
    "fast retransmit off, which changes little where next to nothing is lost. F-RTO by RFC 5682 examines "
    "timeouts, and no retransmission is spurious in correct runs.",
    words={
        "stays": {
            True: ": with {part} % of them dropped it goes from timeout to timeout, two fifths and more "
            "below none. ",
            False: ". No part of the ACKs that was tried keeps it two fifths below none. ",
        }
    },
)

NONE_OPTIMAL: Final = Statement(
    claim="None of the three responses is the optimal solution (conclusion)",
    published="none is best in every case",
    measured="as their simulator has them, best of the three and none: {theirs}",
    correct="over fixed delays the responses do not differ; best over delays that reorder packets: {best}",
    reason="Over delays that reorder packets {several} Over the paper's fixed delays there is nothing to tell "
    "the responses apart.",
    words={
        "several": {
            True: "no one is best in all cases.",
            False: "{winners} is best in every case, as far as the seeds tell.",
        }
    },
)
