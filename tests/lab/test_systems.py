"""Services that aren't ours: measured and audited through their API alone."""

import re
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab.__main__ import main
from lab.experiments import fanout
from lab.progress import stage
from lab.systems import variants
from lab.systems.api import Api, Person
from lab.systems.audit import FeedAudit, Journal, Post
from lab.systems.conclusion import _until
from lab.systems.service import TargetService
from lab.systems.variants import TARGET, adapters, check_host
from launch.processes import Processes, RunFailed, free_port
from launch.service import Seed, Service, as_audit
from tests.answering import running
from tests.lab.planted import target as planted
from tests.lab.runs import run
from tests.lab.test_report import result

PEOPLE, REACH = 40, 10
RING = [
    (1 + it, 1 + (it + step) % PEOPLE)
    for it in range(PEOPLE)
    for step in range(-REACH, REACH + 1)
    if step
]
POSTS = 3 * PEOPLE
"""2,520 deliveries, of which a planted fault hits two."""
SMALL = ["--users=20", "--run-time=2s"]


@contextmanager
def serving(fault=""):
    """A target in this process with its people; yields it, its API and them."""
    people = [Person(it, f"token-{it}") for it in range(1, 1 + PEOPLE)]
    target = planted.Target({it.token: it.id for it in people}, RING, fault)
    with running(target):
        yield target, Api(f"http://127.0.0.1:{target.server_port}"), people


def audited(fault, unknown_outcomes=0):
    """Post to a target with a fault, read each feed once, and return the audit."""
    with serving(fault) as (target, api, people):
        posts = [target.publish(1 + number % PEOPLE) for number in range(POSTS)]
        friends = {it.id: api.authors(it) for it in people}
        journal = Journal(Post(it["id"], it["author"]) for it in posts)
        audit = FeedAudit(api, people, friends, journal)
        next(audit.read_all())
        return as_audit(audit.counts(unknown_outcomes))


def test_right_feeds_are_clean():
    assert audited("") == {
        "posts": POSTS,
        "expected": POSTS * (2 * REACH + 1),
        "missing": 0,
        "duplicated": 0,
        "unexpected": 0,
        "merged": 0,
        "ok": True,
    }


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("drop", "missing"),
        ("duplicate", "duplicated"),
        ("stranger", "unexpected"),
        ("phantom", "unexpected"),
        ("forgery", "unexpected"),
    ],
)
def test_one_wrong_delivery_of_a_thousand_is_found(fault, kind):
    found = audited(fault)

    assert found[kind] == 2
    assert not found["ok"]


def test_a_post_whose_request_failed_may_show_or_not():
    assert audited("phantom", unknown_outcomes=2)["ok"]


def test_a_late_delivery_is_waited_for():
    with serving("drop") as (target, api, people):
        target.fault = ""
        post = target.publish(1)
        late = target.feeds[2].pop()
        friends = {it.id: api.authors(it) for it in people}
        audit = FeedAudit(api, people, friends, Journal([Post(post["id"], 1)]))

        rounds = audit.await_newest()
        assert next(rounds) == 1
        assert not audit.complete_at
        target.feeds[2].append(late)

        assert list(rounds) == [0]
        assert audit.complete_at


def test_how_much_is_missing_and_how_long_it_is_waited_for_is_told(monkeypatch, capsys):
    monkeypatch.setattr("lab.progress.SAY_EVERY_S", 0, raising=False)
    with serving() as (target, api, people), stage("drain") as advance:
        post = target.publish(1)
        target.feeds[2].clear()
        friends = {it.id: api.authors(it) for it in people}
        audit = FeedAudit(api, people, friends, Journal([Post(post["id"], 1)]))

        assert _until(time.monotonic() + 2, audit.await_newest(), advance) == 1

    assert capsys.readouterr().err.endswith("  1 feeds lack posts; given up in 0 s\n")


def test_a_closed_port_is_told_with_what_to_do():
    api = Api(f"http://127.0.0.1:{free_port()}")

    with pytest.raises(RunFailed) as failed:
        api.authors(Person(1, "token"))

    assert str(failed.value) == (
        f"{api.url}, person 1: no answer ([Errno 111] Connection refused): is the service up, and "
        "its address right?"
    )


def test_two_accepted_posts_with_one_id_cannot_be_audited():
    with pytest.raises(RunFailed, match="the id 7"):
        Journal([Post(7, 1), Post(7, 2)])


def test_a_feed_that_never_ends_is_no_feed():
    with serving() as (target, api, people):
        target.publish(1)
        target.page = lambda owner, before, limit: {
            "posts": target.feeds[owner][:1],
            "next": "again",
        }

        with pytest.raises(RunFailed, match="leads nowhere"):
            list(api.feed(people[0]))


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000", "http://localhost:1", "http://[::1]:1"])
def test_this_machine_may_be_put_under_load(url):
    check_host(url, may=False)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org",
        "http://127.0.0.1.example.org",
        "http://127.0.0.1@example.org/",
        "http://10.0.0.1",
        "http://0.0.0.0.example.org",
        "https://localhost.example.org",
    ],
)
def test_others_may_not_without_consent(url, tmp_path, capsys):
    arguments = [f"--target={url}", f"--tokens={tmp_path}/tokens.csv", f"--out={tmp_path}/out"]

    with pytest.raises(SystemExit) as ended:
        main(["run", "fanout", *arguments])

    assert ended.value.code == 2
    assert "an attack" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    check_host(url, may=True)


@pytest.mark.parametrize(
    ("names", "times"), [([TARGET], 0), (["sqlite-pull"], 4), ([TARGET, "sqlite-pull"], 4)]
)
def test_published_figures_do_not_stand_beside_somebody_elses_service(
    names, times, tmp_path, capsys
):
    for name in names:
        result(name).write(tmp_path / name)

    assert main(["report", str(tmp_path)]) == 0

    assert capsys.readouterr().out.count("published: ") == times
    assert (tmp_path / "report.md").read_text().count("| published: ") == times
    assert ("published: " in (tmp_path / "report.html").read_text()) == bool(times)


def test_the_laboratory_makes_the_friendships_of_a_target_that_has_none(tmp_path):
    with serving() as (target, api, people), Processes(tmp_path / "logs") as processes:
        target.friends.clear()
        tokens = tmp_path / "tokens.csv"
        rows = "".join(f"{it.id},{it.token}\n" for it in people)
        tokens.write_text(f"person_id,token\n{rows}")
        variant = fanout.variant(TARGET)
        service = TargetService(variant.at(api.url, tokens), processes, tmp_path)
        with pytest.raises(RunFailed, match="no friends"):
            service.prepare(Seed())

        service.variant = variant.at(api.url, tokens, befriends=True)
        service.prepare(Seed(friends=4))

        assert target.friends[1] == {2, 3, PEOPLE - 1, PEOPLE}


def test_our_service_is_clean_from_outside(tmp_path):
    """The load runs against a service that was started apart, and its CPU is measured by pid."""
    with Processes(tmp_path / "logs") as processes:
        variant = fanout.variant("sqlite-outbox-setbased")
        service = Service(variant, processes, tmp_path)
        service.prepare(Seed(people=100, friends=20))
        service.start()
        (web,), (drainer,) = processes.pids("web"), processes.pids("workers")
        where = (f"--target={service.url}", f"--tokens={service.tokens}")
        pids = f"--pids=web={web},workers={drainer}"
        done = run(tmp_path / "out", "fanout", *where, pids, *SMALL)

    result = done.result
    assert done.is_clean
    assert result["errors"] == []
    assert result["audit"]["ok"]
    assert result["audit"]["expected"] == 21 * result["audit"]["posts"] > 0
    assert result["drain_s"] < 60
    assert result["cpu_s"]["web"] > 0
    assert result["cpu_s"]["workers"] > 0
    assert result["deliveries"] is None
    assert f"--target {service.url}" in result["environment"]["command"]


@pytest.fixture
def adapter(tmp_path, monkeypatch):
    """A folder with the planted target as an adapter, which drops one delivery of a thousand."""
    folder = tmp_path / "others/planted"
    folder.mkdir(parents=True)
    (folder / "adapter.toml").write_text(
        'servers = []\npackages = ["urllib3"]\nseed = ["-c", "pass"]\nworkers = []\n'
        'web = ["-m", "tests.lab.planted.target"]\n'
    )
    (folder / "tests").symlink_to(Path("tests").resolve())
    monkeypatch.setattr(variants, "ADAPTERS", folder.parent)
    monkeypatch.setenv("FAULT", "drop")
    return folder


def test_an_adapter_is_found_by_its_folder_and_its_drops_by_the_audit(adapter, tmp_path):
    few = ("--people=100", "--friends=60", *SMALL, "--drain-within=2s")

    done = run(tmp_path / "out", "fanout", "--variants=planted", *few)

    result = done.result
    assert list(adapters()) == ["planted"]
    assert done.status == 1
    assert result["audit"]["missing"] == result["audit"]["expected"] // 1000 > 0
    assert (result["audit"]["duplicated"], result["audit"]["unexpected"]) == (0, 0)
    (error,) = result["errors"]
    feeds = int(re.fullmatch(r"not drained within 2 s: (\d+) feeds", error)[1])
    assert 0 < feeds <= result["audit"]["missing"]  # a feed may lack several
    assert result["environment"]["servers"]["web"].startswith("urllib3")
    assert result["memory_mib"]["web"] > 0  # its CPU may be less than a tick of the clock
