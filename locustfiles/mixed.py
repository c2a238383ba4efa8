"""500 people act once per second each: 60 % read their feed, 30 % a person's posts, 10 % post.

locust -f locustfiles/mixed.py                    # fanout.py's options but --visible-share
"""

import random

from locust import tag, task

from locustfiles.player import Player

FEED = "/v1/feed/"
POSTS = "/v1/posts/"
PERSON_POSTS = "/v1/people/[id]/posts/"


class Reader(Player):
    """A user who reads more than they write."""

    @tag("feed")
    @task(6)
    def look_at_feed(self) -> None:
        self.arrive("GET", FEED, self.read_feed)

    @tag("person")
    @task(3)
    def look_at_person(self) -> None:
        self.arrive("GET", PERSON_POSTS, self.read_person)

    @tag("post")
    @task(1)
    def post(self) -> None:
        self.arrive("POST", POSTS, self.write_post)

    def read_feed(self, due: float) -> None:
        self.answer_to(self.person, "GET", FEED, 200, due)

    def read_person(self, due: float) -> None:
        somebody = self.people.at(random.randrange(len(self.people)))  # noqa: S311
        url = f"/v1/people/{somebody.id}/posts/"
        self.answer_to(self.person, "GET", url, 200, due, name=PERSON_POSTS)
