"""Variants: sets of environment variables, named database-strategy-store."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

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
    profile: str | None = None
    """The file in compose/mysql that a MySQL server runs with, or AS_IS; None for SQLite."""
    durability: str | None = None
    """Durability that its settings give away."""
    balanced: bool = False
    """The app servers are behind nginx, each with a port of its own; else they share one."""
    proxy_keeps: bool = True
    """nginx keeps its connections to the app servers; by its own defaults it doesn't."""
    app_cpus: float | None = None
    """Cores per app server; None: all."""
    replicas: int = 0
    """Read replicas of a MySQL server."""
    replica_delay_s: int = 0
    """How long the replicas wait before they do what the primary did."""
    options: tuple[str, ...] = ()
    """Options of the MySQL server beside its profile, like --max-connections=150."""


AS_IS = "as it is"
"""Profile of an external MySQL server of which nothing is demanded."""
SQLITE_DURABILITY = "SQLite synchronous=NORMAL: a power cut can take the last commits"
TUNED_DURABILITY = (
    "innodb_flush_log_at_trx_commit=2: a power cut or a crash of the system can take the commits "
    "of the last second"
)
REDIS_DURABILITY = "Redis keeps nothing on disk: a restart of it empties its timelines and queues"
DATABASES = {
    "sqlite": Database(durability=SQLITE_DURABILITY),
    "sqlite_per_server": Database(app_servers=2, files=2, durability=SQLITE_DURABILITY),
    # As published: more clients than the server lets in.
    "mysql_default": Database(profile="default.cnf", threads=100),
    # The three options that were changed as published; tuned adds more of ours.
    "mysql_published": Database(profile="published.cnf", durability=TUNED_DURABILITY),
    "mysql_tuned": Database(profile="tuned.cnf", durability=TUNED_DURABILITY),
    "mysql_asis": Database(profile=AS_IS, durability="the database is as its owner set it"),
}
BROKERS = ("redis", "rabbitmq")
CLUSTER = re.compile(r"cluster([1-9]\d?)")
"""What may stand behind the @ of a variant: how many primaries."""
HOSTS = "hosts"
GUNICORN = "gunicorn"
GRANIAN = "granian"
SERVED: Mapping[str, Mapping[str, Any]] = {
    GRANIAN: {"server": GRANIAN},
    "proxy": {"is_proxied": True},
}
"""What may stand there of app servers, and the fields that it sets."""
PROXIED = "+proxy"
APP_SERVERS = {
    GUNICORN: "the default; the fewest parts",
    GRANIAN: "less CPU per request, since it parses them in Rust",
    GUNICORN + PROXIED: "HAProxy in front refuses what is too much: for a public service",
    GRANIAN + PROXIED: "less CPU per request, and for a public service",
}
"""What may answer requests, and what each is for."""
SHORT = {"pull": ("inline", "pull"), "null": ("null", "setbased")}
"""The names database-pull and database-null, in full."""
NAMING = "database-strategy-store, database-pull or database-null"


@dataclass(frozen=True)
class Variant:
    """One way to run the service. The service knows only its environment variables."""

    locustfile: ClassVar[str] = ""
    """Locustfile of its own, for an API that differs."""

    name: str
    database: Database
    strategy: str
    store: str
    broker: str | None
    """Where Celery's messages wait; None without Celery."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Further environment variables of the service."""
    workers: tuple[str, ...] = ()
    """Management commands that run beside the app servers."""
    log_is_collected: bool = False
    """A process follows the app servers' log and parses every line (``launch.collector``)."""
    options: Mapping[str, object] = field(default_factory=dict)
    """Further options of the locustfile."""
    primaries: int = 0
    """Primaries of the Redis Cluster that has the timelines, each with a replica; 0: one Redis."""
    on_hosts: bool = False
    """Each part runs on a host of its own (``launch.hosts``)."""
    server: str = GUNICORN
    """The app server, as WEB_SERVER names it."""
    is_proxied: bool = False
    """HAProxy is in front, with app servers of their own for probes and slow requests."""
    is_pinned: bool = False
    """The load generator has a core to itself (``launch.processes``)."""
    caches: bool = False
    """A Redis keeps posts, though neither timelines nor messages are in it."""

    @classmethod
    def plain(cls, name: str, database: str, settings: Mapping[str, str]) -> "Variant":
        """Return a variant for an experiment without fan-out."""
        return cls(name, DATABASES[database], "inline", "setbased", None, settings)

    @classmethod
    def named(cls, name: str) -> "Variant":
        """Return the variant that ``name`` spells. Raises UnknownVariant."""
        spelled, _, behind = name.partition("@")
        *parts, last = behind.split("+")
        database, _, rest = spelled.partition("-")
        strategy, store = SHORT.get(rest) or (rest.partition("-")[0], rest.partition("-")[2])
        known_stores = [alias for alias, it in backends().timeline_stores.items() if it.is_shared]
        parts_of = ((database, DATABASES), (strategy, backends().strategies), (store, known_stores))
        refuse_unknown(name, NAMING, *parts_of)
        plainer = f"{spelled}@{'+'.join(parts)}" if parts else spelled
        if last == HOSTS:
            return replace(_can_have_hosts(cls.named(plainer)), name=name, on_hosts=True)
        if last in SERVED:
            return replace(cls.named(plainer), name=name, **SERVED[last])
        if cluster := CLUSTER.fullmatch(last):
            if not backends().timeline_stores[store].needs_redis:
                raise UnknownVariant(f"{name!r}: the store {store!r} isn't in Redis")
            return replace(cls.named(plainer), name=name, primaries=int(cluster[1]))
        if behind == "redis" and not backends().strategies[strategy].needs_celery:
            return cls(name, DATABASES[database], strategy, store, None, caches=True)
        broker = _broker(name, strategy, behind)
        return cls(name, DATABASES[database], strategy, store, broker)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "WEB_SERVER": self.server,
            "FEED_STRATEGY": self.strategy,
            "FEED_TIMELINE_STORE": self.store,
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
    def uses_celery(self) -> bool:
        return self.broker is not None

    @property
    def durability_given_away(self) -> list[str]:
        given = [self.database.durability, REDIS_DURABILITY if self.uses_redis else None]
        return [item for item in given if item]

    @property
    def drains(self) -> bool:
        """A drainer delivers the posts, or those whose request died after its commit."""
        in_request = (
            self.store_flags.is_transactional and not self.strategy_flags.needs_shared_store
        )
        return self.strategy_flags.needs_drainer and not in_request

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
        return self.delivers and self.database.files == 1

    def expects(self, audit: Mapping[str, Any] | None) -> bool:
        """Return whether a run finished with the audit that this variant should have."""
        return audit is not None and audit["ok"] == self.should_be_clean


def served_by(name: str, server: str) -> str:
    """Return the name of a variant on one of APP_SERVERS; ``name`` says nothing of them."""
    behind = server.removeprefix(GUNICORN).removeprefix("+")
    return f"{name}{'+' if '@' in name else '@'}{behind}" if behind else name


def refuse_unknown(name: str, naming: str, *parts: tuple[str, Iterable[str]]) -> None:
    """Raise UnknownVariant unless each part of a name is among the known ones.

    ``naming``: how variants are named.
    """
    for said, known in parts:
        if said not in known:
            raise UnknownVariant(
                f"{name!r}: {none_of(said, known)} (variants are named {naming}: "
                "python -m lab list)"
            )


def _can_have_hosts(variant: Variant) -> Variant:
    if variant.database.profile in (None, AS_IS) or variant.broker == "rabbitmq":
        raise UnknownVariant(
            f"{variant.name!r} can't have hosts: they need a MySQL that the laboratory starts, and "
            "RabbitMQ lets its guest in from its own host only"
        )
    return variant


def _broker(name: str, strategy: str, said: str) -> str | None:
    if not backends().strategies[strategy].needs_celery:
        if said:
            raise UnknownVariant(f"{name!r}: the strategy {strategy!r} has no broker")
        return None
    broker = said or BROKERS[0]
    if broker not in BROKERS:
        raise UnknownVariant(f"{name!r}: the broker {none_of(said, BROKERS)}")
    return broker
