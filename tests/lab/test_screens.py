"""Readers who are watched: what their pages show, and what these lack."""

import pytest

from lab.running import screens
from lab.running.screens import Look, Screen, Shown
from lab.systems.api import Person, Post

READER, FRIEND = 1, 2
RECEIPT_AT = 100.0
LATER = RECEIPT_AT + screens.GRACE_S


class Feed:
    """Stands in for the API: a feed of ids, and which pages were asked for."""

    def __init__(self, *ids):
        self.ids, self.asked = list(ids), []

    def authors(self, person):
        return frozenset({FRIEND})

    def page(self, person, *, before=None, limit=2):
        self.asked.append(before)
        older = [it for it in sorted(self.ids, reverse=True) if before is None or it < before]
        return [Post(it, FRIEND) for it in older[:limit]], len(older) <= limit


def screen_of(feed):
    return Screen(feed, Person(READER, "token"))


def test_a_deep_look_goes_on_while_older_pages_show_something_new():
    feed = Feed(1, 2, 3, 5, 6, 7)
    screen = screen_of(feed)

    screen.look()
    assert set(screen.shown) == {6, 7}
    screen.look(9)
    feed.ids.append(4)  # late
    screen.look(9)

    assert feed.asked == [None, None, 6, 3, None, 6, 4]
    assert set(screen.shown) == {1, 2, 3, 4, 5, 6, 7}
    assert [look.oldest for look in screen.looks] == [6, 1, 2]


@pytest.mark.parametrize(
    ("shown_by_look_of", "look", "lacked"),
    [
        (LATER + 9, Look(LATER + 1, oldest=5), True),
        (None, Look(LATER + 1, oldest=7), True),
        (LATER + 9, Look(RECEIPT_AT + 0.1, oldest=5), False),  # it may not be committed yet
        (LATER + 9, Look(LATER + 1, oldest=8), False),  # its page was newer
        (LATER + 1, Look(LATER + 1, oldest=5), False),  # it took long, and showed the post
        (RECEIPT_AT, Look(LATER + 1, oldest=5), False),
    ],
)
def test_a_page_lacks_a_post_that_has_a_receipt(shown_by_look_of, look, lacked):
    screen = screen_of(Feed())
    screen.looks.append(look)
    if shown_by_look_of:
        screen.shown[7] = Shown(shown_by_look_of, shown_by_look_of + 5)

    assert screen.lacked(7, RECEIPT_AT) == lacked
