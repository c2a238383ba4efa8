"""The steps that were published."""

from replays.activity.app.models import Direction
from replays.activity.app.periods import Period
from replays.activity.app.queries.base import Queries
from replays.activity.app.visits import Passage


class AsFound(Queries):
    """As published: three queries per period, whatever the first one returns."""

    def passages(self, person_id: int, period: Period) -> list[Passage]:
        logs = self.within(person_id, period)
        before = self.before(person_id, period)
        after = self.after(person_id, period)
        return before + logs + after

    def inside_now(self) -> int:
        entries = self.last_of_everyone(Direction.IN)
        exits = self.last_of_everyone(Direction.OUT)
        never = (0, 0)
        return sum(entry > exits.get(person_id, never) for person_id, entry in entries.items())


class FewerQueries(Queries):
    """Queries a log outside of the period only if a visit extends to it."""

    def passages(self, person_id: int, period: Period) -> list[Passage]:
        logs = self.within(person_id, period)
        if not logs or logs[0].direction == Direction.OUT:
            logs = self.before(person_id, period) + logs
        if logs and logs[-1].direction == Direction.IN:
            logs += self.after(person_id, period)
        return logs

    def inside_now(self) -> int:
        last = self.last_of_everyone()
        return sum(log.direction == Direction.IN for log in last.values())
