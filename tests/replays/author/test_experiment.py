"""The published author's code as a variant: all but the code itself, which CI doesn't fetch."""

import json
import sqlite3
import subprocess
from contextlib import closing
from itertools import chain, repeat
from types import SimpleNamespace

import pytest
from redis import Redis

from lab.__main__ import main
from lab.results.laws import balance_of
from lab.results.requests import read_requests
from lab.results.result import Result
from lab.running.load import Load
from lab.running.single_run import service_for
from lab.systems import pythons
from launch.processes import Processes, RunFailed
from launch.servers import MySQL, servers_for
from launch.service import Service
from launch.variants import UnknownVariant
from replays.author import source
from replays.author.audit import audit
from replays.author.effects import effects
from replays.author.factors import FACTORS, FACTORS_OF_OURS
from replays.author.service import TOKENS, AuthorService
from replays.author.variants import CROSSED, STEPS, Crossing, named
from tests.answering import standing_in
from tests.locustfiles.load import Run

NOWHERE = "/nowhere/at-all"
TAGS = [f"{number:032x}" for number in range(3)]
TABLES = (
    "CREATE TABLE post_post (id INTEGER PRIMARY KEY, content VARCHAR(2000))",
    "CREATE TABLE feed_personrelation (person INTEGER, related_person INTEGER)",
    "CREATE TABLE feed_feedrecord (owner INTEGER, content VARCHAR(2000))",
    "INSERT INTO feed_personrelation VALUES (1, 2), (1, 3), (4, 5)",
)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(pythons, "CACHE", tmp_path / "cache")
    return tmp_path / "cache"


@pytest.fixture
def repository(tmp_path):
    """A folder with one commit; returns it and the commit."""
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "code.py").write_text("first = True\n")
    who = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")
    for arguments in (("init", "-q"), ("add", "."), (*who, "commit", "-q", "-m", "First")):
        subprocess.run(("git", "-C", folder, *arguments), check=True)
    head = ("git", "-C", folder, "rev-parse", "HEAD")
    return folder, subprocess.run(head, capture_output=True, check=True, text=True).stdout.strip()


def test_the_code_is_fetched_once_also_after_a_failure(repository, cache, monkeypatch):
    folder, commit = repository
    monkeypatch.setenv(source.ADDRESS, NOWHERE)
    with pytest.raises(RunFailed, match=rf"{NOWHERE}.* can't be had: ") as failed:
        source.fetched(commit)
    assert "\n" not in str(failed.value)
    monkeypatch.setenv(source.ADDRESS, str(folder))

    code = source.fetched(commit)
    monkeypatch.setenv(source.ADDRESS, NOWHERE)

    assert (code / "code.py").read_text() == "first = True\n"
    assert source.fetched(commit) == code


def test_without_the_code_its_variants_fail_one_by_one(cache, monkeypatch):
    monkeypatch.setenv(source.ADDRESS, NOWHERE)
    monkeypatch.setenv("LAB_MYSQL", "mariadb")  # make test installs no MySQL 9

    status = main(
        ["run", "factors", "--variants=author_sqlite,author_celery", f"--out={cache / 'out'}"]
    )

    results = [json.loads(path.read_text()) for path in cache.glob("out/*/result.json")]
    assert status == 1
    assert len(results) == 2
    for result in results:
        (error,) = result["errors"]
        assert NOWHERE in error
        assert "\n" not in error


def test_levels_of_all_factors_are_fully_crossed():
    assert len(set(CROSSED)) == 16
    assert all(Crossing.parse(str(crossing)) == crossing for crossing in CROSSED)
    for experiment in (FACTORS, FACTORS_OF_OURS):
        assert len(experiment.variants) == 16


def test_factors_reach_the_server_and_the_code():
    name = "_c1000_b128_f2_nodebug"
    author, ours = named(f"author{name}"), named(f"rowwise{name}")

    assert (author.debug, ours.settings) == (False, {"DEBUG": "0"})
    assert author.database.options == ours.database.options
    assert "--max-connections=1000" in author.database.options
    assert (service_for(author), service_for(ours)) == (AuthorService, Service)


@pytest.mark.parametrize("name", ["author", "author_c1_b2_f9_debug", "bulk_c150_b128_f1_debug"])
def test_an_unknown_name_is_refused(name):
    with pytest.raises(UnknownVariant, match=r"author_sqlite|author_c"):
        named(name)


def test_the_authors_runs_must_finish_but_need_not_be_clean():
    lossy = {"ok": False, "missing": 9}

    assert all(step.expects(lossy) and not step.expects(None) for step in STEPS.values())


def test_options_for_containers_are_refused(tmp_path):
    with pytest.raises(RunFailed, match="docker has no --max-connections=150"):
        servers_for(STEPS["author_default"], "docker", Processes(tmp_path), tmp_path)


@pytest.fixture(scope="module")
def mysql(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mysql")
    with Processes(folder / "logs") as processes:
        server = mysql_with(processes, folder, "--max-connections=40")
        server.start()
        with server.connect() as connection:
            connection.select_db("feed")
            yield connection


def mysql_with(processes, folder, *options):
    return MySQL(processes, folder / "mysql", "local", profile="default.cnf", options=options)


@pytest.fixture
def sqlite():
    with closing(sqlite3.connect(":memory:")) as connection:
        yield connection


@pytest.fixture(params=["sqlite", "mysql"])
def database(request):
    """An empty database with the author's tables: person 1 is a friend of 2 and 3."""
    connection = request.getfixturevalue(request.param)
    cursor = connection.cursor()
    for table in ("post_post", "feed_personrelation", "feed_feedrecord"):
        cursor.execute(f"DROP TABLE IF EXISTS {table}")
    for statement in TABLES:
        cursor.execute(statement)
    return connection


def deliver(connection, *entries, posts=TAGS):
    cursor = connection.cursor()
    for number, tag in enumerate(posts, start=1):
        cursor.execute(f"INSERT INTO post_post VALUES ({number}, 'words {tag}')")
    for owner, tag in entries:
        cursor.execute(f"INSERT INTO feed_feedrecord VALUES ({owner}, 'words {tag}')")


def findings(counts):
    return counts["expected"], counts["missing"], counts["duplicated"], counts["unexpected"]


def test_a_single_delivery_to_each_owner_is_clean(database):
    deliver(database, *((owner, tag) for owner in (1, 2, 3) for tag in TAGS))

    assert findings(audit(database, {*TAGS})) == (9, 0, 0, 0)


def test_planted_losses_and_duplicates_are_found(database):
    """One entry is duplicated, two of the first post's are missing, one is of no friend."""
    lost, kept, _ = TAGS
    entries = [(1, lost), *((owner, kept) for owner in (1, 2, 3, 3, 4))]
    deliver(database, *entries)

    assert findings(audit(database, {lost, kept})) == (6, 2, 1, 1)


def test_a_post_that_failed_for_its_client_may_be_in_a_feed_or_not(database):
    deliver(database, (1, TAGS[0]))

    assert findings(audit(database, set())) == (0, 0, 0, 0)


def test_an_accepted_post_that_the_database_lost_is_missing_everywhere(database):
    deliver(database, posts=())

    assert findings(audit(database, {TAGS[0]})) == (3, 3, 0, 0)


def test_planted_losses_in_redis_are_found(database, redis_url):
    with Redis.from_url(redis_url) as feeds:
        feeds.flushdb()
        deliver(database)
        for owner in (1, 2, 3):
            feeds.zadd(f"feed_{owner}", {1: 0, 2: 0})
        feeds.zrem("feed_3", 2)
        feeds.zadd("feed_2", {77: 0})

        assert findings(audit(database, {*TAGS[:2]}, feeds)) == (6, 1, 0, 1)


def test_a_server_with_other_options_is_refused(tmp_path):
    """With a low limit of open files MySQL lowers max_connections, and only logs it."""
    with Processes(tmp_path / "logs") as processes:
        server = mysql_with(processes, tmp_path, "--max-connections=200000")
        with pytest.raises(RunFailed, match=r"max_connections is \d+, not 200000"):
            server.start()


def test_the_largest_effect_comes_first():
    """Success depends on the connections, and a little on DEBUG with few of them."""
    runs = [
        (1, crossing, 0.9 if crossing.max_connections == 1000 else 0.3 - 0.1 * crossing.debug)
        for crossing in CROSSED
    ]

    first, second, *others = effects(runs, "success")

    assert (first.factor, second.factor) == ("max_connections", "debug")
    assert str(first) == (
        "max_connections 150 → 1000: +65.0 points of success on average of 8 pairs that differ in "
        "nothing else (+60.0 … +70.0)."
    )
    assert str(second).startswith("DEBUG on → off: +5.0 points")
    assert [other.mean for other in others] == [0, 0]


def test_effects_are_computed_within_each_repeat():
    few, many = Crossing(150, 128, 1, True), Crossing(1000, 128, 1, True)
    runs = [(1, few, 0.2), (1, many, 0.9), (2, few, 0.1), (2, many, 0.9)]

    (effect,) = effects(runs, "success")

    assert str(effect).endswith("by repeat +70.0 … +80.0 (2 repeats).")


def ran(variant, failures):
    return Result(
        *("factors", variant, 1, "2026-01-01T00:00:00+00:00", {}, 200.0),
        requests=100,
        failures=failures,
        audit={"ok": False},
    )


def verdict_of(results):
    presentation = FACTORS.presentation
    return presentation.verdict(presentation.summaries(results, FACTORS.variant))


def test_the_authors_code_is_not_compared_with_ours():
    one, other = ran(f"author_{CROSSED[0]}", 80), ran("rowwise_c1000_b128_f1_debug", 0)
    same = ran("author_c1000_b128_f1_debug", 20)
    verdict = verdict_of([one, other, same])

    assert verdict_of([one, other]).startswith("No two runs")
    assert "max_connections 150 → 1000: +60.0 points of success (author)" in verdict
    assert "rowwise" not in verdict


def test_after_a_failure_there_is_no_pause(tmp_path):
    """With pauses of a minute there is no seventh request."""
    options = ("--arrivals=checked", "--users=1", "--pace-s=60", "--exit-code-on-error=0")
    statuses = chain([500] * 5, repeat(201))
    tokens = tmp_path / "tokens.csv"
    tokens.write_text(TOKENS)

    with standing_in(lambda *_: (next(statuses), {})) as url:
        service = SimpleNamespace(url=url, tokens=tokens)
        done = Run(service, tmp_path, *options, file="replays/author/locustfile.py", seconds=5)

    assert [row["status_code"] for row in done.rows("requests.csv")] == ["500"] * 5 + ["201"]
    assert len(done.rows("accepted.csv")) == 1


def test_sizes_of_failures_and_pauses_after_successes_are_counted(tmp_path):
    header = "timestamp,request_type,name,response_time_ms,response_length,status_code,exception"
    rows = ("100.0,POST,/v1/posts/,500,308000,0,status 500", "101.0,POST,/v1/posts/,500,99,201,")
    (tmp_path / "requests.csv").write_text("\n".join((header, *rows)))
    (tmp_path / "unanswered.csv").write_text("timestamp,request_type,name,waited_ms\n")
    load = Load(1, 10, "replays/author/locustfile.py", arrivals="checked", warm_up_s=0)

    requests = read_requests(tmp_path, load)

    assert [request.length for request in requests.counted] == [308000, 99]
    assert balance_of(requests, load, None).cycle_s == 1.0  # 0.5 s, and 0.5 s with a pause of 1 s
