"""From a folder of results to a page, and its data beside it."""

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lab.reporting import plots, tables
from lab.reporting.comparison import (
    answer,
    in_order,
    presentation_of,
    published_beside,
    ranked,
    summaries,
    verdicts,
)
from lab.reporting.formats import number
from lab.reporting.machine import machine
from lab.reporting.page import Command, Commands, Listing, Page, Part, Picture
from lab.results import laws
from lab.results.result import Result, results_of
from lab.results.summary import HARM, Summary

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
HEADLINE = (
    "{} is better. Thin lines: the smallest and the largest of several runs. Crossed out: the "
    "audit found something."
)
LATE_MS = 1000
"""A longer lag is written beside the rate, which a backlog doesn't slow."""
ANSWERED = 0.99
"""A smaller share of success is written beside the figure."""


def report(folder: Path) -> int:
    """Print the comparison, write it beside the results, and return the exit status.

    Writes report.html, report.md, its first picture as headline.svg, results.csv (a row a run) and
    results.json. Raises ValueError if there are no results.
    """
    results = results_of(folder)
    compared = in_order(summaries(results))
    rows = list(map(_with_verdict, results))
    (folder / "results.json").write_text(json.dumps(rows) + "\n")
    _write_csv(folder / "results.csv", rows)
    page = page_of(results, compared)
    page.show()
    (folder / "report.md").write_text(page.as_markdown())
    page.write(folder / "report.html")
    return max((summary.status for summary in compared), key=HARM)


def page_of(results: Sequence[Result], compared: Sequence[Summary]) -> Page:
    presentation = presentation_of(compared)
    return Page(
        title=f"{results[0].experiment}: variants compared",
        answer=answer(compared),
        verdicts=verdicts(compared),
        facts={
            "What was tried": conditions(results, compared),
            "On what": machine([result.environment for result in results]),
            "What to do with it": advice(compared),
        },
        parts=list(_parts(results, compared)),
        lesson=presentation.lesson,
        files=("results.csv", "results.json"),
    )


def _parts(results: Sequence[Result], compared: Sequence[Summary]) -> Iterator[Part]:
    presentation = presentation_of(compared)
    text = HEADLINE.format("More" if presentation.more_is_better else "Less")
    yield Picture(presentation.heading, text, headline(compared), "headline.svg")
    yield tables.measured(compared)
    if published := tables.published(compared):
        yield published
    if found := remarks(results, compared):
        yield Listing("Remarks", found)
    for plot in presentation.pictures:
        if any(map(plot.data, results)):
            yield Picture(plot.heading, plot.text, plot.draw(compared))
    if failed := [f"{_run(result)}: {error}" for result in results for error in result.errors]:
        yield Listing("Errors", failed)
    yield Commands("Variants, and how to repeat them", _commands(compared))
    yield Listing("Limitations", limitations(results, compared))


def conditions(results: Sequence[Result], compared: Sequence[Summary]) -> str:
    """Say what all runs had in common."""
    first, repeats = results[0], max(result.repeat for result in results)
    seed, variants = first.environment.get("seed"), {one.variant.name for one in compared}
    loads = [result.balance.users for result in results if result.balance]
    parts = [
        f"Variants: {len(variants)}, runs: {len(results)}",
        f"medians of {repeats} runs (smallest and largest in brackets)" if repeats > 1 else "",
        f"{number(max(loads))} users" if loads and len({one.load for one in results}) == 1 else "",
        f"{seed['people']:,} people with {seed['friends']:,} friends each" if seed else "",
        f"{first.window_s} s measured in each" if first.window_s else "",
        f"begun {first.started_at:.16}",
    ]
    return f"{'; '.join(filter(None, parts))}."


def advice(compared: Sequence[Summary]) -> str:
    best = [] if presentation_of(compared).verdict(compared) else ranked(compared)
    if not best:
        return "Compare it with a second run before you rely on a figure."
    return (
        f"For this load, begin with {best[0].name}, and repeat it on your machine with the "
        "command under Variants below. Figures of another machine or load don't carry over."
    )


def headline(compared: Sequence[Summary]) -> plots.Drawing:
    """Draw the experiment's main figure, beside what was published."""
    presentation, column = presentation_of(compared), presentation_of(compared).headline
    known = plots.colours_of(compared)
    rows = [_bar(summary, known[summary.variant.name]) for summary in compared]
    for one in published_beside(compared):
        if (value := one.figures.get(column.label)) is not None:
            part = (one.what, value, plots.PUBLISHED)
            note = _answered(one.figures.get("success")) if "success" in one.figures else ""
            rows.append(plots.Bar(f"published: {one.what}", [part], column.write(value) + note))
    is_bound = presentation.more_is_better and not presentation.measures_generator
    offered = max(summary.results[0].offered_rps for summary in compared) if is_bound else None
    return plots.bars(rows, offered)


def _bar(summary: Summary, colour: str) -> plots.Bar:
    column = presentation_of([summary]).headline
    nothing = summary.nothing if summary.finished else "did not finish"
    middle = summary.median(column.figure)
    label = column.write(middle) + _but(summary) if middle else nothing
    bar = plots.bar_of(summary, column.figure, colour, label)
    return bar._replace(is_crossed=not summary.is_clean)


def _but(summary: Summary) -> str:
    """Return what a figure alone hides: an audit, failures or a long lag."""
    if not summary.is_clean:
        return ", not clean" + (" (as expected)" if summary.as_expected else "")
    if not summary.figures.can_be_compared:
        return f", {summary.figures}"
    lag_ms = summary.median(lambda r: r.lag_ms.get("p99")) or 0.0
    late = f", lag {number(lag_ms / 1000)} s" if lag_ms > LATE_MS else ""
    known = {column.label for column in presentation_of([summary]).columns}
    success = summary.median(lambda r: r.success)
    return (_answered(success) if "success" in known else "") + late


def _answered(success: float | None) -> str:
    return f", {success:.0%} answered" if success is not None and success < ANSWERED else ""


def remarks(results: Sequence[Result], compared: Sequence[Summary]) -> list[str]:
    unsound = [f"{_run(result)}: {law}" for result in results for law in laws.broken(result)]
    own = [remark for summary in compared for remark in presentation_of([summary]).remarks(summary)]
    cut_off = [_implied(summary) for summary in compared if summary.is_cut_off]
    return [*unsound, *own, *cut_off, *presentation_of(compared).conclusions(compared)]


def _implied(summary: Summary) -> str:
    """Say which mean latency the cut-off run would have shown, had it been long enough."""
    mean_s = summary.median(laws.implied_mean_s)
    by_law = "" if mean_s is None else f": by Little's law the mean is {number(mean_s)} s"
    return f"{summary.name}: the window was too short for its latencies{by_law}."


def _run(result: Result) -> str:
    return f"{', '.join(filter(None, (result.variant, result.load)))}, run {result.repeat}"


def limitations(results: Sequence[Result], compared: Sequence[Summary]) -> list[str]:
    environments = [result.environment for result in results]
    saturated = sorted({one.variant.name for one in compared if one.generator_saturated})
    speeds = [env["calibration_ms"] for env in environments]
    elsewhere = {role for r in results for role, used in r.cpu_s.items() if used is None}
    return [
        ELSEWHERE.format(roles=", ".join(sorted(elsewhere))) if elsewhere else ONE_MACHINE,
        LIMITATION,
        *presentation_of(compared).limitations,
        f"The machine itself was {max(speeds) / min(speeds):.2f} times slower in some runs than in "
        "others (calibration); differences of that size say nothing.",
        *([f"Locust itself was the limit of {', '.join(saturated)}."] if saturated else []),
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


def _with_verdict(result: Result) -> dict[str, Any]:
    """Return a run with its verdict; of an overload that of its worst step."""
    worst = max(summaries([result]), key=lambda one: HARM(one.status))
    verdict = {name: getattr(worst, name) for name in ("deliveries", "figures", "objection")}
    return asdict(result) | {"verdict": verdict}


def _write_csv(path: Path, results: Sequence[dict[str, Any]]) -> None:
    rows = [dict(_flat("", result)) for result in results]
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, names)
        table.writeheader()
        table.writerows(rows)


def _flat(prefix: str, value: Any) -> list[tuple[str, Any]]:
    """Return the single figures of a result by dotted names; lists are left to the JSON."""
    if isinstance(value, dict):
        return [pair for name, part in value.items() for pair in _flat(f"{prefix}.{name}", part)]
    return [] if isinstance(value, list | tuple) else [(prefix[1:], value)]
