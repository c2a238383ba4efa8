"""The author's code, as variants: the published steps, and factors crossed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from launch.unknown import none_of
from launch.variants import (
    DATABASES,
    TUNED_DURABILITY,
    Database,
    UnknownVariant,
    Variant,
)

SYNC = "cb2d0635d4729710220adb315db3af075dee65a2"
"""20 November 2023: posts and feeds in one database; its mysql.cnf has the published options."""
CELERY = "2bbf720c507a289d1ad130c0b173d3b462716dde"
"""25 November 2023: feeds in Redis, written by Celery; "Practice #4 (4.6)"."""
AUTHOR, OURS = "author", "rowwise"


class Crossing(NamedTuple):
    """The settings that may have made 84.5 % of the requests fail."""

    max_connections: int
    buffer_pool_mib: int
    flush: int
    """innodb_flush_log_at_trx_commit"""
    debug: bool

    def __str__(self) -> str:
        debug = "debug" if self.debug else "nodebug"
        return f"c{self.max_connections}_b{self.buffer_pool_mib}_f{self.flush}_{debug}"

    @classmethod
    def parse(cls, text: str) -> "Crossing | None":
        found = re.fullmatch(r"c(\d+)_b(\d+)_f([012])_(debug|nodebug)", text)
        return found and cls(int(found[1]), int(found[2]), int(found[3]), found[4] == "debug")

    def database(self, threads: int = 0) -> Database:
        """Return a server as it comes, but for the options that are factors."""
        return Database(
            engine="mysql",
            kind="mysql",  # as published
            profile="default.cnf",
            threads=threads,
            durability=None if self.flush == 1 else TUNED_DURABILITY,
            options=(
                f"--max-connections={self.max_connections}",
                f"--innodb-buffer-pool-size={self.buffer_pool_mib}M",
                f"--innodb-flush-log-at-trx-commit={self.flush}",
            ),
        )


CROSSED = tuple(
    Crossing(max_connections, buffer_pool_mib, flush, debug)
    for max_connections in (150, 1000)
    for buffer_pool_mib in (128, 2048)
    for flush in (1, 2)
    for debug in (True, False)
)
"""Each factor as the server and the author's settings come, and changed."""
DEFAULT, TUNED = Crossing(150, 128, 1, True), Crossing(1000, 2048, 2, True)


@dataclass(frozen=True)
class AuthorVariant(Variant):
    """Runs the author's code instead of the service."""

    commit: str = SYNC
    debug: bool = True

    service = "replays.author.service.AuthorService"
    locustfile = "replays/author/locustfile.py"

    @property
    def environment(self) -> dict[str, str]:
        return {"AUTHOR_DEBUG": str(int(self.debug)), "AUTHOR_COMMIT": self.commit[:7]}

    @property
    def drains(self) -> bool:
        return False

    @property
    def is_ranked(self) -> bool:
        """The author's code is what others are compared with, so it isn't ranked."""
        return False

    @property
    def should_be_clean(self) -> bool:
        return False

    def expects(self, audit: Mapping[str, Any] | None) -> bool:
        """Return whether a run finished; any finding of the audit is expected."""
        return audit is not None


SQLITE = Database(app_servers=2, files=2)
STEPS = {
    "author_sqlite": AuthorVariant("author_sqlite", SQLITE, "inline", "rowwise", None),
    "author_default": AuthorVariant(
        "author_default", DEFAULT.database(), "inline", "rowwise", None
    ),
    "author_tuned": AuthorVariant("author_tuned", TUNED.database(), "inline", "rowwise", None),
    "author_celery": AuthorVariant(
        "author_celery", TUNED.database(), "task", "roundtrip", "redis", commit=CELERY
    ),
}
"""The four that were published, in their order."""


def named(name: str) -> Variant:
    """Return the variant that ``name`` spells. Raises UnknownVariant."""
    whose, _, rest = name.partition("_")
    factors = Crossing.parse(rest)
    if name in STEPS:
        return STEPS[name]
    if factors and whose == AUTHOR:
        return replace(
            STEPS["author_default"], name=name, database=factors.database(), debug=factors.debug
        )
    if factors and whose == OURS:
        threads = DATABASES["mysql_default"].threads or 0
        settings = {"DEBUG": str(int(factors.debug))}
        database = factors.database(threads)
        return Variant(name, database, "inline", "rowwise", None, settings)
    raise UnknownVariant(
        f"{none_of(name, STEPS)} ({AUTHOR}_{DEFAULT} and {OURS}_{DEFAULT} may have other numbers, "
        "or nodebug)"
    )
