"""What the bonding paper says, and the words around what is measured of it."""

from __future__ import annotations

from typing import Final

from ropewalk.studies.statement import Statement

# Figure 3.

LOSS_FALLS: Final = Statement(
    claim="One rising flow: loss falls as k and T_dwd grow",
    published="6.25 % (k 0.1, T_dwd 50 ms), 0.53 % (0.5, 250 ms), 0.15 % (1, 500 ms)",
    measured="{losses}",
    reason="As printed, the weight falls by one per report (50 ms) once nothing was lost for T_dwd, and T_dwd "
    "hardly matters. With one per T_dwd the losses order as published and come far nearer (see the "
    "tables): the experiments very likely ran that. What is left may be the queue before the DSL "
    "line and the shape of the demand, neither of which the paper gives in numbers.",
)

SMALL_GAIN: Final = Statement(
    claim="With k = 0.1 not enough traffic is shifted: several per cent are lost throughout",
    published="4.1 to 6.25 %",
    measured="{losses}",
    reason="The step is k · lost / sent · 50, which with k = 0.1 and less than a tenth lost is below one half. "
    "Whether it moves the weight depends on how fractions are treated, which the paper does not tell: "
    "cut off it never does, rounded it does from a loss of a tenth on, kept it always does.",
)

OSCILLATES: Final = Statement(
    claim="The larger k, the more the load swings between the lines",
    published="figure 3",
    measured="{swings} (standard deviation of LTE's throughput at constant demand, k {gains}, by T_dwd)",
    reason="A step is the larger the larger k is. Judged for every T_dwd, by differences paired by seed: the "
    "largest k is clearly above the smallest, and no k is clearly below the one before it. A weight that never "
    "has to move does not swing.",
)

CALMER: Final = Statement(
    claim="A larger T_dwd counteracts the swings of a high k",
    published="figure 3",
    measured="{swings} (standard deviation of LTE's throughput at constant demand, k = 1)",
    reason="The longer the weight rests after a loss, the fewer steps down it takes before the next.",
)

SLOWER: Final = Statement(
    claim="The larger T_dwd, the slower the load comes back as the demand falls, and the less DSL is used",
    published="figure 3, 25 to 40 s",
    measured="{surpluses} (on LTE though DSL had room, T_dwd {delays} ms)",
    reason="The weight begins to fall only T_dwd after the last loss. Judged by {most} ms against {least} "
    "ms. In between, what a short T_dwd leaves on LTE by its swings can exceed what a longer one leaves by "
    "being slow. With k = 0.1 too little has been moved to come back.",
)

# Figures 4 and 5.

MOVES_AT_ONCE: Final = Statement(
    claim="When a flow starts, its excess moves to LTE at once",
    published="figure 5, at 5, 20 and 50 s",
    measured="{times} until LTE carries nine tenths of it",
    reason="A weight that is not zero rises by k · 50 times the loss ratio with each report. At once: within "
    "{at_once:g} s, twenty reports.",
)

HANDS_BACK: Final = Statement(
    claim="When a flow of 11 Mbit/s excess ends, its load is handed back to DSL in about 5 s",
    published="about 5 s (12 to 17 s)",
    measured="{times}",
    reason="The time is the weight times T_dwd, and the weight depends on the demand, whose figure is lost. "
    "About 5 s are {low:g} to {high:g} s here. 11 of 75 Mbit/s need a weight of 9: it is gone after 2.25 s. "
    "11 of 40 Mbit/s, what is left when a flow of 48 ends, need a weight of 19: that takes 4.75 s.",
)

BURSTS: Final = Statement(
    claim="Losses come in a burst whenever a flow starts; afterwards loss stays low",
    published="figure 5",
    measured="{losses} (first second, then to the flow's end)",
    reason="A new flow overflows the queue before DSL until the weight has followed. Low: at most {low:g} "
    "%, what the paper has in figure 3 with the same k and T_dwd.",
)

# Figure 6 and §5.4.

SHIFTS_FIRST: Final = Statement(
    claim="The burst at the start of 63 Mbit/s moves load to LTE; the smaller T_dwd, the faster it comes back",
    published="figure 6",
    measured="{times} until LTE carries half of its peak, which is {peaks}",
    reason="Both flows find the line full at the start; the losses are far more than a weight of zero needs.",
)

ONLY_LARGE_DELAY: Final = Statement(
    claim="Only a large T_dwd leaves lasting room on DSL for TCP (63 Mbit/s of UDP, k = 1)",
    published="figure 6: lasting with 1000 ms only",
    measured="{rates} at the end, {start:g} to {end:g} s",
    reason="What lasts comes of TCP's own losses, each of which lifts the weight until T_dwd after the "
    "last. Judged by TCP with 1000 ms against each smaller T_dwd, paired by seed, when what the start had "
    "overshot is drained: until then a large T_dwd leaves room by being slow.",
)

ONE_AND_TWO: Final = Statement(
    claim="Beside 62 Mbit/s of UDP one TCP flow gets 7.79 Mbit/s of DSL, and two almost twice as much",
    published="7.79 and 14.30 Mbit/s (1.84 times)",
    measured="{rates}",
    reason="It depends on how TCP's losses spread over time, and the text tells neither the shaper nor how "
    "even the UDP sender is. The line has 2 Mbit/s to spare; the rest of what TCP gets, the bond must have "
    "moved to LTE. A weight falls only after T_dwd without loss, so it counts how TCP's losses are spread "
    "over time. Tail drop loses a few packets at once and then none for a second or more; RED loses a "
    "packet now and then, which keeps the weight up. A UDP sender that is late by half a millisecond on "
    "average sends small bursts, which spread the losses of tail drop likewise.",
)

GAIN_MATTERS_NOT: Final = Statement(
    claim="k has no significant influence on the sharing between TCP and UDP",
    published="as expected, none",
    measured="{rates}",
    reason="From a weight of zero a loss raises it by the initial increment, which does not depend on k. "
    "From any other it rises by k times the loss ratio. Judged within a tenth, or the interval if that is "
    "wider.",
)

# Its outlook.

VOICE: Final = Statement(
    claim="Bonding at layer 3 serves voice over UDP as well as TCP (§1)",
    published="said of the approach, and left for later to assess",
    measured="rating of a call beside TCP both ways, steady lines: {papers}",
    correct="other schedulers: {others}",
    reason="Over steady lines the queues that voice waits in are short. Judged by a rating of "
    "{satisfied:g} both ways, from which on users are satisfied. The paper's scheduler knows by loss alone "
    "that a line is full. So voice waits in the queue before a line that TCP fills, and on a recorded LTE "
    "line that queue is long at times: there it is another matter, which the tables tell.",
)

PER_FLOW: Final = Statement(
    claim="By flow, small flows would be spared the delay of the mobile line (§5.3)",
    published="said, not run",
    measured="rating of a call beside TCP both ways, steady lines: {ratings}",
    reason="It knows flows, and keeps the queues before the lines short. Judged by flow-aware "
    "against the paper's scheduler, paired by seed, both ways.",
)

PROXIES: Final = Statement(
    claim="With proxies for Multipath TCP beside it, TCP and other traffic can be bonded at once (outlook)",
    published="left for later",
    measured="{papers}",
    correct="{others}",
    reason="By proxies each line has a window of its own, so that losses on DSL do not stop what goes by "
    "LTE. Judged over steady lines: TCP by proxies with linked increases delivers clearly more than by the "
    "bond, and UDP loses no more than the {low:g} % that the paper calls low.",
)
