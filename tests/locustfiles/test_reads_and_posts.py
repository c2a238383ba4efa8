"""The generator of reads and posts: what it takes for a page, and who reads how far."""

import json
from itertools import islice

import pytest

from locustfiles.connections import Answer
from locustfiles.open_load import FEED
from locustfiles.reads_and_posts import DEEP, Readers, pages_per_visit, who_comes, wrong_with


def answer(*ids, status=200, following=None):
    page = {"posts": [{"id": it} for it in ids], "next": following}
    return Answer(status, b"http/1.1", json.dumps(page).encode())


@pytest.mark.parametrize(
    ("page", "wrong"),
    [
        (answer(9, 7, 3), ""),
        (answer(), "page without posts"),
        (answer(7, 9), "page out of order"),
        (answer(9, 9), "page out of order"),
        (answer(status=503), "status 503 without Retry-After"),
    ],
)
def test_pages_are_checked(page, wrong):
    assert wrong_with(page) == wrong


def test_some_readers_go_on_to_the_fifth_page():
    visits = list(islice(Readers(["a", "b", "c"], "host", deep_share=0.25), 8))

    following = "http://host/v1/feed/?before=7"
    deep = [visit for visit in visits if visit.follow(answer(9, following=following))]
    assert len(deep) == 2
    pages = [deep[0]]
    while (page := pages[-1].follow(answer(9, following=following))) is not None:
        pages.append(page)
    assert [it.name for it in pages] == [FEED, DEEP, DEEP, DEEP, DEEP]
    assert pages[1].data.startswith(b"GET /v1/feed/?before=7 HTTP/1.1\r\n")
    assert pages_per_visit(0.25) == 2


def test_a_reader_at_the_end_opens_the_first_page_again():
    (visit,) = islice(Readers(["a"], "host", deep_share=0.99), 1, 2)

    assert visit.follow(answer(9, following=None)).name == FEED


def test_the_same_people_never_come():
    people = [str(number) for number in range(100)]

    assert len(who_comes(people, 0.3)) == 70
    assert who_comes(people, 0.3) == who_comes(people, 0.3)
    assert sorted(who_comes(people, 0.0)) == sorted(people)
