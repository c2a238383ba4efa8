"""One side of the page in one tab."""

from nicegui import ui

from lab.live import curves, harm, shown
from lab.live.side import RUNNING, STOPPED, Side
from lab.live.stage import Stage, variant_names


class Panel:
    """The elements of a side; ``refresh`` brings them up to date."""

    def __init__(self, stage: Stage, side: Side, chosen: str) -> None:
        self.stage, self.side = stage, side
        with ui.element("section").classes("side").props(f"aria-label={side.name}"):
            ui.element("h2").props("innerHTML=" + side.name)
            with ui.element("div").classes("choice"):
                names = variant_names()
                self.variant = ui.select(
                    names,
                    label=f"{side.name} variant",
                    with_input=True,
                    new_value_mode="add-unique",
                )
                self.variant.set_value(side.variant.name if side.variant else chosen)
                self.start = ui.button("Start", on_click=self._start, color=None)
                self.stop = ui.button("Stop", on_click=side.stop, color=None).props("outline")
            self.said = ui.label().classes("said").props("role=status")
            self.figures = ui.html(sanitize=False)
            self.friends = ui.html(sanitize=False)
            self.audit = ui.html(sanitize=False)
            self.curves = ui.echart(curves.options(), renderer="svg").classes("curves")
            self.curves.style(f"height: {curves.height()}px")
            self.curves.props(f'role=img aria-label="Curves of {side.name}"')
            ui.html("<h3>Busy cores</h3>", sanitize=False)
            self.cores = ui.html(sanitize=False)
            ui.html("<h3>Let it break</h3>", sanitize=False)
            with ui.element("div").classes("faults"):
                self.unharmed = ui.label("This variant has no part that can be broken here.")
                self.faults = {name: self._button(name) for name in harm.BUTTONS}
        self.refresh()

    def _button(self, name: str) -> ui.button:
        button = ui.button(harm.BUTTONS[name], on_click=lambda: self._harm(name), color=None)
        return button.props("outline")

    def refresh(self) -> None:
        side, sample = self.side, self.side.history.latest
        self.start.set_enabled(side.state == STOPPED)
        self.stop.set_enabled(side.state != STOPPED)
        self.variant.set_enabled(side.state == STOPPED)
        if side.variant and side.state != STOPPED:
            self.variant.set_value(side.variant.name)
        self.said.set_text(side.said)
        self.figures.set_content(shown.figures(sample))
        self.friends.set_content(shown.friends(sample))
        self.audit.set_content(shown.audit(sample))
        self.cores.set_content(shown.cores(side.history.cores if side.state == RUNNING else {}))
        if any(it.state == RUNNING for it in self.stage.sides):
            tops = curves.tops(it.history for it in self.stage.sides)
            for axis, top in zip(self.curves.options["yAxis"], tops, strict=True):
                axis["max"] = top
            self.curves.options["series"] = curves.data(side.history)
            self.curves.update()

        for name, button in self.faults.items():
            button.set_enabled(harm.why_not(name, side) is None)
            button.set_visibility(harm.suits(name, side))
        self.unharmed.set_visibility(not any(it.visible for it in self.faults.values()))

    def _harm(self, name: str) -> None:
        try:
            harm.inject(name, self.side)
        except ValueError as error:
            self.side.said = str(error)
        self.refresh()

    def _start(self) -> None:
        try:
            self.side.start(str(self.variant.value or ""))
        except ValueError as error:
            self.side.said = str(error)
        self.refresh()
