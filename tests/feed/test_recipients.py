import numpy as np
import pytest

from feed.models import Post
from feed.recipients import _Joined, recipients_of


def recipients(*author_ids):
    posts = [Post(id=n, author_id=author_id) for n, author_id in enumerate(author_ids)]
    return [sorted(owners.tolist()) for owners in recipients_of(posts)]


def test_each_post_goes_to_its_author_and_her_friends(friends):
    assert recipients(1, 4, 1) == [[1, 2, 3], [4], [1, 2, 3]]


def test_ids_are_64_bit_integers(friends):
    assert {owners.dtype for owners in recipients_of([Post(author_id=n) for n in (1, 4)])} == {
        np.dtype(np.int64)
    }


def test_a_whole_batch_is_one_query(friends, django_assert_num_queries):
    with django_assert_num_queries(1):
        recipients(1, 2, 3, 4)


def test_nobody_gets_an_empty_batch(db):
    assert recipients() == []


@pytest.mark.parametrize("length", [1, 2])
def test_what_the_database_cuts_short_is_read_again(length, friends, monkeypatch):
    """MySQL's group_concat_max_len: of "2,3" is left "2" or "2,"."""
    cut = f"SUBSTR(%(function)s(%(expressions)s), 1, {length})"
    monkeypatch.setattr(_Joined, "template", cut)

    assert recipients(1, 4, 2) == [[1, 2, 3], [4], [1, 2, 3]]
