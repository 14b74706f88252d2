"""What `routes show` prints of one deployment and its routes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ropewalk.routes import Deployment


def deployment_table(deployment: Deployment) -> str:
    """Its routes, a line for each; what they are worth, if they have been judged; or why there is none."""
    from ropewalk.tables import render

    names = deployment.names
    sets = (deployment.radio or {}).get("sets", {})
    rows = []
    for algorithm, found in deployment.routes.items():
        for index, route in enumerate(found):
            row = [algorithm, str(index + 1), str(len(route) - 1), " → ".join(names[node] for node in route)]
            if sets:
                judged = sets[algorithm]["routes"][index]
                row += [
                    _channels(judged["channels"]),
                    f"{judged['etx']:.3g}",
                    f"{1e3 * judged['ett_s']:.3f}",
                    f"{1e3 * judged['wcett_s']:.3f}",
                    f"{judged['mic']:.3f}",
                ]
            rows.append(row)
    head = ["algorithm", "route", "hops", "nodes"]
    head += ["channels", "ETX", "ETT ms", "WCETT ms", "MIC"] if sets else []
    title = (
        f"{len(names)} nodes, {len(deployment.links)} links, from {names[deployment.source]} "
        f"to {names[deployment.destination]}, draw {deployment.draw}, ties: {deployment.ties}"
    )
    conflicts = [
        f"{algorithm}: {sets[algorithm]['conflicts_within_routes']} pairs of links conflict within a route, "
        f"{sets[algorithm]['conflicts_between_routes']} between routes"
        for algorithm in deployment.routes
        if sets
    ]
    parts = [title, render(head, rows) if rows else _no_route(deployment)]
    return "\n\n".join([*parts, *(["\n".join(conflicts)] if conflicts and rows else [])])


def channels_of(deployment: Deployment) -> dict[str, list[list[int]]]:
    """By algorithm and route the channel of each hop, if the routes have been judged."""
    sets = (deployment.radio or {}).get("sets", {})
    return {name: [route["channels"] for route in found["routes"]] for name, found in sets.items()}


def _channels(channels: list[int]) -> str:
    """One per hop, or one that all hops use."""
    return " ".join(str(channel) for channel in (channels if len(set(channels)) > 1 else channels[:1]))


def _no_route(deployment: Deployment) -> str:
    """Why there is none."""
    ends = (deployment.source, deployment.destination)
    source, destination = (deployment.names[end] for end in ends)
    said = f"no route from {source} to {destination}: "
    reached = [_reached(deployment, end) for end in ends]
    if deployment.destination in reached[0]:
        return said + "the nodes between have no radios on common channels"
    return (
        said + f"{source} is among {_nodes_said(reached[0])}, {destination} among {_nodes_said(reached[1])}"
    )


def _nodes_said(nodes: set[int]) -> str:
    return "1 node that hears no other" if len(nodes) == 1 else f"{len(nodes)} that hear one another"


def _reached(deployment: Deployment, start: int) -> set[int]:
    """The nodes of its component."""
    neighbours: dict[int, list[int]] = {}
    for a, b in deployment.links:
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    reached, ahead = {start}, [start]
    while ahead:
        for node in neighbours.get(ahead.pop(), []):
            if node not in reached:
                reached.add(node)
                ahead.append(node)
    return reached
