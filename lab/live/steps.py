"""The steps of the tour: the published story, each with a question before its run."""

from collections.abc import Sequence
from typing import NamedTuple


class Step(NamedTuple):
    title: str
    story: str
    question: str
    answers: Sequence[str]
    right: int
    """Which answer is right, counted from 0."""
    why: str
    variants: tuple[str, str]
    """Left and right."""
    posts_per_s: float
    reads_per_post: float = 2
    seconds: float = 20
    """From the start of the load until it is told."""
    fault: str = ""
    """What happens to the right side a third into it (``lab.faults``)."""


STEPS = (
    Step(
        "A file for each server",
        "Left, two app servers have a SQLite file each, as first published. Right, they share one. "
        "No request fails on either side.",
        "How many friends will have a post, left?",
        ("All of them", "About half of them", "None of them"),
        1,
        "A reader who is sent to the other server reads the other file. All requests succeed, so "
        "no rate and no error shows it; only looking for the posts does. Right, all arrive.",
        ("sqlite_per_server-inline-bulk", "sqlite-inline-bulk"),
        5,
    ),
    Step(
        "MySQL as it comes",
        "Left, MySQL with its defaults lets 151 clients in, and the app servers want more. Right, "
        "three options are changed. Both write 501 rows per post, one after the other.",
        "What will happen to most posts, left?",
        ("They are refused", "They are accepted, but late", "They are accepted at once"),
        0,
        "Who gets no connection is refused, and a refusal is fast. The published load test "
        "answered 105 requests/s then, of which 16 were posts: a rate without its success "
        "share says nothing.",
        ("mysql_default-inline-rowwise", "mysql_tuned-inline-rowwise"),
        50,
    ),
    Step(
        "Nothing fails, everything waits",
        "Connections suffice now. Left, 501 INSERTs per post, one after the other. Right, the "
        "same rows by one INSERT … SELECT. Both do it in the request.",
        "What will happen to the posts?",
        (
            "The same on both sides: the rows are the same",
            "Left most wait, and then time out or are refused; right they don't",
            "On both sides they are answered at once",
        ),
        1,
        "The database is not slow: left, it gets 501 statements per post. Published were 41 s "
        "per answer, and 11 posts/s. This service refuses early what it can't do in time.",
        ("mysql_tuned-inline-rowwise", "mysql_tuned-inline-setbased"),
        30,
    ),
    Step(
        "Celery into Redis",
        "The request only enqueues a task. Left, as published, the task sends a command to Redis "
        "for each friend and waits for its answer. Right, it sends them all together.",
        "What will happen to the lag, left?",
        (
            "It stays below a second: answers are fast",
            "It settles at a few seconds",
            "It grows for as long as the load lasts",
        ),
        2,
        "Answers are fast, since the work waits in a queue that grows. Published were 308 posts/s "
        "and no lag: nobody had asked when the posts arrived.",
        ("mysql_tuned-task-roundtrip", "mysql_tuned-task-pipeline"),
        30,
    ),
    Step(
        "A drainer instead of a broker",
        "A post without a receipt is the work that is left. A drainer takes many posts at a time. "
        "Left it writes rows, right it appends to lists in Redis.",
        "More posts, and no broker: what will happen to the lag?",
        ("It grows without end", "It stays below a second or two", "It grows only left"),
        1,
        "15 posts to 500 friends each touch 1,000 timelines once, not 7,500 times. Both stores "
        "keep up; Redis needs less of the machine (see the cores).",
        ("mysql_tuned-outbox-setbased", "mysql_tuned-outbox-ring"),
        80,
    ),
    Step(
        "Something breaks",
        "The same as before. After some seconds the drainer on the right is killed in the middle "
        "of its work, and another one starts.",
        "What will become of the posts that it had in hand?",
        (
            "They are lost",
            "They wait, and then they all arrive",
            "They arrive, some of them twice",
        ),
        1,
        "The receipt is set when the store has confirmed, so what a dead drainer had is still in "
        "the backlog. The backlog grows, the next drainer delivers it, and delivering twice "
        "changes nothing.",
        ("mysql_tuned-outbox-setbased", "mysql_tuned-outbox-ring"),
        80,
        seconds=30,
        fault="drainer-killed",
    ),
)
