"""What the papers say of disjoint routes, and the words around what is measured of it."""

from __future__ import annotations

from typing import Final

from ropewalk.studies.statement import Statement

ORDER: Final = Statement(
    claim="LD is multipath most often, ND closely after it, ZD far less often (000 Fig. 3, 003 Fig. 7)",
    published="LD best, ND close, ZD far below, for every N",
    measured="N = {nodes}: {rates}; the order holds for {ordered} N, ZD is below half of ND for {far} N; ND is "
    "nearer to LD than to ZD for N = {close}",
    reason="The order must hold in every deployment: all three find the same first route, and what ND "
    "prunes ZD prunes too, and LD less than either. How close ND comes depends on N: in a "
    "sparse mesh most pairs of routes meet in some node, and ND loses them; in a dense one "
    "there are other nodes to take. The papers do not print over which N they drew, nor any "
    "value but ZD's at 32.",
    words={
        "ordered": {True: "every", False: "not every"},
        "far": {True: "every", False: "not every"},
    },
)

ZONE: Final = Statement(
    claim="ZD finds two routes in 4.2 % of the deployments of {nodes} nodes",
    published="4.2 % of 1000 runs: interval [{low:.1f}, {high:.1f}]",
    measured="{ours} of {number}",
    reason="{inside}: {rules}.",
    words={
        "inside": {
            True: "Ours lies within the interval that 1000 runs leave. The rule for ties moves it by less than that",
            False: "Ours lies outside the interval that 1000 runs leave; no rule for ties explains it",
        }
    },
)

NUMBERS: Final = Statement(
    claim="LD finds the most routes, ND has a visible chance of three, ZD avoids more than two (000 Fig. 4, 003 "
    "Fig. 8)",
    published="as said",
    measured="three routes or more: {three}",
    reason="Three zone-disjoint routes need a source with three neighbours that do not hear one "
    "another, and three separate corridors 60 m long within 100 m: possible, but so rare among "
    "32 nodes that 1000 deployments may well have none.",
)

LENGTHS: Final = Statement(
    claim="The first route is alike for all, the second shortest with LD, longest with ZD (000 Fig. 5, 003 Fig. 9)",
    published="first identical; second: LD, then ND, then ZD",
    measured="first {first:.2f} hops, {same}; second {second}; in order in {ordered} deployment",
    reason="No chance is in this: under one rule for ties the first routes are the same, and each "
    "algorithm prunes what the one before it prunes, and more.",
    words={
        "same": {True: "identical", False: "not identical"},
        "ordered": {True: "every", False: "not every"},
    },
)

PICTURE: Final = Statement(
    claim="There are deployments of {nodes} nodes in which all three find the same routes of {hops} hops (000 Fig. "
    "2, 003 Fig. 6)",
    published="8-13-15-3 and 8-11-10-12-3",
    measured="{example}",
    reason="{found}",
    words={
        "found": {
            True: "It is another deployment of the same kind, the first among the draws of 16 nodes. The authors' "
            "own one uses links of up to 24.3 m, as their public program shows.",
            False: "Not within {draws} draws: it is rare, and a full run draws more.",
        }
    },
)
