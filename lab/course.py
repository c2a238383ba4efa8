"""Exercises of the course that check themselves: a question, and runs whose figures answer it."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from lab.results.result import Result, read_results
from launch.unknown import none_of

SMALL = "--people 100 --friends 20 --users 10 --run-time 5s --shared"
FINDINGS = ("lost", "duplicated", "phantom", "wrong_pages")
OUTCOMES = ("lost", "again", "stuck")


class Exercise(NamedTuple):
    """A question about a lesson; nobody knows the answer before the runs."""

    question: str
    run: str
    """Arguments of ``lab run``."""
    answer: Callable[[Sequence[Result]], float | set[str]]
    """Return a number, or the words that are right, from the figures of the runs."""
    because: str
    """What a wrong answer overlooked."""
    words: tuple[str, ...] = ()
    """What may be answered; none: a number."""
    within: float = 0.0
    """How far a number may be off."""

    @property
    def what(self) -> str:
        """Say what an answer has to be."""
        return " or ".join(self.words) or "a number"

    def checked(self, answer: str) -> str | float:
        """Return an answer as it is judged. Raises ValueError if it can't be one."""
        if self.words:
            if answer not in self.words:
                raise ValueError(none_of(answer, self.words))
            return answer
        try:
            return float(answer.removesuffix("%"))
        except ValueError:
            raise ValueError(f"{answer!r} is no number") from None


def judge(exercise: Exercise, answer: str, results: Sequence[Result]) -> tuple[bool, str]:
    """Return whether an answer is right, and what the figures say.

    Raises ValueError if a run has not finished.
    """
    given = exercise.checked(answer)
    if unfinished := [result for result in results if not result.audit]:
        raise ValueError(f"{unfinished[0].variant} has not finished: {unfinished[0].errors[0]}")
    found = exercise.answer(results)
    if isinstance(found, set):
        return given in found, ", ".join(sorted(found)) or "none of these"
    assert isinstance(given, float)
    return abs(given - found) <= exercise.within, f"{found:g}"


def exercise_of(lesson: int) -> Exercise:
    """Return the exercise of a lesson. Raises ValueError if it has none."""
    if lesson not in EXERCISES:
        raise ValueError(f"lesson {lesson} has none: {', '.join(map(str, EXERCISES))} have")
    return EXERCISES[lesson]


def check(exercise: Exercise, answer: str, folder: Path) -> bool:
    """Say whether an answer is right, from the results in a folder."""
    is_right, found = judge(exercise, answer, read_results(folder))
    print(f"{'Right' if is_right else 'Wrong'}: {found}. {exercise.because}")
    return is_right


def print_questions() -> None:
    for lesson, exercise in EXERCISES.items():
        print(f"{lesson:2} {exercise.question} ({exercise.what})")


def _least(figure: Callable[[Result], float | None]) -> Callable[[Sequence[Result]], set[str]]:
    """Return what finds the variant with the least of a figure, where it is known."""

    def least(results: Sequence[Result]) -> set[str]:
        known = {one.variant: value for one in results if (value := figure(one)) is not None}
        return {min(known, key=known.__getitem__)} if known else set()

    return least


def _most(figure: Callable[[Result], float]) -> Callable[[Sequence[Result]], set[str]]:
    return _least(lambda result: -figure(result))


def _above_0(counts: dict[str, float | None], words: Iterable[str]) -> set[str]:
    return {word for word in words if counts.get(word)}


def _audit(results: Sequence[Result], name: str) -> float:
    assert results[0].audit
    return float(results[0].audit[name])


EXERCISES = {
    1: Exercise(
        "Everybody has 20 friends, and sqlite-null delivers nothing. How many deliveries of each "
        "post will be missing?",
        f"fanout {SMALL} --variants sqlite-null",
        lambda results: round(_audit(results, "missing") / _audit(results, "posts")),
        "A post goes into the timelines of its author's friends, and into the author's own.",
    ),
    2: Exercise(
        "Two app servers have an SQLite file each. What percentage of the deliveries will be "
        "missing, over both together?",
        f"fanout {SMALL} --variants sqlite_per_server-inline-bulk",
        lambda results: round(100 * _audit(results, "missing") / _audit(results, "expected")),
        "Each server knows only the posts that it has taken itself.",
        within=10,
    ),
    3: Exercise(
        "Three variants under little load. Which has the shortest lag, from a post to its receipt?",
        f"fanout {SMALL} --variants sqlite-inline-setbased,sqlite-outbox-setbased,sqlite-null",
        _least(lambda result: result.lag_ms.get("p99") if not result.waiting else None),
        "One that delivers in the request answers later, and has nearly no lag; one that delivers "
        "nothing answers first, and its lag never ends.",
        ("sqlite-inline-setbased", "sqlite-outbox-setbased", "sqlite-null"),
    ),
    4: Exercise(
        "Ten people sign up again and again. With which hash do more sign-ups succeed?",
        "signup --shared --loads 10x10s --variants sqlite-pbkdf2,sqlite-argon2",
        _most(lambda result: result.requests - result.failures),
        "Both are expensive on purpose: argon2 takes memory where pbkdf2 takes time.",
        ("sqlite-pbkdf2", "sqlite-argon2"),
    ),
    5: Exercise(
        "A page shows the number of likes of each post. Which variant takes less CPU per page?",
        "browse --shared --loads smoke --variants sqlite-1server,sqlite-counter",
        _least(lambda result: (result.service_s or 0.0) / max(1, result.requests)),
        "One counts the likes for each page, the other when somebody likes.",
        ("sqlite-1server", "sqlite-counter"),
    ),
    6: Exercise(
        "An index, or fewer queries without it: which has the lower median latency?",
        "activity --shared --loads 1rps --run-time 20s "
        "--variants sqlite-fewer_queries,sqlite-indexed",
        _least(lambda result: result.latency_ms.get("p50")),
        "A query without an index reads the whole table, even if it is the only one.",
        ("sqlite-fewer_queries", "sqlite-indexed"),
    ),
    8: Exercise(
        "A drainer sets its receipts first, and is killed before it delivers. What happens to the "
        "posts?",
        "faults --shared --loads drainer-killed --variants sqlite-outbox-setbased@unguarded",
        lambda results: _above_0(results[0].audit or {}, FINDINGS),
        "A receipt says that the work is done, so nobody does it again.",
        FINDINGS,
    ),
    10: Exercise(
        "Ten reads per post. In which variant does the app server need more CPU?",
        "mixed --shared --people 300 --friends 100 --users 20 --run-time 8s --loads reads10 "
        "--variants sqlite-pull,sqlite-outbox-setbased",
        _most(lambda result: result.cpu_s.get("web") or 0.0),
        "Pull builds a page in the app server whenever somebody reads; push works in the drainer.",
        ("sqlite-pull", "sqlite-outbox-setbased"),
    ),
    14: Exercise(
        "The worker of a queue in the database is killed while it has a task. What happens to it?",
        "promises --shared --loads child-killed --variants sqlite-task-setbased@django_tasks",
        lambda results: _above_0(results[0].extra, OUTCOMES),
        "The row says that somebody works on it; nothing ever says that nobody does.",
        OUTCOMES,
    ),
}
