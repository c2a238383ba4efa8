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

from accounts import blocks, follows
from accounts.follows import Edge, RequestState, both_ways
from accounts.models import Block, Follow, FriendRequest, Person
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
FOLLOWS = [(1, 2), (1, 3), (2, 3)]
"""Authors and readers: nobody reads 3, and 1 reads nobody."""
HEALING = here(HEALING_STORES)
CAPACITY = 4
LOADED = 3
EXAMPLES = int(os.environ.get("HEALING_EXAMPLES", "10"))

people = st.sampled_from(PEOPLE)
pairs = st.lists(people, min_size=2, max_size=2, unique=True)


class Feeds(RuleBasedStateMachine):
    def __init__(self, store, lose, edges):
        super().__init__()
        self.store, self.lose, self.has_friends = store, lose, edges == "friends"
        for model in (Post, Follow, FriendRequest, Block, Person, Epoch, TimelineFloor, Reader):
            model.objects.all().delete()
        store.clear()
        epochs.forget()
        make_people(len(PEOPLE), FRIENDS if self.has_friends else [])
        if not self.has_friends:
            Follow.objects.bulk_create(Follow(author_id=a, reader_id=b) for a, b in FOLLOWS)
        self.edges = set(Follow.objects.values_list("author_id", "reader_id"))
        self.changing, self.private = set(), set()
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

    @precondition(lambda self: self.has_friends)
    @rule(pair=pairs)
    def ask(self, pair):
        if self._is_changing(pair) or self._is_blocked(pair):
            return
        if follows.ask(*pair) is RequestState.ACCEPTED:
            assert tuple(reversed(pair)) in self.asked
            self.asked -= set(permutations(pair))
            self._begin(self._change(both_ways(*pair)))
        elif tuple(pair) not in self.edges:
            self.asked.add(tuple(pair))

    @precondition(lambda self: not self.has_friends)
    @rule(pair=pairs)
    def follow(self, pair):
        reader, author = pair
        if self._is_changing(pair) or self._is_blocked(pair):
            return
        answer = follows.follow(reader, author)
        if answer is RequestState.ACCEPTED:
            assert author not in self.private
            self.asked.discard((reader, author))
            self._begin(self._change([Edge(author, reader)]))
        elif answer is RequestState.WAITING:
            assert author in self.private
            self.asked.add((reader, author))

    @precondition(lambda self: not self.has_friends)
    @rule(pair=pairs)
    def accept(self, pair):
        reader, author = pair
        if not self._is_changing(pair) and (reader, author) in self.asked:
            assert follows.accept(author, reader)
            self.asked.remove((reader, author))
            self._begin(self._change([Edge(author, reader)]))

    @precondition(lambda self: not self.has_friends)
    @rule(person=people)
    def become_private_or_public(self, person):
        self.private ^= {person}
        Person.objects.filter(id=person).update(is_private=person in self.private)

    @rule(pair=pairs)
    def end(self, pair):
        edges = both_ways(*pair) if self.has_friends else [Edge(*pair)]
        if not self._is_changing(pair):
            self._forget_requests(edges)
            self._change_ended(follows.end(pair[0], edges))

    @rule(pair=pairs)
    def block(self, pair):
        if not self._is_changing(pair):
            self.blocked.add(tuple(pair))
            self._forget_requests(both_ways(*pair))
            self._change_ended(blocks.block(*pair))

    @rule(pair=pairs, begin=st.sampled_from([follows.ask, follows.follow, follows.accept]))
    def nothing_begins_across_a_block(self, pair, begin):
        if self._is_blocked(pair):
            with pytest.raises(Person.DoesNotExist):
                begin(*pair)

    @rule(pair=pairs)
    def unblock(self, pair):
        blocks.unblock(*pair)
        self.blocked.discard(tuple(pair))

    @invariant()
    def edges_are_as_agreed(self):
        assert set(Follow.objects.values_list("author_id", "reader_id")) == self.edges
        assert not any(map(self._is_blocked, self.edges))
        requests = set(FriendRequest.objects.values_list("person_id", "friend_id"))
        assert requests == self.asked

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
        follows.renew_versions(Person.objects.all())

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

    def _change(self, edges):
        self.changing |= set(edges)
        self.edges ^= set(edges)
        yield
        through = newest_post_id()
        yield
        for edge in edges:
            self.store.change([edge.reader_id], through=through)
            yield
        self.changing -= set(edges)

    def _change_ended(self, edges):
        if edges:
            self._begin(self._change(edges))

    def _forget_requests(self, edges):
        self.asked -= {(edge.reader_id, edge.author_id) for edge in edges}

    def _is_changing(self, pair):
        return not self.changing.isdisjoint(permutations(pair))

    def _is_blocked(self, pair):
        return not self.blocked.isdisjoint(permutations(pair))

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
            edge = Edge(post.author_id, owner)
            is_due = post.author_id == owner or edge in self.edges
            if before and post.id >= before:
                continue
            if is_due or edge in self.changing:
                may.add(post.id)
            if is_due and edge not in self.changing and post.id in self.received:
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
def small(keep_few, monkeypatch):
    keep_few(CAPACITY, log_records=3)
    monkeypatch.setattr("feed.timeline.LOADED", LOADED)
    monkeypatch.setattr("feed.epochs.CLOSED_S", 0)


@pytest.mark.parametrize(
    ("alias", "edges", "active_days"),
    [
        *((alias, edges, 0) for alias in HEALING for edges in ("friends", "follows")),
        *((alias, "follows", 7) for alias in here(["setbased", "log"])),
    ],
)
def test_every_page_is_right_whatever_happens_in_between(
    alias, edges, active_days, small, settings, transactional_db
):
    settings.FEED_ACTIVE_DAYS = active_days
    store = timeline_stores[alias]
    run_state_machine_as_test(
        lambda: Feeds(store, lose, edges),
        settings=hypothesis_settings(
            max_examples=EXAMPLES,
            stateful_step_count=50,
            print_blob=False,
            suppress_health_check=list(HealthCheck),
        ),
    )
