"""Variants: a set of environment variables with a name, database-strategy-store."""

from dataclasses import dataclass

STRATEGIES = ("inline", "outbox", "null")
STORES = ("rowwise", "bulk", "setbased", "pull")


class UnknownVariant(ValueError):
    """A name that says no variant; the message lists what it may say."""


@dataclass(frozen=True)
class Database:
    """Where the service keeps its data, and how many app servers share it."""

    app_servers: int = 1
    files: int = 1
    durability: str = ""
    """What its settings give away."""


SQLITE_DURABILITY = "SQLite synchronous=NORMAL: a power cut can take the last commits"
DATABASES = {
    "sqlite": Database(durability=SQLITE_DURABILITY),
    "sqlite_per_server": Database(app_servers=2, files=2, durability=SQLITE_DURABILITY),
}
SHORT = {"pull": ("inline", "pull"), "null": ("null", "setbased")}
"""The names database-pull and database-null, in full."""


@dataclass(frozen=True)
class Variant:
    """One way to run the service. The service knows only its environment variables."""

    name: str
    database: Database
    strategy: str
    store: str

    @classmethod
    def named(cls, name: str) -> "Variant":
        """Return the variant that ``name`` spells. Raises UnknownVariant."""
        database, _, rest = name.partition("-")
        strategy, store = SHORT.get(rest) or (rest.partition("-")[0], rest.partition("-")[2])
        for said, known in ((database, DATABASES), (strategy, STRATEGIES), (store, STORES)):
            if said not in known:
                raise UnknownVariant(
                    f"{name!r}: {said!r} is none of {', '.join(known)}; a variant is named "
                    "database-strategy-store, database-pull or database-null"
                )
        return cls(name, DATABASES[database], strategy, store)

    @property
    def environment(self) -> dict[str, str]:
        return {"FEED_FANOUT": self.strategy, "FEED_TIMELINE": self.store}

    @property
    def drains(self) -> bool:
        """Drainers deliver the posts."""
        return self.strategy == "outbox"

    @property
    def delivers(self) -> bool:
        return self.strategy != "null"

    @property
    def should_be_clean(self) -> bool:
        """Its audit has to be clean; where not, the audit has to find what is wrong by design."""
        return self.delivers and self.database.files == 1
