"""The tour of the live page, on sides that start nothing."""

import pytest

from lab.faults.catalogue import FAULTS
from lab.live.side import (
    FAULT_BUTTONS,
    FIRST,
    RUNNING,
    STOPPED,
    Side,
    Stage,
    variant_named,
    variant_names,
)
from lab.live.tour import (
    DONE,
    FAILED,
    ON_SQLITE,
    PREDICT,
    RUN,
    START,
    STEPS,
    STOP,
    Tour,
    story_here,
)
from launch.service import Seed


class Idle(Side):
    """A side that only says that it runs, and which fault it was to have."""

    injected = ()

    def start(self, name):
        self.variant, self.state = variant_named(name), RUNNING

    def stop(self):
        self.state = STOPPED

    def inject(self, fault):
        self.injected += (fault,)


@pytest.fixture
def guided():
    stage = Stage(Seed(), "auto")
    stage.sides = [Idle(side.name, side.seed, side.servers) for side in stage.sides]
    return Tour(stage)


@pytest.mark.parametrize("step", [*STEPS, *ON_SQLITE.steps], ids=lambda step: step.title)
def test_a_step_can_be_run(step):
    variants = [variant_named(name) for name in step.variants]

    assert 0 <= step.right < len(step.answers)
    assert not step.fault or (step.fault in FAULT_BUTTONS and FAULTS[step.fault].suits(variants[1]))


def test_without_servers_the_tour_is_on_sqlite(monkeypatch):
    assert story_here("auto").steps is STEPS
    for name in ("DATABASE_URL", "REDIS_URL", "BROKER_URL"):
        monkeypatch.delenv(name, raising=False)

    assert story_here("external") is ON_SQLITE
    assert {name.partition("-")[0] for step in ON_SQLITE.steps for name in step.variants} <= {
        "sqlite",
        "sqlite_per_server",
    }


def test_a_step_is_predicted_run_and_then_told(guided):
    assert guided.phase == PREDICT

    guided.run(1)
    assert guided.phase == STOP
    guided.tick()
    assert guided.phase == START
    assert [side.variant.name for side in guided.stage.sides] == list(STEPS[0].variants)
    assert guided.stage.rates.posts_per_s == STEPS[0].posts_per_s
    guided.tick()
    guided.tick()
    assert guided.phase == RUN
    for side in guided.stage.sides:
        side.history.samples.append(f"the end of {side.name}")
    guided._began_at -= STEPS[0].seconds
    guided.tick()
    for side in guided.stage.sides:
        side.history.samples.append("later")
    assert guided.phase == DONE
    assert guided.prediction == 1
    assert guided.outcome == ["the end of Left", "the end of Right"]


@pytest.fixture
def breaking(guided):
    """The last step, where its fault has been let happen."""
    guided.go_to(len(STEPS) - 1)
    guided.run(0)
    for _ in range(3):
        guided.tick()
    assert [side.injected for side in guided.stage.sides] == [(), ()]
    guided._began_at -= STEPS[-1].seconds / 2
    guided.tick()
    return guided


def test_the_last_step_breaks_the_right_side_once(breaking):
    breaking.tick()

    assert [side.injected for side in breaking.stage.sides] == [(), ("drainer-killed",)]


def test_a_step_waits_for_its_fault(breaking):
    right = breaking.stage.sides[-1]
    right.fault = "drainer-killed"
    breaking._began_at -= STEPS[-1].seconds
    breaking.tick()
    assert breaking.phase == RUN

    right.fault = None
    breaking.tick()

    assert breaking.phase == DONE


def test_a_fault_that_did_not_come_to_its_end_ends_the_step(breaking):
    breaking.stage.sides[-1].fault_failed = True
    breaking._began_at -= STEPS[-1].seconds
    breaking.tick()

    assert breaking.phase == FAILED


def test_a_side_that_does_not_run_ends_the_step(guided):
    guided.run(0)
    guided.tick()
    guided.stage.sides[0].stop()
    guided.tick()

    assert guided.phase == FAILED


def test_a_side_is_started_once(guided):
    side = Side("Left", Seed(), "auto")
    side.state = RUNNING

    with pytest.raises(ValueError, match="Left is running: stop it first"):
        side.start(FIRST[0])


def test_a_variant_with_an_api_of_its_own_is_refused():
    with pytest.raises(ValueError, match="has an API of its own"):
        variant_named("stream_framework")


def test_every_offered_variant_is_known():
    assert len(variant_names()) > 50
    assert {variant_named(name).name for name in variant_names()} == set(variant_names())
