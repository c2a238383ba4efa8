"""Timelines as readers see them: pages from store, database and the posts of celebrities."""

from collections.abc import Sequence
from typing import NamedTuple

from redis.exceptions import RedisError

from accounts.ids import MAX_ID
from feed import celebrities, epochs, readers
from feed.due import due_ids, newest_post_id
from feed.signals import timeline_loaded
from feed.timeline_stores.base import Command, Held, TimelineStore

LOADED = 100
"""Ids that a reader loads into a timeline whose first page had to ask the database."""


class IdPage(NamedTuple):
    ids: list[int]
    """Post ids, newest first."""
    reply: bytes | None = None
    """As ``Held.reply``."""


def read_page(
    store: TimelineStore,
    owner_id: int,
    *,
    before: int | None = None,
    limit: int = 20,
    along: Command | None = None,
) -> IdPage:
    """Return up to ``limit`` post ids below ``before`` of a timeline.

    Fewer than ``limit`` means that the timeline ends there. What the store doesn't hold comes
    from the database. ``along``: as of ``TimelineStore.read``.
    """
    try:
        if epochs.is_usable(store) and readers.note_read(store, owner_id):
            return _read_from_store(store, owner_id, before, limit, along)
    except RedisError:  # the next calls are refused at once (runtime.away)
        pass
    return IdPage(due_ids(owner_id, before=before, limit=limit))


def rebuild(store: TimelineStore, owner_ids: Sequence[int]) -> None:
    """Compute these timelines from the database, as far back as the store keeps them."""
    if not store.takes_loads:
        for owner_id in owner_ids:
            store.rebuild(owner_id)
        return
    pending = store.create(owner_ids) if owner_ids else {}
    through = newest_post_id()
    if pending:
        store.activate(pending, through=through)
    for owner_id in owner_ids if through else ():  # without posts they are whole
        most = store.capacity or LOADED
        held = store.read(owner_id, limit=most)
        _load(store, owner_id, held, max(1, most - len(held.ids)))


def _read_from_store(
    store: TimelineStore, owner_id: int, before: int | None, limit: int, along: Command | None
) -> IdPage:
    authors = celebrities.merged()
    held = store.read(owner_id, before=before, limit=limit, along=along)
    ids = held.ids
    if held.floor != 0 and len(ids) < limit:
        ids = [*ids, *_ask_database(store, owner_id, held, before, limit)][:limit]
    ids = celebrities.merge(owner_id, ids, authors, before=before, limit=limit)
    return IdPage(ids, held.reply)


def _ask_database(
    store: TimelineStore, owner_id: int, held: Held, before: int | None, limit: int
) -> list[int]:
    """Return the ids up to the floor that continue a page; load what continues a first page.

    Nothing above the floor: what is not delivered yet may not be on the next page either.
    """
    if before is None and store.takes_loads:
        due = _load(store, owner_id, held, max(limit, LOADED))
        timeline_loaded.send(type(store), store=store.alias)
        return due
    end = MAX_ID if held.floor is None else held.floor + 1
    end = end if before is None else min(before, end)
    return due_ids(owner_id, before=end, limit=limit - len(held.ids))


def _load(store: TimelineStore, owner_id: int, held: Held, count: int) -> list[int]:
    """Load a timeline with the newest ``count`` due ids up to its floor; return them.

    The order matters: first the version, then the newest post, then what is due.
    """
    version, through = held.version, held.floor
    if through is None:
        version = store.create([owner_id]).get(owner_id)
        through = newest_post_id()
    due = due_ids(owner_id, before=through + 1, limit=count)
    if version is not None:
        floor = 0 if len(due) < count else due[-1] - 1
        store.load(owner_id, version, through=through, floor=floor, ids=due[::-1])
    return due
