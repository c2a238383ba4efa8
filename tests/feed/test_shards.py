from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.ids import MAX_ID
from feed.timeline_stores.packing import unpack
from feed.timeline_stores.shards import (
    by_owner,
    by_shard,
    records_by_shard,
    shards_of_records,
)

SHARDS = 64
POST_IDS = st.integers(1, 2**47 - 2)
# Dense ids are marked, sparse ids are sorted, and the highest fit into no packed key.
HIGHEST_OWNERS = [100, 1_000_000, MAX_ID]


def batches(highest_owner):
    owners = st.lists(st.integers(1, highest_owner), min_size=1, max_size=40, unique=True)
    return st.dictionaries(POST_IDS, owners, min_size=1, max_size=8)


def grouped(batch):
    """Group without numpy: the ascending post ids of each owner."""
    found = defaultdict(list)
    for post_id, owners in sorted(batch.items()):
        for owner in owners:
            found[owner].append(post_id)
    return dict(found)


def arrays(batch):
    return [(post_id, np.array(owners, np.int64)) for post_id, owners in batch.items()]


def owners_of(shards):
    """Return the post ids of each owner, and check what belongs to their shard."""
    found = {}
    for shard in shards:
        ends = np.cumsum(shard.lengths)
        for owner, end, length in zip(shard.owners, ends, shard.lengths, strict=True):
            assert owner % SHARDS == shard.number
            found[owner] = unpack(shard.posts[end - length : end]).tolist()
        ids = unpack(shard.posts)
        assert [shard.oldest, shard.newest] == [ids.min(), ids.max()]
    return found


@pytest.mark.parametrize("highest_owner", HIGHEST_OWNERS)
@given(data=st.data())
def test_an_owner_gets_the_ids_of_their_posts_ascending(highest_owner, data):
    batch = data.draw(batches(highest_owner))

    found = {owner: unpack(ids).tolist() for owner, ids in by_owner(arrays(batch)).items()}

    assert found == grouped(batch)
    assert list(found) == sorted(found)


@pytest.mark.parametrize("highest_owner", HIGHEST_OWNERS)
@given(data=st.data())
def test_a_shard_has_its_owners_their_ids_and_the_span_of_ids(highest_owner, data):
    batch = data.draw(batches(highest_owner))

    shards = by_shard(arrays(batch), SHARDS)

    found = owners_of(shards)
    assert found == grouped(batch)
    assert [shard.number for shard in shards] == sorted({owner % SHARDS for owner in found})


@pytest.mark.parametrize("highest_owner", [100, 1_000_000, 2**47 - 2])
@given(data=st.data())
def test_records_are_grouped_again_whatever_their_order(highest_owner, data):
    drawn = [data.draw(batches(highest_owner)) for _ in range(data.draw(st.integers(1, 3)))]
    records = defaultdict(bytes)
    for batch in drawn:
        for number, packed in records_by_shard(arrays(batch), SHARDS).items():
            records[number] += packed

    shards = shards_of_records(b"".join(records.values()), SHARDS)

    found = defaultdict(set)
    for batch in drawn:
        for owner, post_ids in grouped(batch).items():
            found[owner] |= set(post_ids)
    assert owners_of(shards) == {owner: sorted(post_ids) for owner, post_ids in found.items()}
    assert sorted(shard.number for shard in shards) == sorted(records)


@pytest.mark.parametrize(("owner", "post_id"), [(2**47 - 1, 1), (1, 2**47 - 1)])
def test_an_id_that_no_record_can_hold_is_refused(owner, post_id):
    with pytest.raises(OverflowError):
        records_by_shard(arrays({post_id: [owner]}), SHARDS)
