"""What a tab of the live page changes: windows with and without one in turn, side by side.

python -m tests.tools.live_cost --variant mysql_tuned-outbox-ring --posts 500 --pairs 10
"""

import argparse
import threading
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import psutil
from nicegui import app

from lab.live import page
from lab.live.side import RUNNING, STARTING, Stage
from lab.live.tour import Tour
from launch.processes import free_port
from launch.service import Seed
from tests.browser import browsing

SETTLE_S = 12
"""Longer than the ten seconds that a lag is of."""
FIGURES = ("posts/s", "answer p50 ms", "answer p99 ms", "lag p50 ms", "lag p99 ms")


def main():
    options = parse()
    page.GRACE_S = float("inf")
    stage, port = Stage(Seed(), "auto"), free_port()
    worker = threading.Thread(target=run, args=(stage, port, options))
    worker.start()
    try:
        page._run(Tour(stage), port)
    finally:
        stage.end()
        worker.join()


def run(stage, port, options):
    try:
        compare(stage, port, options)
    finally:
        app.shutdown()


def compare(stage, port, options):
    side = stage.sides[0]
    stage.turn(posts_per_s=options.posts)
    side.start(options.variant)
    while side.state == STARTING:
        time.sleep(1)
    assert side.state == RUNNING, side.message
    with TemporaryDirectory() as folder, browsing(Path(folder)) as browser:
        time.sleep(options.seconds)
        rows = []
        for pair in range(options.pairs):
            order = ("about:blank", f"http://127.0.0.1:{port}/")
            found = {}
            for url in order if pair % 2 else order[::-1]:
                browser.get(url)
                time.sleep(SETTLE_S)
                found[url] = window(side, browser, options.seconds)
            rows.append([found[url] for url in order])
            print(f"{pair + 1} of {options.pairs}", flush=True)
    for name in rows[0][0]:
        without, shown = (median(row[at][name] for row in rows) for at in (0, 1))
        changes = sorted(row[1][name] / row[0][name] - 1 for row in rows if row[0][name])
        told = (
            f"{median(changes):+.1%} ({changes[0]:+.1%} … {changes[-1]:+.1%})" if changes else "-"
        )
        print(f"| {name} | {without:.4g} | {shown:.4g} | {told} |", flush=True)


def window(side, browser, seconds):
    """Return the figures of some seconds."""
    used, others, began = side._processes.cpu_s(), beside(browser), time.monotonic()
    first = side.history.latest.at
    time.sleep(seconds)
    took = time.monotonic() - began
    samples = [it for it in list(side.history.samples) if it.at > first]
    told = (
        median(it.rates["accepted"] for it in samples),
        *(median(filter(None, (it.answer_ms[p] for it in samples))) for p in ("p50", "p99")),
        *(median(filter(None, (it.lag_ms[p] for it in samples))) for p in ("p50", "p99")),
    )
    cores = {
        f"cores, {role}": (cpu - used.get(role, 0)) / took
        for role, cpu in side._processes.cpu_s().items()
        if role != "lab"
    }
    for role, cpu in beside(browser).items():
        cores[f"cores, {role}"] = (cpu - others[role]) / took
    return dict(zip(FIGURES, told, strict=True)) | cores


def beside(browser):
    """Return CPU seconds of what is not the side's own."""
    page, driver = psutil.Process(), psutil.Process(browser.service.process.pid)
    tree = driver.children(recursive=True)
    return {"the page": cpu_s([page]), "the browser": cpu_s(tree)}


def cpu_s(processes):
    return sum(sum(it.cpu_times()[:2]) for it in processes)


def parse():
    top = argparse.ArgumentParser(prog="python -m tests.tools.live_cost", description=__doc__)
    top.add_argument("--variant", default="mysql_tuned-outbox-ring")
    top.add_argument("--posts", type=float, default=500.0)
    top.add_argument("--pairs", type=int, default=10)
    top.add_argument("--seconds", type=float, default=15.0)
    return top.parse_args()


if __name__ == "__main__":
    main()
