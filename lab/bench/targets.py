"""What is benched: the stores, each on its server, and other systems' ways of delivering."""

from dataclasses import dataclass

from launch.variants import REDIS_STORES, SQL_STORES, UnknownVariant


@dataclass(frozen=True)
class Target:
    store: str
    people_in: str
    """The database of people and posts, and of SQL timelines."""
    uses_redis: bool = False
    kind: str = "store"
    command: tuple[str, ...] = ("bench_timeline",)

    @property
    def database(self) -> str:
        """The database that holds the timelines; "none" if no SQL database does."""
        return self.people_in if self.store in SQL_STORES else "none"

    @property
    def settings(self) -> dict[str, str]:
        """What the service is told of it."""
        return {"FEED_TIMELINE": self.store} if self.kind == "store" else {}

    @property
    def name(self) -> str:
        return self.store if self.database == "none" else f"{self.database}-{self.store}"

    @property
    def role(self) -> str | None:
        """What the server's CPU is counted as; None where the work is done in the process."""
        if self.uses_redis:
            return "redis"
        return "database" if self.database == "mysql_tuned" else None


TARGETS = (
    *(Target(store, "sqlite") for store in ("setbased", "packed")),
    *(Target(store, "mysql_tuned") for store in ("setbased", "packed", "bulk", "rowwise")),
    *(Target(store, "sqlite", uses_redis=True) for store in REDIS_STORES),
    Target("memory", "sqlite"),
)


def choose(names: str | None) -> list[Target]:
    """Return the targets of these stores, or of all. Raises UnknownVariant."""
    if names is None:
        return list(TARGETS)
    asked = [name.strip() for name in names.split(",")]
    for name in asked:
        if not any(name in (target.store, target.name) for target in TARGETS):
            known = dict.fromkeys(target.store for target in TARGETS)
            raise UnknownVariant(f"no store {name!r} to bench; there are {', '.join(known)}")
    return [target for target in TARGETS if {target.store, target.name} & set(asked)]


def list_way(at: tuple[int, int]) -> Target:
    """Return the Redis lists that aren't a store, at one pair (people, friends)."""
    command = ("bench_ways", "list", f"--at={at[0]},{at[1]}")
    return Target("list", "sqlite", uses_redis=True, kind="way", command=command)
