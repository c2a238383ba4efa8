"""The targets of a bench: stores on their servers, and other systems' ways of delivering."""

from collections.abc import Iterator
from dataclasses import dataclass

from launch.backends import backends
from launch.variants import UnknownVariant


@dataclass(frozen=True)
class Target:
    store: str
    people_in: str
    """The database of people and posts, and of SQL timelines."""
    uses_redis: bool = False
    uses_database: bool = False
    """The timelines are in that database too."""
    kind: str = "store"
    command: tuple[str, ...] = ("bench_timeline",)

    @property
    def database(self) -> str:
        """The database that holds the timelines; "none" if no SQL database does."""
        return self.people_in if self.uses_database else "none"

    @property
    def settings(self) -> dict[str, str]:
        """Environment variables of the service."""
        return {"FEED_TIMELINE_STORE": self.store} if self.kind == "store" else {}

    @property
    def name(self) -> str:
        return self.store if self.database == "none" else f"{self.database}-{self.store}"

    @property
    def role(self) -> str | None:
        """Role of the server whose CPU is counted; None if the store works in the process."""
        if self.uses_redis:
            return "redis"
        return "database" if self.database == "mysql_tuned" else None


def targets() -> Iterator[Target]:
    """Yield every store of the service that is written to: a SQL store once per database."""
    for alias, store in backends().timeline_stores.items():
        if store.is_computed_on_read:
            continue
        if store.is_transactional:
            for database in ("sqlite", "mysql_tuned"):
                yield Target(alias, database, uses_database=True)
        else:
            yield Target(alias, "sqlite", uses_redis=store.needs_redis)


def choose(names: str | None) -> list[Target]:
    """Return the targets of these stores, or of all. Raises UnknownVariant."""
    everything = list(targets())
    if names is None:
        return everything
    asked = [name.strip() for name in names.split(",")]
    for name in asked:
        if not any(name in (target.store, target.name) for target in everything):
            known = dict.fromkeys(target.store for target in everything)
            raise UnknownVariant(f"Unknown store {name!r}; known are {', '.join(known)}")
    return [target for target in everything if {target.store, target.name} & set(asked)]


def list_way(at: tuple[int, int]) -> Target:
    """Return the Redis lists that aren't a store, at one pair (people, friends)."""
    command = ("bench_ways", "list", f"--at={at[0]},{at[1]}")
    return Target("list", "sqlite", uses_redis=True, kind="way", command=command)
