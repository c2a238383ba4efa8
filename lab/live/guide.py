"""The tour in one tab: question, prediction, and what came out."""

from nicegui import ui

from lab.live import shown
from lab.live.steps import STEPS
from lab.live.tour import FAILED, PREDICT, RUN, TOLD, Tour

SAID = {
    "stop": "Stopping what ran before.",
    "start": "Starting both sides: servers and people. That takes some seconds.",
    FAILED: "A side or its fault did not run to its end; below it says why. Other steps may still.",
}


class Guide:
    def __init__(self, tour: Tour) -> None:
        self.tour = tour
        self._shown: tuple[int, str] | None = None
        with ui.element("details").classes("tour"):
            with ui.element("summary"):
                ui.label("Tour: the published story in six steps, five minutes")
            self.heading = ui.html(sanitize=False)
            self.question = ui.html(sanitize=False)
            self.answers = ui.radio({}).props('aria-label="Your prediction"')
            self.answers.on_value_change(self.refresh)
            with ui.element("div").classes("choice"):
                self.go = ui.button("Run it", on_click=self._run, color=None)
                self.next = ui.button("Next step", on_click=self._next, color=None).props("outline")
            self.said = ui.label().props("role=status")
            self.told = ui.html(sanitize=False)
        self.refresh()

    def refresh(self) -> None:
        tour = self.tour
        if self._shown != (tour.number, tour.phase):
            self._shown = tour.number, tour.phase
            self._show_step()
        self.go.set_enabled(tour.phase in (PREDICT, FAILED) and self.answers.value is not None)
        if tour.phase == RUN:
            self.said.set_text(f"Watch both sides. {tour.step.question}")

    def _show_step(self) -> None:
        tour, step = self.tour, self.tour.step
        self.heading.set_content(f"<h2>Step {tour.number + 1} of {len(STEPS)}: {step.title}</h2>")
        runs = " and ".join(f"<code>{it}</code>" for it in step.variants)
        self.question.set_content(
            f"<p>{step.story} Runs {runs} at {step.posts_per_s:g} posts/s.</p>"
            f"<p><b>Before it runs: {step.question}</b></p>"
        )
        self.answers.set_options(dict(enumerate(step.answers)), value=tour.prediction)
        self.answers.set_enabled(tour.phase in (PREDICT, FAILED))
        self.said.set_text(SAID.get(tour.phase, ""))
        self.told.set_content(self._conclusion() if tour.phase == TOLD else "")

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
        if self.answers.value is not None:
            self.tour.run(self.answers.value)
            self.refresh()

    def _next(self) -> None:
        self.tour.go_to(self.tour.number + 1)
        self.refresh()
