import threading
import time

import pytest
from django.core.management import call_command
from django.db import connection

from feed.delivery import deliver_pending
from feed.models import Post
from tests.conftest import whole_timelines


@pytest.fixture
def post(settings, transactional_db, friends):
    settings.FEED_STRATEGY, settings.FEED_TIMELINE_STORE = "outbox", "setbased"
    whole_timelines()
    return Post.objects.create(author_id=1, body="hello")


def test_it_waits_until_the_last_receipt_and_prints_the_backlog(post, capsys):
    def deliver_later():
        time.sleep(0.3)
        deliver_pending(limit=10)
        connection.close()

    drainer = threading.Thread(target=deliver_later)
    drainer.start()
    call_command("await_drain")
    drainer.join()

    assert not Post.objects.pending().exists()
    assert capsys.readouterr().out.split()[-1] == "0"


def test_it_gives_up_if_no_post_is_delivered(post, capsys):
    call_command("await_drain", give_up_s=0.2)

    assert capsys.readouterr().out.split() == ["1"]
