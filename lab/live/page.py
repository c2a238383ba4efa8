"""The page and its elements, and the program that serves it until its last tab is closed."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from nicegui import app, ui
from nicegui.client import Client
from nicegui.events import GenericEventArguments
from starlette.middleware.trustedhost import TrustedHostMiddleware

from lab.live import curves, shown
from lab.live.side import (
    FAULT_BUTTONS,
    FIRST,
    RUNNING,
    STARTING,
    STOPPED,
    Side,
    Stage,
    variant_names,
)
from lab.live.tour import DONE, FAILED, PREDICT, RUN, START, STOP, Tour, story_here
from launch.ports import claimed
from launch.service import Seed

REFRESH_EVERY_S = 1.0
GRACE_S = 5.0
"""A tab that is closed for less is one that is loaded again."""
PATIENCE_S = 60.0
"""A tab that is silent for less is one on a busy machine (NiceGUI pings by this)."""
TITLE = "Fan-out, live"
INTRODUCTION = (
    f"A person posts, and their friends should find it in their feeds. Left and right a variant "
    f"of the service each, under the same load. All of it shares {os.cpu_count()} cores: look at "
    "shapes here, and measure with <code>python -m lab run</code>."
)
SLIDERS = (
    ("posts_per_s", "Posts per second", 1000, 5),
    ("reads_per_post", "Reads per post", 50, 1),
)
MESSAGES = {
    STOP: "Waiting until what ran before has stopped.",
    START: "Waiting until both sides run: servers, then people. That takes some seconds.",
    FAILED: "A side or its fault did not run to its end; below it says why. Other steps may still.",
}
"""By phase of the tour."""
CHOICE_OF_SIDE = "".join(
    f"<label><input type=radio name=side value={name} {checked}> {name}</label>"
    for name, checked in (("Left", "checked"), ("Right", ""))
)
"""On a phone, which shows one side at a time (page.css)."""
VALUE = "(event) => emit(event.target.value)"
CSS = Path(__file__).with_name("page.css")


def serve(seed: Seed, servers: str, port: int) -> None:
    """Serve the page until it is closed. Raises PortTaken, and ValueError for a wrong seed."""
    if seed.friends < 2:
        raise ValueError(f"--friends {seed.friends} must be at least 2")
    stage = Stage(seed, servers)
    tour = Tour(stage, story_here(servers))
    variant_names()  # asks a process; the event loop must not wait for it
    with claimed(port):
        print(f"The live page: http://127.0.0.1:{port}/", flush=True)
        print("Ctrl-C ends it, and so does closing its last tab.", flush=True)
        try:
            _run(tour, port)
        finally:
            stage.end()


def _run(tour: Tour, port: int) -> None:
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])
    app.timer(REFRESH_EVERY_S, end_without_tabs())
    app.timer(REFRESH_EVERY_S, tour.tick)
    ui.run(
        lambda: show(tour),
        host="127.0.0.1",
        port=port,
        title=TITLE,
        dark=None,
        language="en-US",
        show=False,
        reload=False,
        show_welcome_message=False,
        binding_refresh_interval=None,
        tailwind=False,
        reconnect_timeout=PATIENCE_S,
        timeout_graceful_shutdown=2,
    )


def end_without_tabs() -> Callable[[], None]:
    """Return a function that ends the program when no tab has been open for GRACE_S."""
    seen_at = float("inf")

    def look() -> None:
        nonlocal seen_at
        if any(client.has_socket_connection for client in Client.instances.values()):
            seen_at = time.monotonic()
        elif time.monotonic() > seen_at + GRACE_S:
            app.shutdown()

    return look


def show(tour: Tour) -> None:
    """Build the page of one tab."""
    stage = tour.stage
    ui.add_css(CSS)
    with ui.element("div").classes("page"):
        ui.html(f"<h1>{TITLE}</h1><p>{INTRODUCTION}</p>", sanitize=False)
        load = ui.element("section").classes("load").props('aria-label="Load of both sides"')
        with load:
            sliders = [Slider(stage, *arguments) for arguments in SLIDERS]
        guide = Guide(tour)
        both = ui.button("Start both", color=None).classes("both")
        ui.html(CHOICE_OF_SIDE, sanitize=False).classes("choice-of-side")
        with ui.element("div").classes("sides"):
            panels = [
                Panel(stage, side, name) for side, name in zip(stage.sides, FIRST, strict=True)
            ]

    elements: list[Guide | Slider | Panel] = [guide, *sliders, *panels]

    def refresh() -> None:
        is_idle = all(side.state == STOPPED for side in stage.sides)
        both.set_visibility(is_idle)
        load.set_visibility(not is_idle)
        for element in elements:
            element.refresh()

    def start_both() -> None:
        for panel in panels:
            panel.begin()
        refresh()

    both.on_click(start_both)
    refresh()

    ui.timer(REFRESH_EVERY_S, refresh)


class Slider:
    """A rate that both sides share: the browser's own slider, which a keyboard moves too."""

    def __init__(self, stage: Stage, name: str, text: str, most: int, step: int) -> None:
        self._stage, self._name, self._text = stage, name, text
        self._shown: float | None = None
        """What the slider of this tab shows."""
        with ui.element("label").classes("slider"):
            self._label = ui.html(tag="span", sanitize=False)
            self._range = ui.element("input")
        self._range.props(f"type=range min=0 max={most} step={step}")
        self._range.on("input", self._turn, js_handler=VALUE, throttle=0.1)
        self.refresh()

    def refresh(self) -> None:
        """Show what another tab, or the tour, has chosen."""
        value = getattr(self._stage.rates, self._name)
        if value != self._shown:  # not while it is being dragged here
            self._shown = value
            ui.run_javascript(f"getHtmlElement({self._range.id}).value = {value:g}")
        self._label.set_content(f"{self._text}: {value:g}")

    def _turn(self, event: GenericEventArguments) -> None:
        self._shown = float(event.args)
        self._stage.turn(**{self._name: self._shown})
        self.refresh()


class Guide:
    """The tour in one tab: question, prediction, conclusion."""

    def __init__(self, tour: Tour) -> None:
        self.tour = tour
        self._shown: tuple[int, str] | None = None
        with ui.element("details").classes("tour"):
            with ui.element("summary"):
                ui.label(f"Tour: {tour.title}")
            self.heading = ui.html(sanitize=False)
            self.question = ui.html(sanitize=False)
            self.answers = ui.radio({}).props('aria-label="Your prediction"')
            self.answers.on_value_change(self.refresh)
            with ui.element("div").classes("choice"):
                self.go = ui.button("Run it", on_click=self._run, color=None)
                self.next = ui.button("Next step", on_click=self._next, color=None).props("outline")
            self.message = ui.label().props("role=status")
            self.progress = ui.linear_progress(show_value=False).props("aria-label=Progress")
            self.conclusion = ui.html(sanitize=False)
        self.refresh()

    def refresh(self) -> None:
        tour = self.tour
        if self._shown != (tour.number, tour.phase):
            self._shown = tour.number, tour.phase
            self._show_step()
        self.go.set_enabled(tour.phase in (PREDICT, FAILED))
        self.progress.set_visibility(tour.phase in (STOP, START, RUN))
        self.progress.props["indeterminate"] = tour.phase != RUN
        if tour.phase == RUN:
            self.progress.set_value(1 - tour.left_s / tour.step.seconds)
            self.message.set_text(
                f"Watch both sides for {tour.left_s:.0f} s more. {tour.step.question}"
            )

    def _show_step(self) -> None:
        tour, step = self.tour, self.tour.step
        self.heading.set_content(
            f"<h2>Step {tour.number + 1} of {len(tour.steps)}: {step.title}</h2>"
        )
        runs = " and ".join(f"<code>{name}</code>" for name in step.variants)
        self.question.set_content(
            f"<p>{step.story} Runs {runs} at {step.posts_per_s:g} posts/s.</p>"
            f"<p><b>Before it runs: {step.question}</b></p>"
        )
        self.answers.set_options(dict(enumerate(step.answers)), value=tour.prediction)
        self.answers.set_enabled(tour.phase in (PREDICT, FAILED))
        self.message.set_text(MESSAGES.get(tour.phase, ""))
        self.conclusion.set_content(self._conclusion() if tour.phase == DONE else "")

    def _conclusion(self) -> str:
        tour, step = self.tour, self.tour.step
        verdict = "You were right" if tour.prediction == step.right else "You predicted otherwise"
        here = "".join(
            f"<li>{side.name}: {shown.summary(sample)}</li>"
            for side, sample in zip(tour.stage.sides, tour.outcome, strict=True)
        )
        return (
            f"<p><b>{verdict}: {step.answers[step.right]}.</b> {step.why}</p>"
            f"<p>In this run, at its end:</p><ul>{here}</ul>"
        )

    def _run(self) -> None:
        if self.answers.value is None:
            self.message.set_text("Choose an answer first.")
            return
        self.tour.run(self.answers.value)
        self.refresh()

    def _next(self) -> None:
        self.tour.go_to(self.tour.number + 1)
        self.refresh()


class Panel:
    """One side of the page in one tab; ``refresh`` brings it up to date."""

    def __init__(self, stage: Stage, side: Side, chosen: str) -> None:
        self.stage, self.side = stage, side
        with ui.element("section").classes("side").props(f"aria-label={side.name}"):
            ui.element("h2").props("innerHTML=" + side.name)
            with ui.element("div").classes("choice"):
                self.variant = ui.select(
                    variant_names(),
                    label=f"{side.name} variant",
                    with_input=True,
                    new_value_mode="add-unique",
                )
                self.variant.set_value(side.variant.name if side.variant else chosen)
                self.start = ui.button("Start", on_click=self.begin, color=None)
                self.stop = ui.button("Stop", on_click=side.stop, color=None).props("outline")
            self.message = ui.label().classes("said").props("role=status")
            self.progress = ui.linear_progress(show_value=False).props("indeterminate")
            self.progress.props(f'aria-label="{side.name} starts"')
            self.details = ui.element("div")
            with self.details:
                self._add_details()
        self.refresh()

    def _add_details(self) -> None:
        self.figures = ui.html(sanitize=False)
        with ui.element("div").classes("beside"):
            self.friends = ui.html(sanitize=False)
            with ui.element("div").classes("faults"):
                ui.html("<h3>Let it break</h3>", sanitize=False).classes("heading")
                self.unharmed = ui.label("This variant has no part that can be broken here.")
                self.faults = {name: self._fault_button(name) for name in FAULT_BUTTONS}
        self.audit = ui.html(sanitize=False)
        self.curves = ui.echart(curves.options(), renderer="svg").classes("curves")
        self.curves.style(f"height: {curves.HEIGHT}px")
        self.curves.props(f'role=img aria-label="Curves of {self.side.name}"')
        ui.html("<h3>Busy cores</h3>", sanitize=False)
        self.cores = ui.html(sanitize=False)

    def _fault_button(self, name: str) -> ui.button:
        button = ui.button(FAULT_BUTTONS[name], color=None).props("outline")
        return button.on_click(lambda: self._do(lambda: self.side.inject(name)))

    def refresh(self) -> None:
        side, sample = self.side, self.side.history.latest
        self.start.set_enabled(side.state == STOPPED)
        self.stop.set_enabled(side.state != STOPPED)
        self.variant.set_enabled(side.state == STOPPED)
        if side.variant and side.state != STOPPED:
            self.variant.set_value(side.variant.name)
        is_after_fault = side.state == RUNNING and side.history.faults_at and not side.fault
        self.message.set_text(side.message + (shown.now(sample) if is_after_fault else ""))
        self.progress.set_visibility(side.state == STARTING)
        self.details.set_visibility(side.state == RUNNING or sample is not None)
        self.figures.set_content(shown.figures(sample))
        self.friends.set_content(shown.friends(sample))
        self.audit.set_content(shown.audit(sample))
        self.cores.set_content(shown.cores(side.history.cores if side.state == RUNNING else {}))
        if any(side.state == RUNNING for side in self.stage.sides):
            tops = curves.tops(side.history for side in self.stage.sides)
            for axis, top in zip(self.curves.options["yAxis"], tops, strict=True):
                axis["max"] = top
            self.curves.options["series"] = curves.data(side.history)
            self.curves.update()
        for name, button in self.faults.items():
            button.set_enabled(side.why_not(name) is None)
            button.set_visibility(side.has_part_for(name))
        self.unharmed.set_visibility(not any(button.visible for button in self.faults.values()))

    def begin(self) -> None:
        """Start the variant that is chosen."""
        self._do(lambda: self.side.start(str(self.variant.value or "")))

    def _do(self, action: Callable[[], None]) -> None:
        """Do what a button says; if that can't be, show why."""
        try:
            action()
        except ValueError as error:
            self.side.message = str(error)
        self.refresh()
