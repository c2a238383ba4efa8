"""The service with a log of visits."""

from zoneinfo import ZoneInfo

from config.settings import *  # noqa: F403
from config.settings import INSTALLED_APPS, env

INSTALLED_APPS += ["replays.activity.app"]
ROOT_URLCONF = "replays.activity.urls"

ACTIVITY_TIME_ZONE = ZoneInfo(env.str("ACTIVITY_TIME_ZONE", default="UTC"))
"""Time zone of the days and months that visits are counted in."""
ACTIVITY_QUERIES = env.str("ACTIVITY_QUERIES", default="best")
ACTIVITY_IMPLEMENTATIONS = {
    alias: {"BACKEND": f"replays.activity.app.queries.{backend}", "OPTIONS": {"table": table}}
    for alias, backend, table in (
        ("as_found", "published.AsFound", "PlainLog"),
        ("fewer_queries", "published.FewerQueries", "PlainLog"),
        ("indexed", "published.FewerQueries", "IndexedLog"),
        ("tags_as_found", "tags.TagsAsFound", "PlainTag"),
        ("tags_fewer_queries", "tags.TagsFewerQueries", "PlainTag"),
        ("tags_indexed", "tags.TagsFewerQueries", "IndexedTag"),
        ("best", "best.Best", "IndexedLog"),
    )
}
