"""The tour: runs the published story on the stage, step by step."""

import time

from lab.live import harm
from lab.live.figures import Sample
from lab.live.side import RUNNING, STARTING, STOPPED, Side
from lab.live.stage import Stage
from lab.live.steps import STEPS, Step

PREDICT, STOP, START, RUN, TOLD, FAILED = "predict", "stop", "start", "run", "told", "failed"


class Tour:
    """One for all tabs; ``tick`` brings it on, about once per second."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.number, self.phase = 0, PREDICT
        self.prediction: int | None = None
        self.outcome: list[Sample | None] = []
        """The last figures of both sides, once it is told what happened."""
        self._began_at = 0.0
        self._broken = False

    @property
    def step(self) -> Step:
        return STEPS[self.number]

    @property
    def left_s(self) -> float:
        """Seconds until it is told what happened."""
        return max(0.0, self._began_at + self.step.seconds - time.monotonic())

    def go_to(self, number: int) -> None:
        """Begin a step with its question."""
        self.number, self.phase, self.prediction = number % len(STEPS), PREDICT, None

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
            self.phase = TOLD

    def _break(self, side: Side) -> None:
        try:
            harm.inject(self.step.fault, side)
        except ValueError as error:
            side.said, self.phase = str(error), FAILED
