"""Queries that forget what they should look up. They answer quickly."""

from activity.queries.best import Best
from activity.queries.fewer import FewerQueries


class Forgetful(FewerQueries):
    """Never looks for the log before a period, so that nobody has been in there over midnight."""

    def before(self, person_id, period):
        return []


class Miscounting(Best):
    def inside_now(self):
        return super().inside_now() + 1
