"""statistics: what this machine gave in each week, and what the flock did."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from agent.api.history import Statistics, StatisticsReply, WeekView
from agent.api.methods import STATISTICS
from agent.control.call import Call, verb
from agent.storage.history import Sums

HOUR_MS = 3_600_000


async def serve(call: Call, params: Statistics) -> StatisticsReply:
    """Weeks begin on Monday by this machine's calendar, which may have hours more or less."""
    borders = _borders(datetime.now(UTC).astimezone(), params.weeks)
    spans = [(0, borders[0][1]), *borders]
    sums, since_ms = await call.surface.history.sums(spans)
    whole = sums[0]
    return StatisticsReply(
        tuple(_week(begin_ms, each) for (begin_ms, _), each in zip(borders, sums[1:], strict=True)),
        since_ms,
        whole.given_ms / HOUR_MS,
        whole.done_here,
        whole.done,
    )


def _borders(now: datetime, weeks: int) -> list[tuple[int, int]]:
    """Beginning and end of each week in milliseconds, the latest first."""
    monday = now.replace(tzinfo=None).date() - timedelta(days=now.weekday())
    mondays = [monday + timedelta(weeks=number) for number in range(1, -weeks, -1)]
    moments = [
        round(datetime(day.year, day.month, day.day).astimezone().timestamp() * 1000)
        for day in mondays
    ]
    return [(begin, end) for end, begin in pairwise(moments)]


def _week(begin_ms: int, sums: Sums) -> WeekView:
    return WeekView(
        begin_ms,
        sums.given_ms / HOUR_MS,
        sums.done_here,
        sums.done,
        sums.failed,
        sums.moved,
        sums.waited_median_ms / 1000,
        sums.waited_longest_ms / 1000,
    )


VERB = verb(STATISTICS, serve)
