"""What the study of responses to reordering runs.

two:   client ══ 5 Mbit/s, 100 ms; 2 Mbit/s, 100 ms ══ server
three: client ══ 5 Mbit/s, 100 ms; 2 Mbit/s, 10 ms; 7 Mbit/s, 50 ms ══ server
"""

from __future__ import annotations

from typing import Final

from ropewalk.source import Source
from ropewalk.studies.cells import Cell

HEAD: Final = """
[scenario]
name = "reordering"
duration = "60 s"
seed = 1
sample_interval = "200 ms"

# SACK and timestamps for every response, so that they differ in nothing but the response itself.
[tcp]
preset = "classic"
sack = true
timestamps = true
report_duplicates = true
loss_recovery = "sack"

[tcp.delayed_ack]
segments = 1
timeout = "200 ms"

[hosts.client]
[hosts.server]
"""

CONNECTION: Final = """
[connections.bulk]
protocol = "mptcp"
from = "client"
to = "server"
application = { kind = "bulk", bytes = "10 MB" }
"""

PATHS: Final = {
    "two paths": (("5 Mbit/s", "100 ms"), ("2 Mbit/s", "100 ms")),
    "three paths": (("5 Mbit/s", "100 ms"), ("2 Mbit/s", "10 ms"), ("7 Mbit/s", "50 ms")),
}
RESPONSES: Final[dict[str, list[str]]] = {
    "none": [],
    "DSACK": ["dsack"],
    "Eifel": ["eifel"],
    "F-RTO": ["frto"],
}
DOOR: Final = "TCP-DOOR"
"""What the paper did not have: after out-of-order arrival no reduction for a while (Wang and Zhang 2002)."""
FURTHER: Final[dict[str, list[str]]] = {DOOR: ["door"]}
RACK: Final = "RACK"
"""What the paper did not have: a reordering window in time (RFC 8985), and no response."""
COMPARED: Final = (*RESPONSES, RACK, DOOR)
TOPOLOGIES: Final = ("point to point", "disjoint bottlenecks", "shared bottleneck")
"""What the paper would do next, over three paths."""
ACCESS: Final = 'rate = "100 Mbit/s"\ndelay = "1 ms"\nqueue = "1000 packets"\n'
SHARED: Final = ("7 Mbit/s", "40 ms")
"""Of the bottleneck that three paths share."""
RECEIVER: Final[dict[str, object]] = {"subflow_acks": "in-data-order"}
"""The receiver of the paper's simulator."""
RECEIVER_WITH_DSACK: Final[dict[str, object]] = {
    "subflow_acks": "twice",
    "duplicates_blame": "blocking-undone",
}
"""The same in its DSACK mode."""
THEIRS: Final[dict[str, dict[str, object]]] = {
    "none": RECEIVER,
    "DSACK": RECEIVER_WITH_DSACK,
    "Eifel": RECEIVER,
}
"""What the paper's simulator does under these names. Eifel is that of RFC 3522 here. Its F-RTO drops ACKs: see
`DROPPED`."""
FIRST_TIMEOUT: Final[dict[str, object]] = {"tcp.rto_initial": "201 ms"}
"""There the first timeout, of 0.2 s, comes before the first ACK over a path of 200 ms.

One millisecond more lets the handshake through: after a SYN that was sent again RFC 6298 §5.7 has 3 s, which the
paper's simulator has not.
"""
DROPPED: Final = (0, 5, 10, 20, 25, 30, 40)
"""Per cent of the ACKs that its F-RTO drops; in the paper's simulator the rate comes from the wall clock."""
CONTROLS: Final = ("uncoupled", "linked-increases", "rtt-compensator", "fully-coupled")
DOOR_CONTROLS: Final = ("uncoupled", "linked-increases")
PERIODS: Final[dict[str, str | None]] = {
    "0": "0 s",
    "50 ms": "50 ms",
    "a round trip": None,
    "1 s": "1 s",
}
"""TCP-DOOR's T1 and T2 by what tables call them; None is the default."""
FIXED: Final = "fixed delays"
JITTER: Final = "reordering within paths"


def scenario(paths: str, *, jitter: bool) -> str:
    """The text of one of the two topologies, its delays fixed or varying enough to reorder packets."""
    links = []
    for index, (rate, delay) in enumerate(PATHS[paths]):
        links.append(
            f"[links.path{index}]\n"
            f'between = ["client", "server"]\nrate = "{rate}"\ndelay = "{delay}"\n'
            'queue = { discipline = "drop-tail", limit = "100 packets" }\n'
        )
        if jitter:
            links.append('jitter = { distribution = "exponential", mean = "5 ms" }\nreorder = true\n')
    names = ", ".join(f'"path{index}"' for index in range(len(PATHS[paths])))
    return HEAD + "\n".join(links) + CONNECTION + f"paths = [{names}]\n"


def _responding(text: str, control: str, response: str, **more: object) -> Source:
    keys: dict[str, object] = {
        "tcp.spurious": (RESPONSES | FURTHER).get(response, []),
        "mptcp.congestion_control": control,
        **({"tcp.loss_recovery": "rack"} if response == RACK else {}),
        **more,
    }
    return Source(text).with_overrides(keys)


def cells(kind: str) -> list[Cell]:
    """Every number of paths, congestion control and response."""
    return [
        Cell(
            {"paths": paths, "control": control, "response": response},
            _responding(scenario(paths, jitter=kind == JITTER), control, response),
        )
        for paths in PATHS
        for control in CONTROLS
        for response in COMPARED
    ]


def _theirs(paths: str, control: str, response: str) -> Source:
    """A response as the paper's simulator has it, with its receiver and its losses, over fixed delays."""
    return Source(scenario(paths, jitter=False)).with_overrides(
        {
            "mptcp.congestion_control": control,
            "tcp.spurious": RESPONSES["Eifel"] if response == "Eifel" else [],
            # Its packets have no options of TCP but what a response needs, and it has no fast recovery.
            "tcp.sack": False,
            "tcp.loss_recovery": "newreno",
            "tcp.timestamps": response == "Eifel",
            "tcp.report_duplicates": False,
            "tcp.fast_recovery": False,
            "tcp.quirks": {"ssthresh_after_loss": 2, **THEIRS[response]},
            **FIRST_TIMEOUT,
        }
    )


def their_cells() -> list[Cell]:
    """All of these."""
    return [
        Cell(
            {"paths": paths, "control": control, "response": response},
            _theirs(paths, control, response),
        )
        for paths in PATHS
        for control in CONTROLS
        for response in THEIRS
    ]


LEVEL: Final = ("three paths", "uncoupled", "DSACK")
"""Where the paper has its greatest throughput."""
AS_THERE: Final = "as above"
NOT_WAITING: Final = "ACKs do not wait for the order of data"
TRIED: Final[dict[str, dict[str, object]]] = {
    AS_THERE: {},
    "a first timeout of 1 s": {"tcp.rto_initial": "1 s"},
    "the handshake's round trip counts": {"tcp.handshake_rtt": True},
    "ssthresh after a loss by RFC 5681": {"tcp.quirks": RECEIVER_WITH_DSACK},
    "a payload of 1412 octets": {"tcp.mss": 1436},
    "queues of 1000 packets": {
        f"links.path{index}.queue": "1000 packets" for index in range(len(PATHS[LEVEL[0]]))
    },
    "the path of the lowest RTT first": {"mptcp.scheduler": "lowest-rtt"},
    "duplicates count for nobody": {
        "tcp.quirks": {"ssthresh_after_loss": 2, "subflow_acks": "twice", "duplicates_blame": "nobody"}
    },
    "duplicates count for their own subflow": {
        "tcp.quirks": {"ssthresh_after_loss": 2, "subflow_acks": "twice", "duplicates_blame": "own"}
    },
    "windows stay cut": {
        "tcp.quirks": {"ssthresh_after_loss": 2, "subflow_acks": "twice", "duplicates_blame": "blocking"}
    },
    NOT_WAITING: {"tcp.quirks": {"ssthresh_after_loss": 2}},
}
"""What was tried for the level there, one thing at a time."""


def level_cells() -> list[Cell]:
    """All of these."""
    return [Cell({"tried": name}, _theirs(*LEVEL).with_overrides(keys)) for name, keys in TRIED.items()]


def dropping_cells() -> list[Cell]:
    """Its F-RTO as far as it drops a part of the ACKs, uncoupled."""
    return [
        Cell(
            {"paths": paths, "dropped": dropped},
            _theirs(paths, "uncoupled", "none").with_overrides(
                {
                    f"links.path{index}.backward.loss": {
                        "model": "bernoulli",
                        "probability": f"{dropped} %",
                    }
                    for index in range(len(PATHS[paths]))
                }
            ),
        )
        for paths in PATHS
        for dropped in DROPPED
    ]


def receiver_cells() -> list[Cell]:
    """Correct responses over fixed delays, with the receiver and the first timeout of the paper's simulator."""
    return [
        Cell(
            {"paths": paths, "control": control, "response": response},
            _responding(
                scenario(paths, jitter=False),
                control,
                response,
                **{
                    "tcp.quirks": RECEIVER_WITH_DSACK if response == "DSACK" else RECEIVER,
                    **FIRST_TIMEOUT,
                },
            ),
        )
        for paths in PATHS
        for control in CONTROLS
        for response in COMPARED
    ]


def door_cells() -> list[Cell]:
    """TCP-DOOR with other periods, over delays that reorder packets."""
    return [
        Cell(
            {"paths": paths, "control": control, "t1": t1, "t2": t2},
            _responding(
                scenario(paths, jitter=True),
                control,
                DOOR,
                **{
                    key: value
                    for key, value in (("tcp.door_t1", PERIODS[t1]), ("tcp.door_t2", PERIODS[t2]))
                    if value is not None
                },
            ),
        )
        for paths in PATHS
        for control in DOOR_CONTROLS
        for t1 in PERIODS
        for t2 in PERIODS
    ]


def topology(kind: str) -> str:
    """Three paths whose bottlenecks reorder: links from end to end, behind routers, or one link for all."""
    if kind == TOPOLOGIES[0]:
        return scenario("three paths", jitter=True)
    text = [HEAD]
    ways = PATHS["three paths"]
    if kind == TOPOLOGIES[1]:
        for index, (rate, delay) in enumerate(ways):
            text.append(
                f'[routers.near{index}]\n[links.path{index}]\nbetween = ["client", "near{index}"]\n{ACCESS}'
            )
            text.append(_bottleneck(f"far{index}", f"near{index}", "server", rate, delay))
    else:
        text.append("[routers.near]\n[routers.far]\n" + _bottleneck("middle", "near", "far", *SHARED))
        for index in range(len(ways)):
            text.append(f'[links.path{index}]\nbetween = ["client", "near"]\n{ACCESS}')
            text.append(f'[links.out{index}]\nbetween = ["far", "server"]\n{ACCESS}')
    return "\n".join(text) + CONNECTION + 'paths = ["path0", "path1", "path2"]\n'


def _bottleneck(name: str, a: str, b: str, rate: str, delay: str) -> str:
    return (
        f'[links.{name}]\nbetween = ["{a}", "{b}"]\nrate = "{rate}"\ndelay = "{delay}"\n'
        'queue = { discipline = "drop-tail", limit = "100 packets" }\n'
        'jitter = { distribution = "exponential", mean = "5 ms" }\nreorder = true\n'
    )


def topology_cells() -> list[Cell]:
    """The paper's outlook: three subflows over three topologies, over delays that reorder packets."""
    return [
        Cell(
            {"topology": kind, "control": control, "response": response},
            _responding(topology(kind), control, response),
        )
        for kind in TOPOLOGIES
        for control in ("uncoupled", "linked-increases")
        for response in COMPARED
    ]
