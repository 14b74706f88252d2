"""What the paper on a degraded path says, and the words around what is measured of it."""

from __future__ import annotations

from typing import Final

from ropewalk.studies.statement import Statement

THRESHOLD: Final = Statement(
    claim="Above P = 5 % MPTCP is worse than TCP on path A alone",
    published="goodputs cross between 5 and 6 %",
    rerun="7.71 at 0.5 %, 6.99 at 3 %, 5.99 at 7 %, there 5.77 ± 0.29 without the runs whose path "
    "B never came up; TCP 5.70 ± 0.18 with delayed ACKs, 7.77 ± 0.12 with an ACK per packet",
    measured="against TCP with delayed ACKs ({delayed}): {over_delayed}; against TCP with an ACK per packet "
    "({every}): {over_every}; linux preset against TCP CUBIC ({linux}): {over_linux}; the same with loss one way, "
    "as under Linux's own stack ({kernel}): {over_kernel}",
    reason="Where the curves cross depends on how the reference acknowledges. The paper's simulator "
    "lets TCP delay its ACKs and MPTCP acknowledge every packet, so that its TCP grows half "
    "as fast per round trip. Run again, without the runs whose path B never came up, that "
    "simulator nearly crosses at 7 % against delayed ACKs. Linux 6.18 itself, with CUBIC over links that "
    "lose towards the receiver, crosses between 5 and 6 %: its send buffer grows per "
    "subflow, and one that is stuck soon stops the other.",
)

ALWAYS_BELOW: Final = Statement(
    claim="Subflow A is always slower than TCP alone on path A",
    published="below for every P",
    measured="subflow A {low:.2f} to {high:.2f} Mbit/s; TCP with delayed ACKs {delayed:.2f}: {below_delayed}; TCP "
    "with an ACK per packet {every:.2f}: {below_every}",
    reason="Linked increases give subflow A only its part of one TCP flow's growth while B takes "
    "some, so it stays below a TCP flow that is acknowledged as often as it is. The paper "
    "explains this by head-of-line blocking, which its 50 MB receive buffer rules out.",
    words={
        "below_delayed": {True: "always below", False: "not always below"},
        "below_every": {True: "always below", False: "not always below"},
    },
)

RISE_AND_FALL: Final = Statement(
    claim="Subflow A rises up to P = 3 % and falls after",
    published="rise to 3 %, then fall",
    rerun="rise to 3 %, then fall; with its receiver repaired 6.15 to 7.05, rising all the way",
    measured="{first:.2f} at {least:g} %, {at_three:.2f} at 3 %, {last:.2f} at {most:g} %",
    reason="The rise is linked increases' doing: as B's window shrinks, more of the growth goes to "
    "A. The fall came from a receiver of the paper's simulator that held A's "
    "acknowledgements back until B's data had arrived; with independent acknowledgements "
    "there is none. With acknowledgements that wait (the quirk `subflow_acks`) A has {held}, "
    "less than in that simulator throughout.",
)

FORMULA: Final = Statement(
    claim="The RFC 3819 formula gives TCP's throughput",
    published="about 4.4 Mbit/s at 1 %, almost nothing at 10 %",
    measured="formula {value:.2f} and {little:.2f} Mbit/s; simulated at 1 %: classic {classic}, linux (NewReno) "
    "{linux}",
    reason="The formula's constant is that of delayed ACKs and growth by ACKs; SACK and growth by "
    "acknowledged octets recover faster, so that the linux preset lies above it. The queue also "
    "lengthens the round trip beyond the 20 ms that the formula is given.",
)
