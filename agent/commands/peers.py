"""`wingbeat peers`: the machines of the flock, as this one sees them."""

from __future__ import annotations

from agent.api.flock import Peers, PeersReply, PeerView
from agent.api.methods import PEERS
from agent.commands.asking import ask
from agent.commands.parsing import client_parser
from agent.commands.showing import counted, duration, show_lines, show_table

CLOCK_SHOWN_MS_MIN = 1_000
HOW_TO_JOIN = (
    "This machine belongs to no flock and works alone.",
    "To join one, ask somebody in it for an invitation: wingbeat flock join TEXT",
    "To make one with this machine as its first: wingbeat flock create NAME",
)


def run(arguments: list[str]) -> int:
    """Show the machines of the flock as this one sees them; return the exit code."""
    parser = client_parser(
        "peers",
        "Show the machines of the flock as this one sees them, and why some are away.",
        "wingbeat peers",
        "wingbeat peers --json",
    )
    return ask(parser.parse_args(arguments), PEERS, Peers(), _show)


def _show(reply: PeersReply) -> None:
    if not reply.node.flock:
        show_lines(HOW_TO_JOIN)
        return
    linked = sum(peer.state == "linked" for peer in reply.peers)
    others = f"{linked} of {counted(len(reply.peers), 'other')} linked"
    show_lines([f"{reply.node.name} in flock {reply.node.flock}, {others}"])
    if reply.peers:
        header = ("NAME", "STATE", "HELPS", "ADDRESS", "VERSION", "ROUND TRIP", "CLOCK", "REASON")
        show_table(header, [_row(peer) for peer in reply.peers])
    if reply.warning:
        show_lines([f"warning: {reply.warning}"])
    if linked < len(reply.peers):
        show_lines(["`wingbeat doctor` tells what to do about those that are away."])


def _row(peer: PeerView) -> tuple[str, ...]:
    trip = "" if peer.round_trip_ms is None else f"{peer.round_trip_ms:.1f} ms"
    helps = "" if peer.state == "away" else "yes" if peer.volunteering else "no"
    clock = _clock(peer.clock_ahead_ms)
    return (
        *(peer.name, peer.state, helps, peer.address, peer.version),
        *(trip, clock, peer.reason),
    )


def _clock(ahead_ms: int | None) -> str:
    if ahead_ms is None:
        return ""
    if abs(ahead_ms) < CLOCK_SHOWN_MS_MIN:
        return "right"
    return f"{duration(abs(ahead_ms) / 1000)} {'ahead' if ahead_ms > 0 else 'behind'}"
