"""What the command line refuses before anything starts: one line that says what to do."""

import contextlib
import errno
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from lab.__main__ import COMMANDS, main
from lab.arguments import parser
from lab.before import as_line
from lab.listing import FIRST
from lab.running import machine
from launch.variants import Variant
from tests.commands import python
from tests.lab.test_report import result


def refused(capsys, *arguments):
    """Return the one line that is printed; a command that is refused has started nothing."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    return only_line(capsys.readouterr().err)


def failed(capsys, *arguments):
    assert main(arguments) == 1
    return only_line(capsys.readouterr().err)


def only_line(text):
    # Other tests may run the laboratory meanwhile.
    (line,) = [it for it in text.splitlines() if "makes load too" not in it]
    return line


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        ("rnu fanout", "did you mean run?"),
        ("run fanot", "did you mean fanout?"),
        ("run fanout --variants sqlite-outbx-setbased", "did you mean outbox"),
        ("run fanout --variants mysql_tund-outbox-ring", "did you mean mysql_tuned"),
        ("run fanout --variants sqlite-task-bulk@rabitmq", "did you mean rabbitmq?"),
        ("run faults --variants sqlite-pull@ungarded", "did you mean unguarded?"),
        ("run activity --variants mysql_tuned-as_fund", "did you mean as_found"),
        ("run browse --variants sqlite-countr", "did you mean sqlite-counter"),
        ("run export --variants mysql_tuned-ontime", "'mysql_tuned-ontime' is "),
        ("run signup --variants sqlite-argn2", "did you mean argon2?"),
        ("run published-003 --variants author_defult", "did you mean author_default"),
        ("run faults --loads redis-emptid", "did you mean redis-emptied"),
        ("run fanout --variants sqlite-pull --graph rng", "did you mean ring?"),
        ("up sqlite-inline-bluk", "did you mean bulk?"),
        ("bench --stores rng", "did you mean ring?"),
    ],
)
def test_the_name_that_was_probably_meant_is_told(arguments, meant, capsys):
    assert meant in refused(capsys, *arguments.split())


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        ("run fanout --run-time soon", "write it like 20s or 2m"),
        ("run fanout --run-time 0s", "write it like 20s or 2m"),
        ("run fanout --run-time -5s", "expected one argument"),
        ("run fanout --drain-within 2h", "write it like 20s or 2m"),
        ("run fanout --users 0", "'0' is not a whole number of 1 or more"),
        ("bench --seconds 0", "'0' is not a number above 0"),
        ("run fanout --repeat 1.5", "'1.5' is not a whole number of 1 or more"),
        ("run fanout --friends x", "'x' is not a whole number of 0 or more"),
        ("run fanout --variants=", "'' is none of sqlite, "),
        ("run published --variants=", "belong to one experiment"),
        ("run published --variants=balancer", "published-001"),
        ("run fanout --variants target", "--tokens"),
        ("run fanout --limit-p99-ms=5", "fanout has no --limit-p99-ms"),
        ("run fanout --pids web", "is not like web=12,redis=34"),
        ("run fanout --variants sqlite-pull --friends 1000", "must be below --people 1000"),
        (
            "run fanout --variants sqlite-pull --people 20 --friends 5 --largest 20",
            "below --people",
        ),
        ("run fanout --variants sqlite-pull --people 21 --friends 5", "--friends 4 is possible"),
        ("up sqlite-pull --people 20 --friends 20", "--people 21 or more is enough"),
        ("up sqlite-pull --port 70000", "from 1 to 65,535"),
        ("live --people 20 --friends 20", "--people 21 or more is enough"),
        ("live --people 20 --friends 0", "--friends 0 must be at least 2"),
        ("bench --people=5 --friends=5", "fewer than --people"),
        ("bench --friends 0", "'0' is not a whole number of 1 or more"),
        ("advise --people 50 --friends 9 --posts-per-s 5 --reads-per-post x", "like 20 or 0.5"),
        ("report /nowhere", "there are no results in /nowhere"),
        ("compare /nowhere /nowhere", "there are no results in /nowhere"),
    ],
)
def test_an_impossible_argument_is_refused_with_what_is_possible(arguments, advice, capsys):
    assert advice in refused(capsys, *arguments.split())


def test_a_folder_that_cannot_be_made_is_refused(tmp_path, capsys):
    file = tmp_path / "file"
    file.touch()
    run = ("run", "fanout", "--variants=sqlite-pull")

    assert f"{file}/out can't be used" in failed(capsys, *run, f"--out={file}/out")
    assert f"{file} can't be used" in failed(capsys, "bench", f"--out={file}")
    assert f"{file} can't be used" in failed(capsys, "up", "sqlite-pull", f"--tokens={file}/t.csv")


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENOSPC, "no space is left on the disk of /results: remove something there"),
        (errno.EROFS, "/results can't be used (Read-only file system): choose another"),
        (errno.EACCES, "/results can't be used (Permission denied): choose another"),
    ],
)
def test_what_is_wrong_with_a_disk_is_one_line(number, advice):
    assert as_line(OSError(number, os.strerror(number), "/results")).startswith(advice)


def test_a_disk_that_becomes_full_meanwhile_is_one_line(tmp_path, monkeypatch, capsys):
    def fill(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device", "/results/result.json")

    monkeypatch.setattr("lab.__main__.run_matrix", fill)

    line = failed(capsys, "run", "fanout", "--variants=sqlite-pull", f"--out={tmp_path}")
    assert line.startswith("no space is left on the disk of /results/result.json: ")


def test_a_disk_that_is_nearly_full_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(machine.psutil, "disk_usage", lambda _: SimpleNamespace(free=200 * 2**20))

    line = failed(capsys, "run", "fanout", "--variants=sqlite-pull", f"--out={tmp_path}")

    assert line.startswith(f"only 200 MiB on the disk of {tmp_path} are left")
    assert "choose another disk" in line
    assert not list(tmp_path.iterdir())


def interrupt(*arguments, **options):
    raise KeyboardInterrupt


@pytest.mark.parametrize("command", ["run fanout --variants=sqlite-pull", "bench --stores=ring"])
def test_a_second_run_into_a_folder_is_refused_while_the_first_one_runs(
    command, tmp_path, monkeypatch, capsys
):
    lines = []

    def try_the_second(*arguments):
        monkeypatch.setattr("lab.__main__.run_matrix", interrupt)
        monkeypatch.setattr("lab.__main__.bench", interrupt)
        lines.append(failed(capsys, *command.split(), f"--out={tmp_path}"))
        raise KeyboardInterrupt

    monkeypatch.setattr("lab.__main__.run_matrix", try_the_second)

    assert main(["run", "fanout", "--variants=sqlite-null", f"--out={tmp_path}"]) == 130
    assert lines == [f"another run writes into {tmp_path}: choose another --out DIR"]
    assert not list(tmp_path.iterdir())


def test_a_run_beside_another_one_is_told_that_its_figures_are_not_sound(
    tmp_path, monkeypatch, capsys
):
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab/__main__.py").write_text("print(flush=True), input()")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    monkeypatch.setattr("lab.running.matrix.run_in_rounds", interrupt)

    with subprocess.Popen(
        [sys.executable, "-m", "lab", "run", "fanout"], cwd=tmp_path, **pipes
    ) as other:
        other.stdout.readline()
        with contextlib.suppress(SystemExit):  # no results
            main(["run", "fanout", "--variants=sqlite-pull", f"--out={tmp_path / 'out'}"])
        other.communicate(b"\n")

    told = capsys.readouterr().err
    assert f"lab run (pid {other.pid}) makes load too: figures of both won't be sound" in told
    assert "fanout: 1 run, about 1 min" in told


def test_what_a_name_can_say_is_listed(capsys):
    main(["list", "--all"])

    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    shown = {words[0]: words[1] for words in lines if len(words) > 1}
    assert {"inline", "outbox", "ring", "setbased", "granian", "clusterN"} <= shown.keys()


def test_ten_variants_with_a_line_each_are_enough_to_begin_with(capsys):
    main(["list"])

    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("  ") for line in lines) == len(FIRST) == 10
    assert all(Variant.named(name).name == name for name in FIRST)


def test_a_missing_server_is_told_before_anything_starts(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("launch.servers.base.find_binary", lambda *names: None)
    monkeypatch.setattr("launch.servers.base.docker_answers", lambda: False)
    variants = "--variants=sqlite-pull,mysql_tuned-outbox-ring"

    line = failed(capsys, "run", "fanout", variants, f"--out={tmp_path / 'out'}")

    assert line.startswith("mysql_tuned-outbox-ring can't run here: ")
    assert "is not installed: make servers, or apt-get install mariadb-server" in line
    assert not (tmp_path / "out").exists()


def test_containers_without_an_engine_are_refused_before_anything_starts(monkeypatch, capsys):
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")

    line = failed(capsys, "up", "mysql_tuned-outbox-ring", "--servers=docker")

    assert "no Docker engine answers (docker info): start one, or " in line


def test_external_servers_that_are_not_named_are_refused(monkeypatch, capsys):
    monkeypatch.delenv("DATABASE_URL", raising=False)

    line = failed(capsys, "up", "mysql_tuned-inline-bulk", "--servers=external")

    assert "needs DATABASE_URL=mysql://" in line


def test_a_service_that_does_not_start_is_one_line(monkeypatch):
    """In a process of its own: the backends are asked once per process."""
    done = python("-m", "lab", "up", "sqlite-pull", WEB_SERVER="nowhere")

    assert done.returncode == 1
    assert "the service doesn't start: " in only_line(done.stderr)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_of_a_command_are_shown_and_can_be_parsed(name, capsys):
    top = parser(COMMANDS, None)
    with pytest.raises(SystemExit):
        top.parse_args([name, "--help"])
    shown = capsys.readouterr().out

    assert COMMANDS[name].examples
    for example in COMMANDS[name].examples:
        assert f"python -m lab {example}" in shown
        options = top.parse_args(example.split())
        for variant in (getattr(options, "variants", None) or "").split(","):
            assert not variant or Variant.named(variant)


def test_every_option_is_explained():
    top = parser(COMMANDS, None)
    commands = next(it.choices for it in top._actions if it.choices)

    unexplained = [
        (name, action.dest)
        for name, it in commands.items()
        for action in it._actions
        if not action.help
    ]
    assert unexplained == []


def test_the_page_is_printed_as_an_address_on_one_line(tmp_path, capfd):
    folder = tmp_path / ("long " * 20)
    result().write(folder / "1")

    assert main(["report", str(folder)]) == 0

    assert f"the page: {(folder / 'report.html').as_uri()}\n" in capfd.readouterr().err
