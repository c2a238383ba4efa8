"""From a folder of results to a page, and its data beside it."""

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lab.reporting import plots
from lab.reporting.comparison import LOOKS, Comparison
from lab.reporting.formats import machine, number, span
from lab.reporting.page import Chip, Command, Commands, Listing, Page, Part, Picture, Table
from lab.reporting.presentation import OFFERED
from lab.results import laws
from lab.results.result import Result, results_of
from lab.results.summary import HARM, Deliveries, Summary

LIMITATION = (
    "Figures are of the measured window alone, after a warm-up. With closed arrivals a user who "
    "waits offers nothing. A latency with ≥ is a lower bound: its p99 is above a fifth of the "
    "window, so the window ended before the longest answers came."
)
ONE_MACHINE = (
    "Everything ran on one machine: clients, app servers, workers and database share its cores."
)
ELSEWHERE = (
    "Some servers were not started by the laboratory ({roles}): their CPU and memory are not "
    "measured, and no variant is ranked by cores."
)
HEADLINE = "{} is better. Crossed out: the audit found something."
INTERVALS = " Thin lines: the 95 % interval of the median."
MANY = 30
"""More bars than this are drawn as a matrix of loads and variants."""
LATE_MS = 1000
"""A longer lag is written beside the rate, which a backlog doesn't slow."""
ANSWERED = 0.99
"""A smaller share of success is written beside the figure."""


def report(folder: Path) -> int:
    """Print the comparison, write it beside the results, and return the exit status.

    Writes report.html, report.md, its first picture as headline.svg, results.csv (a row a run) and
    results.json. Raises ValueError if there are no results, or those of several experiments.
    """
    compared = Comparison(results_of(folder))
    _write_data(folder, compared)
    page = page_of(compared)
    page.show()
    write_page(page, folder)
    return max((summary.status for summary in compared.summaries), key=HARM)


def write_page(page: Page, folder: Path) -> None:
    """Write report.html, report.md, and the first picture as headline.svg."""
    (folder / "report.md").write_text(page.as_markdown())
    page.write(folder / "report.html")


def page_of(compared: Comparison) -> Page:
    return Page(
        title=f"{compared.experiment.name}: variants compared",
        answer=compared.answer,
        verdicts=compared.verdicts,
        facts={
            "What was tried": conditions(compared),
            "On what": machine([result.environment for result in compared.results]),
            "What to do with it": advice(compared),
        },
        parts=list(_parts(compared)),
        lesson=compared.presentation.lesson,
        files=("results.csv", "results.json"),
    )


def _parts(compared: Comparison) -> Iterator[Part]:
    shown = compared.presentation
    text = HEADLINE.format("More" if shown.more_is_better else "Less")
    text += "" if _is_matrix(compared) else INTERVALS
    yield Picture(shown.heading, text, headline(compared), "headline.svg")
    yield shown.table([_row(compared, summary) for summary in compared.summaries])
    if compared.published:
        yield published(compared)
    if found := remarks(compared):
        yield Listing("Remarks", found)
    for plot in shown.pictures:
        drawn, text = compared.summaries, plot.text
        if _is_matrix(compared) and not plot.is_over_loads:
            drawn = list({summary.variant.name: summary for summary in drawn}.values())
            text += " Each variant under its last load."
        if any(plot.data(result) for summary in drawn for result in summary.results):
            yield Picture(plot.heading, text, plot.draw(drawn))
    failed = [f"{_run(result)}: {error}" for result in compared.results for error in result.errors]
    if failed:
        yield Listing("Errors", failed)
    yield Commands("Variants, and how to repeat them", _commands(compared.summaries))
    yield Listing("Limitations", limitations(compared))


def conditions(compared: Comparison) -> str:
    """Say what all runs had in common."""
    results, variants = compared.results, compared.colours
    first, repeats = results[0], max(result.repeat for result in results)
    seed = first.environment.get("seed")
    loads = [result.balance.users for result in results if result.balance]
    is_one_load = len({result.load for result in results}) == 1
    windows = [result.window_s for result in results if result.window_s]
    parts = [
        f"Variants: {len(variants)}, runs: {len(results)}",
        f"medians of {repeats} runs (95 % bootstrap interval in brackets)" if repeats > 1 else "",
        f"{number(max(loads))} users" if loads and is_one_load else "",
        f"{seed['people']:,} people with {seed['friends']:,} friends each" if seed else "",
        f"{span(windows)} s measured in each" if windows else "",
        f"begun {first.started_at:.16}",
    ]
    return f"{'; '.join(filter(None, parts))}."


def advice(compared: Comparison) -> str:
    if compared.verdict or not compared.ranked:
        return "Compare it with a second run before you rely on a figure."
    return (
        f"For this load, begin with {compared.ranked[0].name}, and repeat it on your machine: its "
        "command is under Variants on the page, and in its result.json. Figures of another "
        "machine or load don't carry over."
    )


def _row(compared: Comparison, summary: Summary) -> list[str | Chip]:
    """Return a line of the table; its swatch has the colour of the variant in the pictures."""
    shown = compared.presentation
    deliveries, _ = LOOKS[summary.deliveries]
    if summary.objection and summary.deliveries is not Deliveries.LOST:
        deliveries = "doubtful"
    figures, _ = LOOKS[summary.figures]
    return [
        Chip("", summary.name, compared.colours[summary.variant.name]),
        Chip(deliveries, shown.audit(summary)),
        Chip(figures, summary.figures),
        *(column.cell(summary) for column in shown.columns),
    ]


def published(compared: Comparison) -> Table:
    """Return the columns for which somebody published a figure."""
    shown = compared.presentation
    known = {label for one in compared.published for label in one.figures}
    columns = [column for column in shown.columns if column.label in known]
    rows = [
        [
            f"published: {one.what}",
            *(column.write(one.figures.get(column.label)) for column in columns),
        ]
        for one in compared.published
    ]
    text = "Their authors' figures, from their machines; never audited. " + shown.published_note
    head = ["published", *(column.label for column in columns)]
    return Table("What was published", head, rows, text)


def _is_matrix(compared: Comparison) -> bool:
    loads = {summary.load for summary in compared.summaries}
    return len(compared.summaries) > MANY and len(loads) > 1


def headline(compared: Comparison) -> plots.Drawing:
    """Draw the experiment's main figure, beside what was published."""
    shown, column = compared.presentation, compared.presentation.headline
    if _is_matrix(compared):
        return plots.matrix(dict(_cell(compared, summary) for summary in compared.summaries))
    rows = [_bar(compared, summary) for summary in compared.summaries]
    for one in compared.published:
        if (value := one.figures.get(column.label)) is not None:
            part = (one.what, value, plots.PUBLISHED)
            label = column.write(value) + _answered(one.figures.get("success"))
            rows.append(plots.Bar(f"published: {one.what}", [part], label))
    is_rate = OFFERED in shown.columns and shown.more_is_better and not shown.measures_generator
    offered = max(one.results[0].offered_rps for one in compared.summaries)
    return plots.bars(rows, offered if is_rate else None)


def _bar(compared: Comparison, summary: Summary) -> plots.Bar:
    column, colour = compared.presentation.headline, compared.colours[summary.variant.name]
    middle = summary.median(column.figure)
    label = column.write(middle) + _but(compared, summary) if middle else summary.nothing
    bar = plots.bar_of(summary, column.figure, colour, label)
    return bar._replace(is_crossed=not summary.is_clean)


def _cell(compared: Comparison, summary: Summary) -> tuple[tuple[str, str], plots.Bar]:
    column = compared.presentation.headline
    label = column.write(summary.median(column.figure))
    key = (summary.load, summary.variant.name)
    return key, _bar(compared, summary)._replace(label=label)


def _but(compared: Comparison, summary: Summary) -> str:
    """Return what a figure alone hides: an audit, failures or a long lag."""
    if not summary.is_clean:
        return ", not clean" + (" (as expected)" if summary.as_expected else "")
    if not summary.figures.can_be_compared:
        return f", {summary.figures}"
    lag_ms = summary.median(lambda r: r.lag_ms.get("p99")) or 0.0
    late = f", lag {number(lag_ms / 1000)} s" if lag_ms > LATE_MS else ""
    known = {column.label for column in compared.presentation.columns}
    success = summary.median(lambda r: r.success)
    return (_answered(success) if "success" in known else "") + late


def _answered(success: float | None) -> str:
    return f", {success:.0%} answered" if success is not None and success < ANSWERED else ""


def remarks(compared: Comparison) -> list[str]:
    shown, summaries = compared.presentation, compared.summaries
    return [
        *(f"{_run(result)}: {law}" for result in compared.results for law in laws.broken(result)),
        *(f"{_run(result)}: {text}" for result in compared.results for text in laws.stolen(result)),
        *(remark for summary in summaries for remark in shown.remarks(summary)),
        *(_implied(summary) for summary in summaries if summary.is_cut_off),
        *shown.conclusions(summaries),
    ]


def _implied(summary: Summary) -> str:
    """Say which mean latency the cut-off run would have shown, had it been long enough."""
    mean_s = summary.median(laws.implied_mean_s)
    by_law = "" if mean_s is None else f": by Little's law the mean is {number(mean_s)} s"
    return f"{summary.name}: the window was too short for its latencies{by_law}."


def _run(result: Result) -> str:
    return f"{', '.join(filter(None, (result.variant, result.load)))}, run {result.repeat}"


def limitations(compared: Comparison) -> list[str]:
    environments = [result.environment for result in compared.results]
    saturated = {one.variant.name for one in compared.summaries if one.generator_saturated}
    speeds = [env["calibration_ms"] for env in environments]
    elsewhere = {role for r in compared.results for role, used in r.cpu_s.items() if used is None}
    return [
        ELSEWHERE.format(roles=", ".join(sorted(elsewhere))) if elsewhere else ONE_MACHINE,
        LIMITATION,
        *compared.presentation.limitations,
        f"The machine itself was {max(speeds) / min(speeds):.2f} times slower in some runs than in "
        "others (calibration); differences of that size say nothing.",
        *([f"Locust itself was the limit of {', '.join(sorted(saturated))}."] if saturated else []),
        *sorted({text for env in environments for text in env.get("limitations", ())}),
        *sorted({text for env in environments for text in env["durability_given_away"]}),
    ]


def _commands(compared: Sequence[Summary]) -> list[Command]:
    """Return each command once; several steps of a run have the same."""
    runs = {(one.variant.name, one.results[0].environment["command"]): one for one in compared}
    return [_command(summary, by_load=len(runs) == len(compared)) for summary in runs.values()]


def _command(summary: Summary, *, by_load: bool) -> Command:
    result = summary.results[0]
    env, memory = result.environment, result.memory_mib
    facts = {
        "settings": " ".join(f"{name}={value}" for name, value in env["settings"].items()),
        "servers": ", ".join(f"{role}: {version}" for role, version in env["servers"].items()),
        "packages": ", ".join(f"{name} {version}" for name, version in env["packages"].items()),
        "memory": ", ".join(f"{role} {mib:,.0f} MiB" for role, mib in memory.items() if mib),
        "durability given away": "; ".join(env["durability_given_away"]) or "none",
        "runs": ", ".join(one.started_at for one in summary.results),
    }
    return Command(summary.name if by_load else summary.variant.name, env["command"], facts)


def _write_data(folder: Path, compared: Comparison) -> None:
    """Write every run with its verdict; of an overload that of its worst step."""
    rows = []
    for result in compared.results:
        worst = max(compared.experiment.summaries([result]), key=lambda one: HARM(one.status))
        verdict = {name: getattr(worst, name) for name in ("deliveries", "figures", "objection")}
        rows.append(asdict(result) | {"verdict": verdict})
    (folder / "results.json").write_text(json.dumps(rows) + "\n")
    flat = [dict(_flat("", row)) for row in rows]
    with (folder / "results.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, list(dict.fromkeys(name for row in flat for name in row)))
        table.writeheader()
        table.writerows(flat)


def _flat(prefix: str, value: Any) -> list[tuple[str, Any]]:
    """Return the single figures of a result by dotted names; lists are left to the JSON."""
    if isinstance(value, dict):
        return [pair for name, part in value.items() for pair in _flat(f"{prefix}.{name}", part)]
    return [] if isinstance(value, list | tuple) else [(prefix[1:], value)]
