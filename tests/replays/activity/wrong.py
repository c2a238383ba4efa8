"""Queries with a planted fault."""

from replays.activity.app.queries.best import Best
from replays.activity.app.queries.published import FewerQueries


class Forgetful(FewerQueries):
    """Ignores the log before a period, so visits that cross midnight are lost."""

    def before(self, person_id, period):
        return []


class Miscounting(Best):
    def inside_now(self):
        return super().inside_now() + 1
