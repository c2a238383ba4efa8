import re
from dataclasses import replace
from pathlib import Path

import pytest

from lab.experiments import EXPERIMENTS
from launch.variants import PARTS, UnknownVariant, Variant


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=lambda e: e.name)
def test_every_variant_of_an_experiment_can_be_parsed_from_its_name(experiment):
    for name in experiment.variants:
        assert experiment.variant(name).name == name


def test_a_name_becomes_environment_variables():
    assert Variant.named("sqlite-outbox-bulk").environment == {
        "WEB_SERVER": "gunicorn",
        "FEED_STRATEGY": "outbox",
        "FEED_TIMELINE_STORE": "bulk",
    }


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("sqlite-pull", {"strategy": "inline", "store": "pull", "uses_redis": False}),
        ("sqlite-null", {"strategy": "null", "store": "setbased", "delivers": False}),
        ("sqlite-inline-setbased", {"drains": False, "broker": None}),
        ("sqlite-outbox-setbased", {"drains": True, "broker": None, "uses_redis": False}),
        ("sqlite-outbox-setbased@redis", {"broker": None, "uses_redis": True}),
        ("sqlite-task-setbased", {"broker": "redis", "uses_redis": True}),
        ("sqlite-task-setbased@rabbitmq", {"broker": "rabbitmq", "uses_redis": False}),
        ("sqlite-task-setbased@huey", {"broker": "redis", "queue": "huey"}),
        ("sqlite-task-setbased@dramatiq+rabbitmq", {"broker": "rabbitmq", "queue": "dramatiq"}),
        (
            "sqlite-task-setbased@django_tasks+redis",
            {"broker": "database", "queue": "django_tasks", "caches": True, "uses_redis": True},
        ),
        ("sqlite-outbox_celery-ring", {"strategy": "outbox_queue", "queue": "celery"}),
        ("sqlite-outbox-ring", {"primaries": 0, "keeps_timelines_in_one_redis": True}),
        (
            "sqlite-task-ring@rabbitmq+cluster3",
            {"broker": "rabbitmq", "primaries": 3, "keeps_timelines_in_one_redis": False},
        ),
        ("sqlite-task-log@cluster12", {"broker": "redis", "primaries": 12}),
        ("mysql_tuned-outbox-ring@cluster3+hosts", {"primaries": 3, "on_hosts": True}),
        ("sqlite-outbox-setbased@granian", {"server": "granian", "is_proxied": False}),
        ("sqlite-outbox-setbased@proxy", {"server": "gunicorn", "is_proxied": True}),
    ],
)
def test_a_name_tells_what_a_variant_needs(name, fields):
    variant = Variant.named(name)

    assert variant.name == name
    assert {field: getattr(variant, field) for field in fields} == fields


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("sqlite-task-bulk@kafka", "'kafka' is none of granian, proxy, stream, redis"),
        ("sqlite-task-bulk@rabbitmq+", "'' is none of granian"),
        ("sqlite-outbox-bulk@", "'' is none of granian"),
        ("sqlite-outbox-bulk@redis9", "did you mean redis?"),
        ("sqlite-inline-bulk@huey", "the strategy 'inline' has no queue"),
        ("sqlite-task-bulk@huey+rabbitmq", "the queue 'huey' keeps its messages in redis"),
        ("sqlite-task-bulk@django_tasks+rabbitmq", "keeps its messages in the database"),
        ("mysql_tuned-task-bulk@procrastinate", "the queue 'procrastinate' needs PostgreSQL"),
        ("sqlite-inline-bulk@rabbitmq", "the strategy 'inline' has no queue"),
        ("sqlite-inline-bulk@drainers2", "no drainer delivers for 'inline' and 'bulk'"),
        ("sqlite-outbox-ring@cluster0", "did you mean clusterN?"),
        ("sqlite-outbox-setbased@cluster3", "isn't in Redis, so it has no cluster"),
        ("sqlite-outbox-setbased@hosts", "can't have hosts"),
        ("mysql_asis-outbox-setbased@hosts", "can't have hosts"),
        ("mysql_tuned-task-ring@rabbitmq+hosts", "can't have hosts"),
        ("oracle-inline-bulk", "'oracle' is none of sqlite, "),
        ("sqlite-later-bulk", "'later' is none of inline, "),
        ("sqlite-inline-paper", "'paper' is none of rowwise, "),
        ("sqlite", "'' is none of inline, "),
    ],
)
def test_a_wrong_part_is_named(name, reason):
    with pytest.raises(UnknownVariant, match=re.escape(reason)):
        Variant.named(name)


def test_parts_are_added_in_any_order():
    names = [
        "mysql_tuned-outbox-ring@drainers3+pulls50+cluster2",
        "mysql_tuned-outbox-ring@cluster2+pulls50+drainers3",
    ]
    one, other = map(Variant.named, names)

    assert replace(one, name=other.name) == other
    assert (one.workers, one.settings) == (("drain", "drain"), {"FEED_PULL_ABOVE": "50"})


def test_the_page_lists_all_parts():
    page = Path("docs/reference/commands.md").read_text()

    for name, part in PARTS.items():
        assert f"| `{name}` | {part.text} |" in page
