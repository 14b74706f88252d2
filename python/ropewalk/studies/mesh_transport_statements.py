"""What the papers say of transport over meshes, and the words around what is measured of it."""

from __future__ import annotations

from typing import Final

from ropewalk.studies.statement import Statement

TWO_RADIOS: Final = Statement(
    claim="Two radios gain about 50 % over TCP at {published_hops} hops",
    published="about +50 %",
    measured="{ours} at {hops} hops ({number} deployments); by hops: {by_hops}; over the authors' own deployments: "
    "{by_authors}",
    correct="{correct} at {hops} hops, with delayed ACKs for both",
    reason="Second routes are longer than first ones, so that less than in the diamond is to be had. "
    "It rests on {number} deployments: hardly one in a hundred has a first route of {hops} hops. "
    "Multipath TCP pays an ACK per packet where TCP delays its own: with delayed ACKs for both it "
    "gains {correct} here.",
)

BELOW: Final = Statement(
    claim="A few deployments are below TCP, where the second route is much longer",
    published="few cases",
    measured="{below} of {all} below TCP with two radios; {some_below}",
    reason="In the papers' simulator the ACKs of one subflow wait for data of the other, so that a slow route "
    "stalls a fast one. Here each subflow has its own clock, and the receive buffer holds what comes "
    "early: the longer the second route, the smaller the gain (see the table). With that simulator's "
    "defects {defective_below} of {defective} are below TCP (two radios gain {defective_gain}).",
    words={
        "some_below": {
            True: "their second routes are {extra_below:.1f} hops longer than their first, the others' "
            "{extra_above:.1f}",
            False: "second routes are {extra_above:.1f} hops longer",
        }
    },
)

ONE_RADIO: Final = Statement(
    claim="With one radio Multipath TCP is clearly below TCP",
    published="quite lower",
    measured="{ours}; LD is below TCP in {below} of {all}; by hops: {by_hops}; over the authors' own deployments "
    "{authors}",
    reason="Two routes of two hops share all their air: there it holds, by the ACK per packet. A long "
    "route is held up in its middle, where its own hops compete, and two long routes have two "
    "middles; only their ends share the air. For that the losses to hidden stations must not cost "
    "much: {sent_again}. The papers' simulator has no fast recovery in Multipath TCP, but in "
    "TCP. {any_turned}",
    words={"any_turned": {True: "Other settings: {turned}.", False: ""}},
)

BEST_ROUTES: Final = Statement(
    claim="LD's routes give the highest throughput of the three algorithms",
    published="said, not shown: only LD is printed",
    measured="{rates}",
    reason="LD's second route is the shortest, ZD's the longest: that counts where each route has a "
    "channel of its own, but little. On one channel it counts more that "
    "ZD's routes are out of each other's reach, and that LD's may meet in a relay.",
)
