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
