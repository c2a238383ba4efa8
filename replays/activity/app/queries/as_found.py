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
