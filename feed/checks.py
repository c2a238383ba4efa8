"""System checks of the two axes."""

from typing import Any

from django.core.checks import CheckMessage, Error, register

from feed.fanout import get_fanout
from feed.timelines import get_timeline


@register()
def check_timeline_is_shared(**kwargs: Any) -> list[CheckMessage]:
    """A strategy that delivers in another process needs a store that this one sees."""
    fanout, timeline = get_fanout(), get_timeline()
    if not fanout.elsewhere or timeline.shared:
        return []
    return [
        Error(
            f"The strategy {fanout.alias!r} delivers in another process, whose deliveries "
            f"into the store {timeline.alias!r} nobody else sees.",
            hint="Choose a shared store with FEED_TIMELINE, or FEED_FANOUT=inline.",
            id="feed.E001",
        )
    ]


@register()
def check_timeline_takes_parts(**kwargs: Any) -> list[CheckMessage]:
    """A strategy that delivers in parts needs a store that takes them."""
    fanout, timeline = get_fanout(), get_timeline()
    if not fanout.partial or timeline.partial:
        return []
    return [
        Error(
            f"The strategy {fanout.alias!r} delivers a post in parts, and the store "
            f"{timeline.alias!r} takes only whole posts.",
            hint="Choose another store with FEED_TIMELINE, or FEED_FANOUT=task.",
            id="feed.E002",
        )
    ]
