"""The documents have the figures of the committed results, and these can be repeated."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lab.__main__ import COMMANDS, run_options
from lab.arguments import parser
from lab.experiments import EXPERIMENTS
from lab.reporting.report import page_of
from lab.running.load import chosen
from lab.running.machine import commit
from lab.running.matrix import INTERRUPTED
from lab.texts import make
from lab.texts import write as texts
from lab.texts.write import COMMITTED, MARKED, PICTURE, TEXTS, comparison, older_code, write
from launch.processes import RunFailed
from tests.commands import python
from tests.sessions import wait_until

SHOWN = sorted({found[2] for path in TEXTS for found in MARKED.finditer(path.read_text())})
"""The folders whose figures are shown together somewhere."""
README = Path("README.md")
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""Git's name of a tree without files."""


def test_there_are_figures_of_results():
    assert SHOWN


@pytest.mark.parametrize("path", TEXTS, ids=str)
def test_a_text_and_its_results_agree(path):
    """If the code has changed: ``lab figures --write`` says so in the texts."""
    assert write(path.read_text()) == path.read_text()


def test_the_picture_and_its_results_agree():
    assert texts.draw() == PICTURE.read_text()


def test_a_figure_that_was_edited_by_hand_is_noticed():
    text = README.read_text()
    edited = text.replace(MARKED.search(text)[5], "9,999", 1)

    assert edited != text
    assert write(edited) == text


@pytest.mark.parametrize("name", SHOWN)
def test_results_are_of_one_commit_without_changes_and_of_one_machine(name):
    results = [
        result for folder in name.split("+") for result in comparison(COMMITTED / folder).results
    ]
    keys = ("commit", "cpu", "cpus", "python")

    assert len({tuple(result.environment[key] for key in keys) for result in results}) == 1
    assert not any(result.is_dirty for result in results)


@pytest.mark.parametrize(
    "marker", ["none x: posts/s", "headline: no column", "headline x: mean ms"]
)
def test_a_marker_for_which_there_is_nothing(marker):
    text = f"<!-- figures: {marker} -->1<!-- /figures -->"

    if marker.startswith("none"):
        assert write(text) == text
    else:
        with pytest.raises(ValueError, match="there is no"):
            write(text)


def test_a_table_by_load_says_what_is_not_0():
    def written(figures):
        return MARKED.search(write(f"<!-- figures: promises {figures} --><!-- /figures -->"))[5]

    huey = "mysql_tuned-task-setbased@huey,child-killed"
    lost = written(f"{huey}: lost tasks")
    table = written("by-load: lost tasks, stuck").splitlines()
    (cells,) = (row.split(" | ") for row in table if "@huey`" in row)

    assert "| variant | child-killed | " in table[2]
    assert (cells[1], cells.count("-")) == (f"{lost} lost tasks", 1)
    assert written(f"{huey}: lost tasks, lost tasks") == f"{lost} | {lost}"


def test_code_that_has_changed_since_its_results():
    assert older_code(["HEAD"], ["no-such-folder"]) == ""
    assert "older code" in older_code(["HEAD", EMPTY_TREE], ["feed"])


@pytest.mark.parametrize(
    ("after", "is_older"),
    [
        ('"""Other words."""\n\nPORTION = 2  # posts\n"""Per call."""\n', False),
        ('"""Words."""\n\nPORTION = 3\n', True),
        (None, True),
    ],
)
def test_other_comments_are_no_other_code(tmp_path, monkeypatch, after, is_older):
    def git(*command: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(("git", *identity, *command), cwd=tmp_path, check=True, capture_output=True)

    measured = tmp_path / "measured.py"
    measured.write_text('"""Words."""\n\nPORTION = 2\n')
    git("init")
    git("add", "measured.py")
    git("commit", "--message", "measured")
    measured.write_text(after) if after else measured.unlink()
    monkeypatch.chdir(tmp_path)

    assert bool(older_code(["HEAD"], ["measured.py"])) is is_older


def test_results_depend_on_the_folder_of_their_experiment(monkeypatch):
    asked = []
    monkeypatch.setattr(texts, "older_code", lambda commits, paths: asked.append(paths) or "")
    for folder in ("headline", "published-003", "promises"):
        texts.source([comparison(COMMITTED / folder)])

    assert asked == [
        (*texts.MEASURED, "lab/experiments/fanout"),
        (*texts.MEASURED, *texts.REPLAYS, "replays/author"),
        (*texts.MEASURED, "lab/faults", "lab/experiments/promises"),
    ]


@pytest.mark.parametrize(
    "folder",
    ["capacity-queues", "factors", "faults-queues", "promises", "queues", "screens", "whole"],
)
def test_a_committed_report_says_what_one_of_today_would(folder):
    kept = COMMITTED / folder

    assert page_of(comparison(kept)).as_markdown() == (kept / "report.md").read_text()


@pytest.mark.parametrize("short", [False, True])
@pytest.mark.parametrize("entry", make.entries(), ids=lambda entry: entry.name)
def test_every_command_of_the_list_is_understood(entry, short):
    given = parser(COMMANDS, None).parse_args(entry.arguments(short=short))

    assert entry.minutes > 0
    if entry.arguments(short=short)[0] == "run":
        experiment = EXPERIMENTS[given.experiment]
        names = given.variants.split(",") if given.variants else experiment.variants
        assert [experiment.variant(name).name for name in names] == list(names)
        assert chosen(experiment.loads(run_options(experiment, given)), given.loads)


def test_some_of_the_list():
    assert [entry.name for entry in make.entries("whole,open")] == ["open", "whole"]
    with pytest.raises(ValueError, match="did you mean headline"):
        make.entries("headlines")


def test_uncommitted_code_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(make, "commit", lambda: f"{commit().removesuffix('-dirty')}-dirty")

    with pytest.raises(RunFailed, match="no commit has"):
        make.run(make.entries("open"), tmp_path)


def test_a_command_that_cannot_begin_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("LAB_MYSQL", "oracle")
    entry = make.Entry("some", "run fanout --variants=mysql_tuned-inline-setbased", 1, "")

    with pytest.raises(RunFailed, match="some ended with status 1"):
        make.run([entry], tmp_path, short=True)


def test_a_command_that_fails_is_named_though_it_had_finished_before(tmp_path):
    done = tmp_path / "some" / make.DONE
    done.parent.mkdir()
    done.write_text("an older commit")

    with pytest.raises(RunFailed, match="some ended with status 2"):
        make.run([make.Entry("some", "run nothing", 1, "")], tmp_path, short=True)


def test_a_short_run_that_was_stopped_goes_on_and_prints_how_the_texts_would_change(tmp_path):
    command = ("-m", "lab", "figures", "--short", "--only=fanout", f"--out={tmp_path}")
    started = subprocess.Popen((sys.executable, *command), stderr=subprocess.DEVNULL)
    wait_until(lambda: list(tmp_path.glob("*/*/result.json")), 300)
    started.send_signal(signal.SIGINT)
    assert started.wait(timeout=120) == INTERRUPTED
    assert not (tmp_path / "fanout" / make.DONE).exists()

    done = python(*command)

    assert done.returncode == 0, done.stderr
    is_committed = not commit().endswith("-dirty")
    assert done.stderr.count(": kept") == int(is_committed)
    assert "+++ written anew" in done.stdout
    assert "docs/reading-a-report.md" in done.stdout
    assert (tmp_path / "fanout" / make.DONE).read_text() == commit()
