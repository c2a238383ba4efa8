"""Stream-Framework's feeds and manager, given our friendships; and Celery, which runs its tasks."""
# mypy: ignore-errors

import os
from urllib.parse import urlsplit

import python311  # noqa: F401  before the manager
import redis
from celery import Celery
from stream_framework import settings
from stream_framework.activity import Activity
from stream_framework.feed_managers.base import FanoutPriority, Manager
from stream_framework.feeds.base import UserBaseFeed
from stream_framework.feeds.redis import RedisFeed
from stream_framework.verbs.base import Add

REDIS = urlsplit(os.environ["REDIS_URL"])
WHERE = {"host": REDIS.hostname, "port": REDIS.port, "db": 0, "password": None}
settings.STREAM_REDIS_CONFIG["default"] = WHERE
store = redis.StrictRedis(host=REDIS.hostname, port=REDIS.port, db=1, decode_responses=True)
"""People and friendships; the feeds are the library's, in database 0."""

os.environ["C_FORCE_ROOT"] = "1"  # Celery refuses pickles as root; this broker has no strangers
celery = Celery("fanout", broker=os.environ["BROKER_URL"])
celery.conf.update(
    task_serializer="pickle",  # the tasks' arguments are its managers and feed classes
    accept_content=["pickle"],
    task_ignore_result=True,
)
celery.set_default()


class Post(Activity):
    """An activity whose id is the post's."""

    @property
    def serialization_id(self):
        return self.object_id


class Feed(RedisFeed):
    key_format = "feed:%(user_id)s"
    max_length = 10**6
    activity_class = Post


class OwnPosts(Feed, UserBaseFeed):
    key_format = "own:%(user_id)s"


class Friends(Manager):
    feed_classes = {"normal": Feed}
    user_feed_class = OwnPosts

    def get_user_follower_ids(self, user_id):
        friends = [int(friend) for friend in store.smembers(f"friends:{user_id}")]
        return {FanoutPriority.HIGH: [user_id, *friends]}


manager = Friends()


def publish(author, body):
    post = Post(author, Add, store.incr("posts"), extra_context={"body": body})
    manager.add_user_activity(author, post)
    return post


def page(owner, before, limit):
    feed = Feed(owner)
    if before is not None:
        feed = feed.filter(activity_id__lt=before)
    return feed[:limit]
