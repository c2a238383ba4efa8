"""The page, and the program that serves it on this machine until its last tab is closed."""

import argparse
import os
import time
from pathlib import Path

from nicegui import app, ui
from nicegui.client import Client
from nicegui.events import GenericEventArguments
from starlette.middleware.trustedhost import TrustedHostMiddleware

from lab.live.guide import Guide
from lab.live.panel import Panel
from lab.live.stage import FIRST, Stage, variant_names
from lab.live.tour import Tour
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
VALUE = "(event) => emit(event.target.value)"
CSS = Path(__file__).with_name("page.css")


def serve(options: argparse.Namespace) -> None:
    """Serve the page until it is closed. Raises PortTaken, and ValueError for a wrong seed."""
    asked = {name: getattr(options, name) for name in ("people", "friends")}
    seed = Seed()._replace(**{name: it for name, it in asked.items() if it is not None})
    if not 2 <= seed.friends < seed.people:
        raise ValueError(f"--friends {seed.friends} must be at least 2 and below --people")
    stage = Stage(seed, options.servers)
    tour = Tour(stage)
    variant_names()  # asks a process; the event loop must not wait for it
    with claimed(options.port):
        print(f"The live page: http://127.0.0.1:{options.port}/", flush=True)
        print("Ctrl-C ends it, and so does closing its last tab.", flush=True)
        try:
            _run(tour, options.port)
        finally:
            stage.end()


def _run(tour: Tour, port: int) -> None:
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])
    app.timer(REFRESH_EVERY_S, Tabs().end_without)
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


class Tabs:
    """Ends the program when no tab has been open for GRACE_S."""

    def __init__(self) -> None:
        self._seen_at: float | None = None

    def end_without(self) -> None:
        now = time.monotonic()
        if any(client.has_socket_connection for client in Client.instances.values()):
            self._seen_at = now
        elif self._seen_at is not None and now > self._seen_at + GRACE_S:
            app.shutdown()


def show(tour: Tour) -> None:
    """Build the page of one tab."""
    stage = tour.stage
    ui.add_css(CSS)
    with ui.element("div").classes("page"):
        ui.html(f"<h1>{TITLE}</h1><p>{INTRODUCTION}</p>", sanitize=False)
        with ui.element("section").classes("load").props('aria-label="Load of both sides"'):
            sliders = [Slider(stage, *it) for it in SLIDERS]
        guide = Guide(tour)
        with ui.element("div").classes("sides"):
            panels = [Panel(stage, *it) for it in zip(stage.sides, FIRST, strict=True)]
    refreshes = [guide.refresh, *(it.refresh for it in sliders), *(it.refresh for it in panels)]

    def refresh() -> None:
        for bring_up_to_date in refreshes:
            bring_up_to_date()

    ui.timer(REFRESH_EVERY_S, refresh)


class Slider:
    """A rate that both sides share: the browser's own slider, which a keyboard moves too."""

    def __init__(self, stage: Stage, name: str, text: str, most: int, step: int) -> None:
        self._stage, self._name, self._text = stage, name, text
        self._told: float | None = None
        """What this tab shows, or has been told to."""
        with ui.element("label").classes("slider"):
            self._label = ui.html(tag="span", sanitize=False)
            self._range = ui.element("input")
        self._range.props(f"type=range min=0 max={most} step={step}")
        self._range.on("input", self._turn, js_handler=VALUE, throttle=0.1)
        self.refresh()

    def refresh(self) -> None:
        """Show what another tab, or the tour, has chosen."""
        value = getattr(self._stage.rates, self._name)
        if value != self._told:  # not while it is being dragged here
            self._told = value
            ui.run_javascript(f"getHtmlElement({self._range.id}).value = {value:g}")
        self._label.set_content(f"{self._text}: {value:g}")

    def _turn(self, event: GenericEventArguments) -> None:
        self._told = float(event.args)
        self._stage.turn(**{self._name: self._told})
        self.refresh()
