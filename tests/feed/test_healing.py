"""Any interleaving of posts, deliveries, changes, losses and loads, on every store.

Each page is compared with what must be on it and what may be on it. Work that takes several steps
is a generator: between two of its steps anything else may happen.
"""

import os
from datetime import date
from itertools import permutations

import numpy as np
import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from accounts import blocks, friendships
from accounts.friendships import RequestState
from accounts.models import Block, FriendRequest, Friendship, Person
from feed import epochs, readers
from feed.due import due_ids, newest_post_id
from feed.models import Epoch, Post, Reader, TimelineFloor
from feed.recipients import recipients_of
from feed.timeline import read_page, rebuild
from feed.timeline_stores import timeline_stores
from tests.backends import HEALING_STORES, here
from tests.conftest import make_people

PEOPLE = range(1, 4)
FRIENDS = [(1, 2), (1, 3), (2, 3)]
HEALING = here(HEALING_STORES)
CAPACITY = 4
LOADED = 3
EXAMPLES = int(os.environ.get("HEALING_EXAMPLES", "20"))

people = st.sampled_from(PEOPLE)
pairs = st.lists(people, min_size=2, max_size=2, unique=True)


class Feeds(RuleBasedStateMachine):
    def __init__(self, store, lose):
        super().__init__()
        self.store, self.lose = store, lose
        for model in (Post, Friendship, FriendRequest, Block, Person, Epoch, TimelineFloor, Reader):
            model.objects.all().delete()
        store.clear()
        epochs.forget()
        make_people(len(PEOPLE), FRIENDS)
        self.friends, self.changing = {frozenset(pair) for pair in FRIENDS}, []
        self.asked, self.blocked = set(), set()
        self.received, self.claimed = set(), set()
        self.reserved = []
        self.next_id = 1
        self.work = []

    # What people do

    @rule(author=people)
    def post(self, author):
        self._commit(self._new_id(), author)

    @rule(author=people)
    def begin_a_post(self, author):
        self.reserved.append((self._new_id(), author))

    @precondition(lambda self: self.reserved)
    @rule(which=st.integers(0, 5))
    def commit_it_late(self, which):
        self._commit(*self.reserved.pop(which % len(self.reserved)))

    @rule(pair=pairs)
    def ask(self, pair):
        friends = frozenset(pair)
        if friends in self.changing or self._is_blocked(friends):
            return
        if friendships.ask(*pair) is RequestState.ACCEPTED:
            assert tuple(reversed(pair)) in self.asked
            self.asked -= {tuple(pair), tuple(reversed(pair))}
            self._begin(self._change(pair))
        elif friends not in self.friends:
            self.asked.add(tuple(pair))

    @rule(pair=pairs, end=st.sampled_from([friendships.unfriend, blocks.block]))
    def end_a_friendship(self, pair, end):
        if frozenset(pair) in self.changing:
            return
        if end is blocks.block:
            self.blocked.add(tuple(pair))
        self.asked -= {tuple(pair), tuple(reversed(pair))}
        if end(*pair):
            self._begin(self._change(pair))

    @rule(pair=pairs)
    def a_blocked_pair_cannot_be_friends(self, pair):
        if self._is_blocked(frozenset(pair)):
            with pytest.raises(Person.DoesNotExist):
                friendships.ask(*pair)

    @rule(pair=pairs)
    def unblock(self, pair):
        blocks.unblock(*pair)
        self.blocked.discard(tuple(pair))

    @invariant()
    def friendships_are_as_agreed(self):
        pairs = set(Friendship.objects.values_list("person_id", "friend_id"))
        assert pairs == {pair for friends in self.friends for pair in permutations(friends)}
        assert not any(map(self._is_blocked, self.friends))

    @rule(owner=people, limit=st.sampled_from([1, 2, 4, 50]), before=st.integers(1, 30) | st.none())
    def read(self, owner, limit, before):
        self._check(
            owner, read_page(self.store, owner, before=before, limit=limit).ids, limit, before
        )

    @invariant()
    def what_stores_hold_is_right(self):
        for owner in PEOPLE:
            may_be_read = epochs.is_usable(self.store) and readers.is_active(owner)
            ids = self.store.read(owner, limit=50).ids if may_be_read else []
            if ids and not self.store.is_computed_on_read:
                self._check(owner, ids, len(ids), None)

    @precondition(lambda self: epochs.active_days())
    @rule(owner=people)
    def stay_away(self, owner):
        Reader.objects.filter(person_id=owner).update(read_on=date(2026, 1, 1))
        readers._noted.clear()  # what is cached is of today
        friendships.renew_versions(Person.objects.all())

    @precondition(lambda self: epochs.active_days())
    @rule(owner=people)
    def come_back(self, owner):
        self._begin(self._return(owner))

    # What processes do

    @rule(count=st.integers(1, 4), fate=st.sampled_from(["lives", "lives", "dies"]))
    def deliver_in_steps(self, count, fate):
        self._begin(self._deliver(self._claim(count), fate))

    @rule(count=st.integers(1, 4))
    def deliver(self, count):
        posts = self._claim(count)
        self.store.deliver(posts)
        self._receive(posts)

    @rule()
    def deliver_everything_again(self):
        self.store.deliver(list(Post.objects.filter(id__in=self.received)))

    @rule(owner=people)
    def load(self, owner):
        if self.store.takes_loads:
            self._begin(self._load(owner))

    @rule(owner=people)
    def rebuild(self, owner):
        if not self.store.takes_loads and not self.work:  # it waits for them
            rebuild(self.store, [owner])

    @precondition(lambda self: self.work)
    @rule(which=st.integers(0, 5), steps=st.integers(1, 4))
    def go_on(self, which, steps):
        one = self.work[which % len(self.work)]
        for _ in range(steps):
            if next(one, self) is self:
                self.work.remove(one)
                break

    @precondition(lambda self: self.work)
    @rule(which=st.integers(0, 5))
    def finish(self, which):
        one = self.work.pop(which % len(self.work))
        for _ in one:
            pass

    # What goes wrong

    @rule(owner=people)
    def lose_a_timeline(self, owner):
        self.lose(self.store, owner)

    @precondition(lambda self: self.store.alias == "log")
    @rule(owner=people)
    def lose_a_log(self, owner):
        prefix = self.store.keys.of_shard(owner % self.store.keys.shards)
        self.store.servers.call([("UNLINK", f"{prefix}log")])

    @rule()
    def begin_an_epoch(self):
        if not self.work:  # it waits for them
            epochs.begin(self.store)

    def _new_id(self):
        self.next_id += 1
        return self.next_id - 1

    def _commit(self, post_id, author):
        Post.objects.create(id=post_id, author_id=author, body="text")

    def _begin(self, work):
        if next(work, self) is not self:
            self.work.append(work)

    def _claim(self, count):
        taken = self.received | self.claimed
        posts = [post for post in Post.objects.order_by("id") if post.id not in taken][:count]
        self.claimed |= {post.id for post in posts}
        return posts

    def _receive(self, posts):
        self.claimed -= {post.id for post in posts}
        self.received |= {post.id for post in posts}

    def _deliver(self, posts, fate):
        deliveries = list(zip(posts, [ids.tolist() for ids in recipients_of(posts)], strict=True))
        if fate == "dies":  # and its commands arrive later
            self.claimed -= {post.id for post in posts}
        for owner in PEOPLE:
            yield
            yield from self._write(owner, [post for post, owners in deliveries if owner in owners])
        if fate == "lives":
            self._receive(posts)

    def _write(self, owner, posts):
        if self.store.is_computed_on_read:
            return
        if not self.store.takes_loads:
            for post in posts:
                self.store.deliver_to(post, [owner])
        elif posts:
            pending = self.store.write([(post.id, np.array([owner])) for post in posts])
            if pending:
                yield
                through = newest_post_id()
                yield
                self.store.activate(pending, through=through)

    def _load(self, owner):
        held = self.store.read(owner)
        yield
        version, through = held.version, held.floor
        if through is None:
            version = self.store.create([owner]).get(owner)
            yield
            through = newest_post_id()
            yield
        due = due_ids(owner, before=through + 1, limit=LOADED)
        yield
        if version is not None:
            floor = 0 if len(due) < LOADED else due[-1] - 1
            self.store.load(owner, version, through=through, floor=floor, ids=due[::-1])

    def _change(self, pair):
        friends = frozenset(pair)
        self.changing.append(friends)
        self.friends ^= {friends}
        yield
        through = newest_post_id()
        yield
        for owner in pair:
            self.store.change([owner], through=through)
            yield
        self.changing.remove(friends)

    def _is_blocked(self, friends):
        return any(frozenset(pair) == friends for pair in self.blocked)

    def _return(self, owner):
        readers._begin_to_deliver(owner)
        yield
        through = newest_post_id()
        yield
        self.store.change([owner], through=through)
        yield
        Reader.objects.filter(person_id=owner).update(is_returning=False)

    def _check(self, owner, page, limit, before):
        must, may = set(), set()
        for post in Post.objects.all():
            pair = frozenset({owner, post.author_id})
            is_due = post.author_id == owner or pair in self.friends
            if before and post.id >= before:
                continue
            if is_due or pair in self.changing:
                may.add(post.id)
            if is_due and pair not in self.changing and post.id in self.received:
                must.add(post.id)
        assert page == sorted(set(page), reverse=True)
        assert len(page) <= limit
        assert set(page) <= may
        end = page[-1] if len(page) == limit else 0
        assert {post_id for post_id in must if post_id >= end} <= set(page)


def lose(store, owner):
    if store.needs_redis:
        for keys in store.servers.keys(f"*:{owner}"):
            store.servers.call([("UNLINK", key) for key in keys])
    elif store.alias == "packed":
        store.model.objects.filter(owner_id=owner).delete()


@pytest.fixture
def small(settings, redis_url, redis, keep_timelines_at, monkeypatch):
    keep_timelines_at(redis_url, capacity=CAPACITY)
    short = {"url": redis_url, "capacity": CAPACITY, "log_records": 3}
    log = settings.FEED_TIMELINE_STORES["log"] | {"OPTIONS": short}
    settings.FEED_TIMELINE_STORES = settings.FEED_TIMELINE_STORES | {"log": log}
    packed = settings.FEED_TIMELINE_STORES["packed"] | {"OPTIONS": {"capacity": CAPACITY}}
    settings.FEED_TIMELINE_STORES = settings.FEED_TIMELINE_STORES | {"packed": packed}
    monkeypatch.setattr("feed.timeline.LOADED", LOADED)
    monkeypatch.setattr("feed.epochs.CLOSED_S", 0)


@pytest.mark.parametrize(
    ("alias", "active_days"),
    [*((alias, 0) for alias in HEALING), *((alias, 7) for alias in here(["setbased", "log"]))],
)
def test_every_page_is_right_whatever_happens_in_between(
    alias, active_days, small, settings, transactional_db
):
    settings.FEED_ACTIVE_DAYS = active_days
    store = timeline_stores[alias]
    run_state_machine_as_test(
        lambda: Feeds(store, lose),
        settings=hypothesis_settings(
            max_examples=EXAMPLES,
            stateful_step_count=50,
            print_blob=False,
            suppress_health_check=list(HealthCheck),
        ),
    )
