"""The servers of a run: private ones from installed binaries or images, or external ones."""

from collections.abc import Mapping
from pathlib import Path

from launch.processes import Processes, RunFailed
from launch.servers.base import LAUNCHERS, Backend, DatabaseServer
from launch.servers.external import (
    ExternalDatabase,
    ExternalMySQL,
    ExternalPostgreSQL,
    ExternalRabbitMQ,
    ExternalRedis,
)
from launch.servers.mysql import MySQL
from launch.servers.postgresql import PostgreSQL
from launch.servers.rabbitmq import RabbitMQ
from launch.servers.redis import Cluster, Redis
from launch.variants import AS_IS, Variant

EXTERNAL = "external"
CHOICES = (*LAUNCHERS, EXTERNAL)
INSTALLED = ("auto", "local")
"""Choices that start installed binaries, if there are any."""
ENGINES: Mapping[str, type[DatabaseServer]] = {"mysql": MySQL, "postgresql": PostgreSQL}
EXTERNAL_ENGINES: Mapping[str, type[ExternalDatabase]] = {
    "mysql": ExternalMySQL,
    "postgresql": ExternalPostgreSQL,
}


def servers_for(variant: Variant, choice: str, processes: Processes, folder: Path) -> list[Backend]:
    """Return the servers that a variant needs, not started yet."""
    database = variant.database
    if choice not in INSTALLED:
        for is_needed, part in (
            (database.options, " ".join(database.options)),
            (variant.primaries, "cluster"),
            (variant.on_hosts, "hosts"),
            (variant.keeps_writes, "aof"),
        ):
            if is_needed:
                raise RunFailed(f"--servers {choice} has no {part}; installed binaries do")
    if choice == EXTERNAL:
        return _external(variant, processes)
    if database.profile == AS_IS:
        name = variant.name.partition("-")[0]
        raise RunFailed(f"{name} is your own server: --servers external, and DATABASE_URL")
    servers: list[Backend] = []
    if database.profile:
        server = ENGINES[database.engine](
            processes,
            folder / database.engine,
            choice,
            profile=database.profile,
            options=database.options,
        )
        server.kind = database.kind
        servers.append(server)
    if variant.uses_redis:
        servers.append(
            Redis(processes, folder / "redis", choice, keeps_writes=variant.keeps_writes)
        )
    if variant.broker == "rabbitmq":
        servers.append(RabbitMQ(processes, folder / "rabbitmq", choice))
    if primaries := variant.primaries:
        servers.append(Cluster(processes, folder / "cluster", choice, primaries=primaries))
    return servers


def _external(variant: Variant, processes: Processes) -> list[Backend]:
    database = variant.database
    servers: list[Backend] = []
    if database.profile:
        servers.append(EXTERNAL_ENGINES[database.engine](processes, database.profile))
    if variant.uses_redis:
        servers.append(ExternalRedis(processes, "REDIS_URL"))
    if variant.broker == "redis":
        servers.append(ExternalRedis(processes, "BROKER_URL"))
    if variant.broker == "rabbitmq":
        servers.append(ExternalRabbitMQ(processes))
    return servers
