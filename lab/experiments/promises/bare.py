"""What a queue does by itself when a part of it fails: its tasks only note that they ran.

Nobody asks for receipts, or looks for posts that were left (``lab.faults.unguarded.bare``).
"""

import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from lab.faults.queue import AWAY_S, broker_of, started_again, supervised, terminate
from lab.faults.redis import FROZEN_S
from lab.faults.running import Running, freeze_when, kill_when, wait_for
from launch.processes import frozen

CLIENTS = 4
PAUSE_S = 0.04
TIMES = 5
"""Each fault of workers happens so often."""
BETWEEN_S = 2.0
STARTS_S = 60
"""Workers that were started again have to begin a task within this time."""
WAITING_S = 2.0
"""For so long messages wait, before their broker is killed."""
QUIET_S = 90
"""If no task has begun for so long, none will: Celery hands out a message again after 60 s, tuned;
after an hour, as it comes."""
LOOK_S = 5
SETTINGS = {"DJANGO_SETTINGS_MODULE": "lab.faults.unguarded.bare"}
HELD = "from workers.queues import get_queue; print(get_queue().held())"


class Note(NamedTuple):
    pid: int
    post_id: int
    is_done: bool
    at: float
    """In Unix time."""


class Notes:
    """What the tasks of a service noted."""

    def __init__(self, running: Running) -> None:
        self.path = running.folder / "notes"

    def read(self) -> list[Note]:
        if not self.path.exists():
            return []
        lines = map(str.split, self.path.read_text().splitlines())
        return [
            Note(int(pid), int(post_id), what == "done", float(at))
            for pid, post_id, what, at in lines
        ]

    def in_task(self, pid: int) -> bool:
        """Return whether a stopped process is in the middle of a task."""
        of_process = [note for note in self.read() if note.pid == pid]
        return bool(of_process) and not of_process[-1].is_done


class Away(NamedTuple):
    """When what has the messages was down, by the monotonic clock."""

    began: float
    ended: float


@dataclass(frozen=True)
class BareFault:
    text: str
    inject: Callable[[Running, Notes], Away | None]
    times: int = TIMES


def kill_child(running: Running, notes: Notes) -> None:
    kill_when(running, "workers", notes.in_task)


def kill_tree(running: Running, notes: Notes) -> None:
    freeze_when(running, "workers", notes.in_task)
    with started_again(running), frozen(running.processes.pids("workers")) as family:
        for process in family:
            process.kill()
    noted = len(notes.read())
    wait_for(lambda: len(notes.read()) > noted, STARTS_S)


def end(running: Running, notes: Notes) -> None:
    terminate(running, freeze_when(running, "workers", notes.in_task))


def kill_broker(running: Running, _: Notes) -> Away:
    running.service.stop_workers()
    time.sleep(WAITING_S)
    began = time.monotonic()
    running.processes.kill(broker_of(running).role)
    time.sleep(AWAY_S)
    broker_of(running).start()
    ended = time.monotonic()
    running.service.start_workers()
    return Away(began, ended)


def freeze_broker(running: Running, _: Notes) -> None:
    with frozen(running.processes.pids(broker_of(running).role)):
        time.sleep(FROZEN_S)


FAULTS: Mapping[str, BareFault] = {
    "child-killed": BareFault("A process that carries out tasks is killed in one.", kill_child),
    "tree-killed": BareFault("All processes of the workers are killed, one in a task.", kill_tree),
    "terminated": BareFault("The workers are asked to end (SIGTERM) in a task.", end),
    "messages-killed": BareFault(
        f"Messages wait for {WAITING_S:g} s, and what has them is killed.", kill_broker, 1
    ),
    "messages-frozen": BareFault(
        f"What has the messages is stopped for {FROZEN_S:g} s.", freeze_broker, 1
    ),
}


def observe(
    running: Running,
    fault: BareFault,
    advance: Callable[[str], object],
    *,
    clients: int = CLIENTS,
) -> dict[str, float]:
    """Post, let a fault happen some times, wait for the last task, and return counts of tasks."""
    notes = Notes(running)
    away = None
    with supervised(running):
        with running.load(clients, PAUSE_S):
            wait_for(lambda: len(notes.read()))
            for number in range(1, fault.times + 1):
                advance(f"{fault.text} {number} of {fault.times}")
                time.sleep(BETWEEN_S)
                away = fault.inject(running, notes)
            time.sleep(BETWEEN_S)
        to_unix_s = time.time() - time.monotonic()
        accepted = {post["id"]: at + to_unix_s for at, post in running.accepted}
        advance("wait for the last tasks")
        wait_until_quiet(running, notes, accepted)
    held = messages_held(running)  # before the notes: what is done meanwhile isn't lost
    unsent = {
        post["id"] for at, post in running.accepted if away and away.began <= at <= away.ended
    }
    return counted(notes.read(), accepted, held, unsent) | {"restarts": running.service.restarts}


def messages_held(running: Running) -> int:
    """Return how many messages the queue still knows."""
    (env,) = running.service.environments
    shell = [sys.executable, "manage.py", "shell", "--no-imports", f"--command={HELD}"]
    return int(running.processes.call("held", shell, env).splitlines()[-1])


def wait_until_quiet(running: Running, notes: Notes, wanted: Collection[int]) -> None:
    """Wait until all tasks have ended, or no other can: none did for LOOK_S, and the queue knows of
    none, or none did for QUIET_S."""
    found, changed_at = notes.read(), time.monotonic()
    while not done_of(found).keys() >= set(wanted) and time.monotonic() < changed_at + QUIET_S:
        time.sleep(LOOK_S)
        before, found = len(found), notes.read()
        if len(found) > before:
            changed_at = time.monotonic()
        elif not messages_held(running):
            break


def done_of(notes: list[Note]) -> Counter[int]:
    return Counter(note.post_id for note in notes if note.is_done)


def counted(
    notes: list[Note], accepted: Mapping[int, float], held: int, unsent: Collection[int] = ()
) -> dict[str, float]:
    """Return how many tasks ran how often.

    ``accepted``: when each post was, whose task should run. ``held``: messages that the queue still
    knows; what has not ended is stuck with them. It is lost only where the queue knows of none.
    ``unsent``: posts whose message could not be sent; the queue did not lose those.
    """
    begun = Counter(note.post_id for note in notes if not note.is_done)
    done = done_of(notes)
    first_done: dict[int, float] = {}
    for note in notes:
        if note.is_done:
            first_done.setdefault(note.post_id, note.at)
    missing = [post for post in accepted if not done[post]]
    sent = [post for post in missing if post not in unsent]
    waited = [at - accepted[post] for post, at in first_done.items() if post in accepted]
    return {
        "tasks": len(accepted),
        "once": sum(begun[post] == done[post] == 1 for post in accepted),
        "again": sum(begun[post] > 1 for post in accepted),
        "cut_short": sum(begun[post] > 0 for post in missing),
        "never": sum(begun[post] == 0 for post in missing),
        "unsent": len(missing) - len(sent),
        "stuck": min(held, len(sent)),
        "lost": max(0, len(sent) - held),
        "longest_s": round(max(waited, default=0.0), 1),
    }
