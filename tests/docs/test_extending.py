"""The code of docs/extending.md, as it stands there."""

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from django.core.management import call_command

from feed.audit import audit
from feed.delivery import deliver, deliver_pending
from feed.models import Post
from feed.selectors import read_timeline
from feed.services import publish_post
from feed.timeline_stores import get_timeline_store

PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)


@pytest.fixture
def mine(settings, monkeypatch, transactional_db, friends, redis, redis_url):
    """What somebody does who follows the page."""
    store, strategy, settings_lines = PYTHON.findall(Path("docs/extending.md").read_text())
    module = ModuleType("mine")
    exec(store + strategy, module.__dict__)
    monkeypatch.setitem(sys.modules, "mine", module)
    tables = {
        "FEED_TIMELINE_STORES": dict(settings.FEED_TIMELINE_STORES),
        "FEED_STRATEGIES": dict(settings.FEED_STRATEGIES),
        "REDIS_URL": redis_url,
    }
    exec(settings_lines, tables)
    tables["FEED_STRATEGIES"]["hybrid"]["OPTIONS"]["few"] = 1
    settings.FEED_TIMELINE_STORES, settings.FEED_STRATEGIES = (
        tables["FEED_TIMELINE_STORES"],
        tables["FEED_STRATEGIES"],
    )
    settings.FEED_STRATEGY, settings.FEED_TIMELINE_STORE = "hybrid", "plainsets"


def shown(owner_id):
    page = read_timeline(owner_id=owner_id, before=None, limit=20)
    return list(page.posts)


def test_the_system_checks_take_the_pair(mine):
    call_command("check")


def test_few_friends_get_the_post_at_once_and_many_from_the_drainer(mine):
    of_a_loner = publish_post(author_id=4, body="text").post
    of_a_friend = publish_post(author_id=1, body="text").post

    assert shown(4) == [of_a_loner.id]
    assert list(Post.objects.pending()) == [of_a_friend]
    assert deliver_pending(limit=10) == 1
    assert shown(2) == [of_a_friend.id]


def test_delivering_twice_changes_nothing_and_the_audit_agrees(mine):
    posts = [publish_post(author_id=author, body="text").post for author in (1, 2, 3, 4)]
    deliver(posts)
    deliver(posts)

    assert shown(1) == [post.id for post in reversed(posts[:3])]
    assert get_timeline_store().page(1, before=posts[2].id, limit=1) == [posts[1].id]
    *_, (_, found) = audit(get_timeline_store())
    assert found.ok, found
