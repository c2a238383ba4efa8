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


def test_any_combination_can_be_named():
    variant = Variant.named("sqlite-outbox-bulk")

    assert variant.environment == {
        "WEB_SERVER": "gunicorn",
        "FEED_STRATEGY": "outbox",
        "FEED_TIMELINE_STORE": "bulk",
    }
    assert variant.drains


@pytest.mark.parametrize(
    ("name", "strategy", "store"),
    [("sqlite-pull", "inline", "pull"), ("sqlite-null", "null", "setbased")],
)
def test_short_names_are_expanded(name, strategy, store):
    variant = Variant.named(name)

    assert (variant.strategy, variant.store) == (strategy, store)


@pytest.mark.parametrize(
    ("name", "broker", "redis"),
    [
        ("sqlite-task-setbased", "redis", True),
        ("sqlite-task-setbased@rabbitmq", "rabbitmq", False),
        ("sqlite-task-ring@rabbitmq", "rabbitmq", True),
        ("sqlite-outbox-setbased", None, False),
        ("sqlite-outbox-setbased@redis", None, True),
        ("sqlite-pull@redis", None, True),
    ],
)
def test_a_name_tells_the_broker_and_whether_there_is_a_redis(name, broker, redis):
    variant = Variant.named(name)

    assert (variant.broker, variant.uses_redis) == (broker, redis)


@pytest.mark.parametrize(
    ("name", "broker", "primaries"),
    [
        ("mysql_tuned-outbox-ring@cluster3", None, 3),
        ("sqlite-task-log@cluster12", "redis", 12),
        ("sqlite-task-ring@rabbitmq+cluster3", "rabbitmq", 3),
        ("mysql_tuned-outbox-ring@cluster3+hosts", None, 3),
        ("mysql_tuned-task-ring@redis+cluster3+hosts", "redis", 3),
        ("sqlite-outbox-ring", None, 0),
    ],
)
def test_a_name_tells_the_primaries_of_a_cluster(name, broker, primaries):
    variant = Variant.named(name)

    assert (variant.name, variant.broker, variant.primaries) == (name, broker, primaries)
    assert variant.uses_redis  # the cache's, or the broker's
    assert variant.keeps_timelines_in_one_redis == (primaries == 0)


@pytest.mark.parametrize(
    "name",
    ["sqlite-outbox-setbased@cluster3", "sqlite-outbox-ring@cluster0", "sqlite-pull@cluster3"],
)
def test_a_cluster_needs_a_store_in_redis_and_a_primary(name):
    with pytest.raises(UnknownVariant, match=name.partition("@")[0]):
        Variant.named(name)


@pytest.mark.parametrize(
    ("name", "server", "is_proxied", "primaries"),
    [
        ("sqlite-outbox-setbased", "gunicorn", False, 0),
        ("sqlite-outbox-setbased@granian", "granian", False, 0),
        ("sqlite-outbox-setbased@proxy", "gunicorn", True, 0),
        ("mysql_tuned-outbox-ring@cluster3+granian+proxy", "granian", True, 3),
    ],
)
def test_a_name_tells_the_app_server_and_the_proxy(name, server, is_proxied, primaries):
    variant = Variant.named(name)

    assert (variant.name, variant.server) == (name, server)
    assert (variant.is_proxied, variant.primaries) == (is_proxied, primaries)
    assert variant.environment["WEB_SERVER"] == server


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("sqlite-task-bulk@kafka", "'kafka' is none of granian, proxy, redis"),
        ("sqlite-task-bulk@rabbitmq+", "'' is none of granian"),
        ("sqlite-outbox-bulk@", "'' is none of granian"),
        ("sqlite-outbox-bulk@redis9", "did you mean redis?"),
        ("sqlite-inline-bulk@rabbitmq", "the strategy 'inline' has no broker"),
        ("sqlite-inline-bulk@drainers2", "no drainer delivers for 'inline' and 'bulk'"),
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


@pytest.mark.parametrize(
    "name", ["", "sqlite", "oracle-inline-bulk", "sqlite-later-bulk", "sqlite-inline-paper"]
)
def test_an_unknown_name_is_refused_with_the_known_ones(name):
    with pytest.raises(UnknownVariant, match=r"none of (sqlite|inline|rowwise), "):
        Variant.named(name)


@pytest.mark.parametrize(
    ("name", "clean"),
    [
        ("sqlite-inline-bulk", True),
        ("sqlite-pull", True),
        ("sqlite-null", False),
        ("sqlite_per_server-inline-bulk", False),
    ],
)
def test_losses_by_design_are_known(name, clean):
    assert Variant.named(name).should_be_clean == clean


@pytest.mark.parametrize(
    "name",
    [
        "sqlite-outbox-setbased@hosts",
        "mysql_asis-outbox-setbased@hosts",
        "mysql_tuned-task-ring@rabbitmq+hosts",
    ],
)
def test_hosts_need_servers_that_they_can_reach(name):
    with pytest.raises(UnknownVariant, match="can't have hosts"):
        Variant.named(name)
