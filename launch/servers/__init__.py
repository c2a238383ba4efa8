"""The servers of a run: private ones from installed binaries or images, or external ones."""

from pathlib import Path

from launch.processes import Processes, RunFailed
from launch.servers.base import LAUNCHERS, Backend
from launch.servers.external import ExternalMySQL, ExternalRabbitMQ, ExternalRedis
from launch.servers.mysql import MySQL
from launch.servers.rabbitmq import RabbitMQ
from launch.servers.redis import Cluster, Redis
from launch.variants import AS_IS, Variant

EXTERNAL = "external"
CHOICES = (*LAUNCHERS, EXTERNAL)
INSTALLED = ("auto", "local")
"""Choices that start installed binaries, if there are any."""


def servers_for(variant: Variant, choice: str, processes: Processes, folder: Path) -> list[Backend]:
    """Return the servers that a variant needs, not started yet."""
    database = variant.database
    if choice not in INSTALLED:
        for is_needed, part in (
            (database.options, " ".join(database.options)),
            (variant.primaries, "cluster"),
            (variant.on_hosts, "hosts"),
        ):
            if is_needed:
                raise RunFailed(f"--servers {choice} has no {part}; installed binaries do")
    if choice == EXTERNAL:
        return _external(variant, processes)
    if database.profile == AS_IS:
        raise RunFailed("mysql_asis is your own server: --servers external, and DATABASE_URL")
    servers: list[Backend] = []
    if database.profile:
        servers.append(
            MySQL(
                processes,
                folder / "mysql",
                choice,
                profile=database.profile,
                options=database.options,
                kind=database.kind,
            )
        )
    if variant.uses_redis:
        servers.append(Redis(processes, folder / "redis", choice))
    if variant.broker == "rabbitmq":
        servers.append(RabbitMQ(processes, folder / "rabbitmq", choice))
    if primaries := variant.primaries:
        servers.append(Cluster(processes, folder / "cluster", choice, primaries=primaries))
    return servers


def _external(variant: Variant, processes: Processes) -> list[Backend]:
    profile = variant.database.profile
    redis_names = [
        *(["REDIS_URL"] if variant.uses_redis else []),
        *(["BROKER_URL"] if variant.broker == "redis" else []),
    ]
    return [
        *([ExternalMySQL(processes, profile)] if profile else []),
        *(ExternalRedis(processes, name) for name in redis_names),
        *([ExternalRabbitMQ(processes)] if variant.broker == "rabbitmq" else []),
    ]
