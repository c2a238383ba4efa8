"""Streams as the laboratory reads and compares them."""

import json

import pytest

from lab.__main__ import main
from lab.running.screens import Accepted
from lab.running.stream_reader import Reading
from lab.running.streams import Shown, compare_with
from lab.systems.api import Person

CIRCLES = {1: frozenset({1, 2})}
ACCEPTED = [Accepted(10, 2, 5.0), Accepted(11, 1, 6.0), Accepted(12, 3, 7.0), Accepted(9, 2, 1.0)]
BLOCK = b'id: %d.7.1\nevent: post\ndata: {"id":%d,"author":2,"body":"x"}\n\n'


def compared(*events):
    """Of a stream that was opened at time 2."""
    findings, times = compare_with(ACCEPTED, CIRCLES, [Shown(1, 2.0, 1, 1, list(events))])
    return +findings, times


def test_a_stream_that_shows_what_is_due_is_clean():
    findings, times = compared((10, 5.1), (11, 6.2))

    assert findings == {}
    assert sorted(times) == [(5.0, 5.1), (6.0, 6.2)]


@pytest.mark.parametrize(
    ("events", "found"),
    [
        ([(10, 5.1)], {"unseen": 1}),
        ([(10, 5.1), (11, 6.2), (10, 6.3)], {"seen_twice": 1}),
        ([(10, 5.1), (11, 6.2), (12, 7.1)], {"foreign": 1}),
    ],
)
def test_what_is_unseen_seen_twice_or_foreign_is_found(events, found):
    assert compared(*events)[0] == found


def test_events_are_found_wherever_the_answer_is_cut():
    text = b"HTTP/1.1 200 OK\r\n\r\n5\r\nid: 1.7.0\nevent: gap\ndata: {}\n\n\r\n" + BLOCK % (1, 41)
    text += b"\r\nff\r\n:\nid: 2.7.0\n\n\r\n" + BLOCK % (3, 42)
    for cut in range(1, len(text)):
        reading = Reading(Person(1, "t"), "x")
        for part in (text[:cut], text[cut:]):
            reading.data_received(part)

        assert [post_id for post_id, _ in reading.shown.events] == [41, 42]
        assert (reading.shown.gaps, reading.last_id) == (1, b"3.7.1")


def test_a_run_compares_every_stream_and_the_cost_of_polling(tmp_path):
    argv = ["run", "screens", "--out", str(tmp_path), "--shared"]
    argv += ["--variants", "sqlite-outbox-setbased@stream", "--loads", "polls,streams0,streams50"]
    argv += ["--people", "100", "--friends", "20", "--users", "20", "--run-time", "3s"]
    main(argv)  # so few posts may break a law of rates

    (path,) = tmp_path.glob("*streams50-1/result.json")
    result = json.loads(path.read_text())
    assert result["audit"]["ok"]
    assert {"unseen", "seen_twice", "foreign"} <= result["audit"].keys()
    assert result["extra"]["events_per_s"] > 0
    assert "a page that is polled costs" in (tmp_path / "report.md").read_text()
