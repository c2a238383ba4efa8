"""Services that speak the API of docs/target-api.md, as variants."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from launch.variants import DATABASES, Database, Variant

TARGET = "target"
ADAPTERS = Path(__file__).parent / "adapters"
ADAPTER = "adapter.toml"
LOOKERS = 0.05
"""Share of the users who look for their posts in a friend's feed: the only lag seen outside."""


@dataclass(frozen=True)
class OutsideVariant(Variant):
    """Somebody else's service: what it does inside is unknown."""

    options: Mapping[str, object] = field(default_factory=lambda: {"visible-share": LOOKERS})

    @property
    def environment(self) -> dict[str, str]:
        return {}

    @property
    def uses_redis(self) -> bool:
        return False

    @property
    def drains(self) -> bool:
        return False

    @property
    def delivers(self) -> bool:
        return True

    @property
    def is_ranked(self) -> bool:
        """False: its lag is seen from outside, ours is by receipts, so they can't be ranked."""
        return False

    @property
    def should_be_clean(self) -> bool:
        return True


@dataclass(frozen=True)
class TargetVariant(OutsideVariant):
    """A service that runs already, at a URL."""

    service = "lab.systems.service.TargetService"
    url: str = ""
    tokens: Path = Path()
    pids: Mapping[str, int] = field(default_factory=dict)
    """Its processes by role, all of them; empty: its CPU is not measured."""
    befriends: bool = False
    """The laboratory makes the friendships of ``--graph`` first."""

    @property
    def arguments(self) -> dict[str, str]:
        pids = ",".join(f"{role}={pid}" for role, pid in self.pids.items())
        return {
            "target": self.url,
            "tokens": str(self.tokens),
            **({"pids": pids} if pids else {}),
            **({"befriend": ""} if self.befriends else {}),
        }

    def at(self, url: str, tokens: Path, **more: Any) -> "TargetVariant":
        return replace(self, url=url, tokens=tokens, **more)


@dataclass(frozen=True)
class AdapterVariant(OutsideVariant):
    """Somebody's library behind an app of ours that speaks the API: a folder in ``adapters``."""

    service = "lab.systems.service.AdapterService"
    folder: Path = Path()
    seed: tuple[str, ...] = ()
    """Arguments of its Python, as the following: loads the files TOKENS and FRIENDSHIPS."""
    web: tuple[str, ...] = ()
    """Serves the API at PORT of 127.0.0.1."""
    beside: tuple[tuple[str, ...], ...] = ()
    """Processes beside the app server."""
    packages: tuple[str, ...] = ()
    """Those whose versions a result names."""
    has_redis: bool = False
    may_lose: str | None = None
    """Durability that it gives away."""

    @property
    def uses_redis(self) -> bool:
        return self.has_redis

    @property
    def durability_given_away(self) -> list[str]:
        given = super().durability_given_away
        return [self.may_lose, *given] if self.may_lose else given


def adapters() -> dict[str, AdapterVariant]:
    """Return the adapters that are there, by the names of their folders."""
    return {path.parent.name: _adapter(path) for path in sorted(ADAPTERS.glob(f"*/{ADAPTER}"))}


def _adapter(path: Path) -> AdapterVariant:
    described = tomllib.loads(path.read_text())
    servers = described["servers"]
    return AdapterVariant(
        name=path.parent.name,
        database=DATABASES["mysql_tuned"] if "mysql" in servers else Database(),
        strategy="",
        store="",
        broker="rabbitmq" if "rabbitmq" in servers else None,
        folder=path.parent,
        seed=tuple(described["seed"]),
        web=tuple(described["web"]),
        beside=tuple(map(tuple, described["workers"])),
        packages=tuple(described["packages"]),
        has_redis="redis" in servers,
        may_lose=described.get("durability_given_away"),
    )


def outside(name: str) -> OutsideVariant | None:
    """Return the target or the adapter of this name, if there is one."""
    if name == TARGET:
        return TargetVariant(TARGET, Database(), strategy="", store="", broker=None)
    return adapters().get(name)


def check_host(url: str, *, may: bool) -> None:
    """Raise ValueError for a host that isn't this machine, unless its owner agrees.

    Load on somebody's host without their consent is an attack.
    """
    host = urlsplit(url).hostname
    if host is None or urlsplit(url).scheme not in ("http", "https"):
        raise ValueError(f"--target {url} is no http URL")
    if not may and not _is_here(host):
        raise ValueError(
            f"--target {url} isn't 127.0.0.1; load on somebody's host without their consent is an "
            "attack. If it is yours, or its owner agrees: --i-may"
        )


def _is_here(host: str) -> bool:
    """Return whether a host is a loopback address; a name other than localhost may change."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
