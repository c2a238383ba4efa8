from replays.activity.app.models import Direction
from replays.activity.app.periods import Period
from replays.activity.app.queries.base import Queries
from replays.activity.app.visits import Passage


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
