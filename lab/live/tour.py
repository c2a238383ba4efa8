"""The tour: runs the published story on the stage, step by step, each with a question before it."""

import time
from collections.abc import Sequence
from typing import NamedTuple

from lab.before import check_servers
from lab.live.figures import Sample
from lab.live.side import RUNNING, STARTING, STOPPED, Side, Stage, variant_named
from launch.processes import RunFailed

PREDICT, STOP, START, RUN, DONE, FAILED = "predict", "stop", "start", "run", "done", "failed"


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
    """From the start of the load to the conclusion."""
    fault: str = ""
    """What happens to the right side a third into it (``lab.faults``)."""


class Story(NamedTuple):
    title: str
    steps: Sequence[Step]


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
PUBLISHED = Story("the published story in six steps, five minutes", STEPS)
STEPS_ON_SQLITE = (
    STEPS[0],
    STEPS[2]._replace(
        story="Left, 501 INSERTs per post, one after the other. Right, the same rows by one "
        "INSERT … SELECT. Both do it in the request.",
        why="The database is not slow: left, it gets 501 statements per post, and one writer at a "
        "time may write. This service refuses early what it can't do in time.",
        variants=("sqlite-inline-rowwise", "sqlite-inline-setbased"),
        posts_per_s=80,
    ),
    Step(
        "Later is not less",
        "Left, deliveries are made in the request. Right, the request writes the post alone, and a "
        "drainer delivers many posts at a time.",
        "On which side do friends have a post sooner after it was accepted?",
        ("Left", "Right", "At the same time on both"),
        0,
        "Left they have it when it is accepted: there is no lag. Right the answer comes sooner and "
        "the post some tens of milliseconds later, for less work per post (see the cores).",
        ("sqlite-inline-setbased", "sqlite-outbox-setbased"),
        80,
    ),
    STEPS[5]._replace(variants=("sqlite-outbox-setbased", "sqlite-outbox-setbased")),
)
ON_SQLITE = Story(
    "four steps on SQLite, as MySQL or Redis isn't installed; three minutes", STEPS_ON_SQLITE
)


def story_here(servers: str) -> Story:
    """Return the published story, or the one on SQLite if its servers can't be started here."""
    try:
        check_servers([variant_named(name) for step in STEPS for name in step.variants], servers)
    except RunFailed:
        return ON_SQLITE
    return PUBLISHED


class Tour:
    """One for all tabs; ``tick`` advances it, about once per second."""

    def __init__(self, stage: Stage, story: Story = PUBLISHED) -> None:
        self.stage, self.title, self.steps = stage, story.title, story.steps
        self.number, self.phase = 0, PREDICT
        self.prediction: int | None = None
        self.outcome: list[Sample | None] = []
        """The last figures of both sides, for the conclusion."""
        self._began_at = 0.0
        self._broken = False

    @property
    def step(self) -> Step:
        return self.steps[self.number]

    @property
    def left_s(self) -> float:
        """Seconds to the conclusion."""
        return max(0.0, self._began_at + self.step.seconds - time.monotonic())

    def go_to(self, number: int) -> None:
        """Begin a step with its question."""
        self.number, self.phase, self.prediction = number % len(self.steps), PREDICT, None

    def run(self, prediction: int) -> None:
        """Take the prediction and run the step; what ran before is stopped."""
        self.prediction, self.phase = prediction, STOP
        for side in self.stage.sides:
            side.stop()

    def tick(self) -> None:
        sides = self.stage.sides
        if self.phase == STOP and all(side.state == STOPPED for side in sides):
            self._start()
        elif self.phase == START and not any(side.state == STARTING for side in sides):
            self._begin()
        elif self.phase == RUN:
            self._go_on()

    def _start(self) -> None:
        self.stage.turn(posts_per_s=self.step.posts_per_s, reads_per_post=self.step.reads_per_post)
        for side, variant in zip(self.stage.sides, self.step.variants, strict=True):
            side.start(variant)
        self.phase = START

    def _begin(self) -> None:
        runs = all(side.state == RUNNING for side in self.stage.sides)
        self.phase, self._began_at, self._broken = RUN if runs else FAILED, time.monotonic(), False

    def _go_on(self) -> None:
        right = self.stage.sides[-1]
        if right.fault_failed or any(side.state != RUNNING for side in self.stage.sides):
            self.phase = FAILED
        elif self.step.fault and not self._broken:
            if self.left_s < self.step.seconds * 2 / 3:
                self._broken = True
                self._break(right)
        elif self.left_s == 0 and not right.fault:
            self.outcome = [side.history.latest for side in self.stage.sides]
            self.phase = DONE

    def _break(self, side: Side) -> None:
        try:
            side.inject(self.step.fault)
        except ValueError as error:
            side.message, self.phase = str(error), FAILED
