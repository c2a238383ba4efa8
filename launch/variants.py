"""Variants: sets of environment variables, named database-strategy-store[@part+part…]."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from string import ascii_lowercase
from typing import Any, ClassVar, NamedTuple, Self

from launch.backends import Strategy, TimelineStore, backends
from launch.unknown import none_of


class UnknownVariant(ValueError):
    """Unknown variant name; the message lists the known parts."""


@dataclass(frozen=True)
class Database:
    """Where the service keeps its data, and how many app servers share it."""

    app_servers: int = 1
    files: int = 1
    """Database files; with more than one, the app servers don't share a database."""
    threads: int | None = None
    """Threads per app worker, each with its own connection; None: the app server's default."""
    engine: str = "sqlite"
    """sqlite, mysql or postgresql: compose/ has a folder of profiles for each server's."""
    profile: str | None = None
    """The file in that folder that the server runs with, or AS_IS; None for SQLite."""
    durability: str | None = None
    """Durability that its settings give away."""
    loses_commits: bool = False
    """A crash of the server's own processes takes the commits of the last moments."""
    options: tuple[str, ...] = ()
    """Options of the server beside its profile, like --max-connections=150."""
    kind: str | None = None
    """mysql or mariadb, unless LAB_MYSQL says another; None: the first that is installed."""


AS_IS = "as it is"
"""Profile of an external server of which nothing is demanded."""
SQLITE_DURABILITY = "SQLite synchronous=NORMAL: a power cut can take the last commits"
TUNED_DURABILITY = (
    "innodb_flush_log_at_trx_commit=2: a power cut or a crash of the system can take the commits "
    "of the last second"
)
POSTGRES_DURABILITY = (
    "PostgreSQL synchronous_commit=off: a crash of the server's processes or of the system, or a "
    "power cut, can take the commits of the last 0.6 s (three times wal_writer_delay)"
)
AS_SET = "the database is as its owner set it"
REDIS_DURABILITY = "Redis keeps nothing on disk: a restart of it empties its timelines and queues"
AOF_DURABILITY = (
    "Redis writes its log once per second: a power cut can take what it was given since"
)
DATABASES = {
    "sqlite": Database(durability=SQLITE_DURABILITY),
    "sqlite_per_server": Database(app_servers=2, files=2, durability=SQLITE_DURABILITY),
    # As published: more clients than the server lets in.
    "mysql_default": Database(engine="mysql", profile="default.cnf", threads=100),
    # The three options that were changed as published; tuned adds more of ours.
    "mysql_published": Database(
        engine="mysql", profile="published.cnf", durability=TUNED_DURABILITY
    ),
    "mysql_tuned": Database(engine="mysql", profile="tuned.cnf", durability=TUNED_DURABILITY),
    "mysql_asis": Database(engine="mysql", profile=AS_IS, durability=AS_SET),
    "postgres_default": Database(engine="postgresql", profile="default.conf"),
    "postgres_tuned": Database(
        engine="postgresql",
        profile="tuned.conf",
        durability=POSTGRES_DURABILITY,
        loses_commits=True,
    ),
    "postgres_asis": Database(engine="postgresql", profile=AS_IS, durability=AS_SET),
}
CELERY = "celery"
GUNICORN = "gunicorn"
GRANIAN = "granian"
PROXIED = "+proxy"
"""Behind the name of an app server, where HAProxy is in front of it."""
SHORT = {"pull": ("inline", "pull"), "null": ("null", "setbased")}
"""The names database-pull and database-null, in full."""
RENAMED = {"outbox_celery": "outbox_queue"}
"""Strategies that had other names; variants keep those that they are given."""
NAMING = "database-strategy-store[@part+part…], database-pull or database-null"


@dataclass(frozen=True)
class Variant:
    """One way to run the service. The service knows only its environment variables."""

    service: ClassVar[str] = "launch.service.Service"
    """Path of the class that runs it."""
    locustfile: ClassVar[str] = ""
    """Locustfile of its own, for an API that differs."""

    name: str
    database: Database
    strategy: str
    store: str
    broker: str | None
    """Where the queue's messages wait: redis, rabbitmq, database; None without a queue."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Further environment variables of the service."""
    workers: tuple[str, ...] = ()
    """Management commands that run beside the app servers."""
    options: Mapping[str, object] = field(default_factory=dict)
    """Further options of the locustfile."""
    primaries: int = 0
    """Primaries of the Redis Cluster that has the timelines, each with a replica; 0: one Redis."""
    on_hosts: bool = False
    """Each part runs on a host of its own (``launch.hosts``)."""
    queue: str = CELERY
    """What carries tasks, as FEED_QUEUE names it."""
    server: str = GUNICORN
    """The app server, as WEB_SERVER names it."""
    is_proxied: bool = False
    """HAProxy is in front, with app servers of their own for probes and slow requests."""
    streams: bool = False
    """A process of its own streams feeds."""
    is_pinned: bool = False
    """The load generator has a core to itself (``launch.processes``)."""
    caches: bool = False
    """A Redis keeps posts, though neither timelines nor messages are in it."""
    keeps_writes: bool = False
    """Its Redis writes a log of all changes to disk."""
    is_control: bool = False
    """It lacks a safeguard, to show that this is needed."""

    @classmethod
    def plain(cls, name: str, database: str, settings: Mapping[str, str]) -> Self:
        """Return a variant for an experiment without fan-out."""
        return cls(name, DATABASES[database], "inline", "setbased", None, settings)

    @classmethod
    def named(cls, name: str, more: Mapping[str, "Part"] = {}) -> "Variant":
        """Return the variant that ``name`` spells; ``more``: parts beside PARTS, by name.

        Raises UnknownVariant, which names the wrong part and the known ones.
        """
        plain, at, behind = name.partition("@")
        database, _, rest = plain.partition("-")
        strategy, store = SHORT.get(rest) or (rest.partition("-")[0], rest.partition("-")[2])
        strategy = RENAMED.get(strategy, strategy)
        known = backends()
        spelled = (
            (database, DATABASES),
            (strategy, known.strategies),
            (store, known.timeline_stores),
        )
        refuse_unknown(name, NAMING, *spelled)
        parts = {**PARTS, **{alias: with_queue(alias) for alias in known.queues}, **more}
        broker = "redis" if known.strategies[strategy].needs_queue else None
        variant = cls(name, DATABASES[database], strategy, store, broker)
        for word in behind.split("+") if at else ():
            part, number = re.sub(r"[1-9]\d*$", "N", word), word.lstrip(ascii_lowercase)
            refuse_unknown(name, NAMING, (part, parts))
            variant = parts[part].added_to(variant, number)
        if reason := _why_impossible(variant):
            raise UnknownVariant(f"{name!r}: {reason}")
        return variant

    def on(self, kind: str) -> Self:
        """Return the same on MySQL or on MariaDB (``Database.kind``), if it is on either."""
        if self.database.engine != "mysql":
            return self
        return replace(self, database=replace(self.database, kind=kind))

    @property
    def environment(self) -> dict[str, str]:
        return {
            "WEB_SERVER": self.server,
            "FEED_STRATEGY": self.strategy,
            "FEED_TIMELINE_STORE": self.store,
            **({"FEED_QUEUE": self.queue} if self.uses_queue else {}),
            **self.settings,
        }

    def app_workers(self, cores: int) -> int:
        """Return how many processes each app server has."""
        return max(1, cores // self.database.app_servers)

    @property
    def arguments(self) -> dict[str, str]:
        """Options of ``lab run`` that it needs beside its name."""
        return {}

    @property
    def strategy_flags(self) -> Strategy:
        return backends().strategies[self.strategy]

    @property
    def store_flags(self) -> TimelineStore:
        return backends().timeline_stores[self.store]

    @property
    def uses_redis(self) -> bool:
        return self.store_flags.needs_redis or self.broker == "redis" or self.caches

    @property
    def keeps_timelines_in_one_redis(self) -> bool:
        return self.store_flags.needs_redis and not self.primaries

    @property
    def uses_queue(self) -> bool:
        return self.broker is not None

    @property
    def has_broker(self) -> bool:
        return self.broker in ("redis", "rabbitmq")

    @property
    def durability_given_away(self) -> list[str]:
        of_redis = AOF_DURABILITY if self.keeps_writes else REDIS_DURABILITY
        given = [self.database.durability, of_redis if self.uses_redis else None]
        return [item for item in given if item]

    @property
    def drains(self) -> bool:
        """A drainer delivers the posts, or those whose request died after its commit."""
        in_request = (
            self.store_flags.is_transactional and not self.strategy_flags.needs_shared_store
        )
        return self.strategy_flags.needs_drainer and not in_request

    @property
    def delivers_later(self) -> bool:
        """Posts are answered before they are delivered."""
        return self.drains or self.uses_queue

    @property
    def has_follows(self) -> bool:
        """People have followers instead of friends."""
        return self.settings.get("FEED_EDGES") == "follows"

    @property
    def delivers(self) -> bool:
        return self.strategy_flags.delivers

    @property
    def is_ranked(self) -> bool:
        """False if readers pay for the deliveries: the load of fan-out only writes."""
        return self.delivers and not self.store_flags.is_computed_on_read

    @property
    def should_be_clean(self) -> bool:
        """Its audit has to be clean; where not, the audit has to find what is wrong by design."""
        return self.delivers and self.database.files == 1 and not self.is_control

    def expects(self, audit: Mapping[str, Any] | None) -> bool:
        """Return whether a run finished with the audit that this variant should have."""
        return audit is not None and audit["ok"] == self.should_be_clean


Added = Callable[[Variant, str], Variant]


class Part(NamedTuple):
    """What may stand behind the @ of a name."""

    text: str
    """What it adds, in one line of ``lab list --all`` and docs/reference/commands.md."""
    added_to: Added
    """Return a variant with it; gets the digits behind the part's name, N in the table."""


def with_fields(**fields: Any) -> Added:
    return lambda variant, _: replace(variant, **fields)


def with_setting(name: str, value: str = "") -> Added:
    """``value``: instead of the part's number."""
    return lambda variant, number: replace(
        variant, settings={**variant.settings, name: value or number}
    )


def with_queue(alias: str) -> Part:
    """Return the part that is named like a queue."""
    flags = backends().queues[alias]
    broker = flags.brokers[0] if flags.brokers else "database"
    return Part(flags.purpose, with_fields(queue=alias, broker=broker))


def _with_redis(variant: Variant, _: str) -> Variant:
    return replace(variant, broker="redis") if variant.has_broker else replace(variant, caches=True)


PARTS: Mapping[str, Part] = {
    GRANIAN: Part(
        "Granian instead of gunicorn: less CPU per request, since it parses them in Rust",
        with_fields(server=GRANIAN),
    ),
    "proxy": Part(
        "HAProxy in front refuses what is too much: for a public service",
        with_fields(is_proxied=True),
    ),
    "stream": Part(
        "a process that streams feeds: GET /v1/feed/stream",
        with_fields(streams=True),
    ),
    "redis": Part(
        "a Redis as cache of posts, for variants without one; else as the queue's broker, as usual",
        _with_redis,
    ),
    "aof": Part(
        "Redis writes a log to disk once per second (appendonly), so that a restart keeps its data",
        with_fields(keeps_writes=True),
    ),
    "rabbitmq": Part("RabbitMQ as the queue's broker", with_fields(broker="rabbitmq")),
    "clusterN": Part(
        "timelines in a Redis Cluster of N primaries, each with a replica",
        lambda variant, number: replace(variant, primaries=int(number)),
    ),
    "drainersN": Part(
        "N drainers",
        lambda variant, number: replace(variant, workers=("drain",) * (int(number) - 1)),
    ),
    "pullsN": Part(
        "who has more than N friends is pulled; --largest gives person 1 so many",
        with_setting("FEED_PULL_ABOVE"),
    ),
    "pullsauto": Part(
        "who has more friends than a drainer delivers to within 75 ms is pulled",
        with_setting("FEED_PULL_ABOVE", "auto"),
    ),
    "keepsN": Part(
        "timelines in Redis, or packed, keep N posts instead of 800: the audit compares so many",
        with_setting("FEED_TIMELINE_CAPACITY"),
    ),
    "follows": Part(
        "one-way follows instead of friends; --edges follows adds it to every variant",
        with_setting("FEED_EDGES", "follows"),
    ),
    "active": Part(
        "nothing is delivered to people who don't come: with lab run mixed --cold-share",
        with_setting("FEED_ACTIVE_DAYS", "1"),
    ),
    "hosts": Part(
        "each part in a network namespace with an address, a cable that can be cut, and a core at "
        "most",
        with_fields(on_hosts=True),
    ),
}


def _why_impossible(variant: Variant) -> str | None:
    """Return why there can be no such variant; None if it can be."""
    if variant.primaries and not variant.store_flags.needs_redis:
        return f"the store {variant.store!r} isn't in Redis, so it has no cluster"
    if variant.keeps_writes and not variant.uses_redis:
        return "it has no Redis whose writes could be kept"
    if variant.broker and not variant.strategy_flags.needs_queue:
        return f"the strategy {variant.strategy!r} has no queue"
    queue = backends().queues[variant.queue]
    if variant.broker and variant.broker not in (queue.brokers or ("database",)):
        places = " or ".join(queue.brokers) or "the database"
        return f"the queue {variant.queue!r} keeps its messages in {places}"
    if variant.broker and queue.needs_postgresql and variant.database.engine != "postgresql":
        return f"the queue {variant.queue!r} needs PostgreSQL"
    if variant.workers and not variant.drains:
        return f"no drainer delivers for {variant.strategy!r} and {variant.store!r}"
    if variant.on_hosts and variant.database.profile in (None, AS_IS):
        return "it can't have hosts: they need a database server that the laboratory starts"
    if variant.on_hosts and variant.broker == "rabbitmq":
        return "it can't have hosts: RabbitMQ lets its guest in from its own host only"
    return None


def refuse_unknown(name: str, naming: str, *parts: tuple[str, Iterable[str]]) -> None:
    """Raise UnknownVariant unless each part of a name is among the known ones.

    ``naming``: how variants are named.
    """
    for part, known in parts:
        if part not in known:
            raise UnknownVariant(
                f"{name!r}: {none_of(part, known)} (variants are named {naming}: "
                "python -m lab list --all)"
            )
