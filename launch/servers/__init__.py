"""The servers of a run: private ones from installed binaries or images, or external ones."""

from pathlib import Path

from launch.processes import Processes, RunFailed
from launch.servers.base import Backend
from launch.servers.external import ExternalMySQL, ExternalRabbitMQ, ExternalRedis
from launch.servers.launchers import LAUNCHERS
from launch.servers.mysql import MySQL
from launch.servers.options import MySQLWithOptions
from launch.servers.rabbitmq import RabbitMQ
from launch.servers.redis import Redis
from launch.servers.replicas import REPLICATED, Replicas, refuse_mysql
from launch.variants import Variant

EXTERNAL = "external"
CHOICES = (*LAUNCHERS, EXTERNAL)


def servers_for(variant: Variant, choice: str, processes: Processes, folder: Path) -> list[Backend]:
    """Return the servers that a variant needs, not started yet."""
    profile = variant.database.profile
    rabbitmq = variant.broker == "rabbitmq"
    replicas, options = variant.database.replicas, variant.database.options
    if replicas and choice not in ("auto", "local"):
        raise RunFailed(f"--servers {choice} has no read replicas, which are installed binaries")
    if options and choice not in ("auto", "local"):
        raise RunFailed(f"--servers {choice} takes no {options[0]}; installed binaries do")
    if choice == EXTERNAL:
        redis_names = [
            *(["REDIS_URL"] if variant.uses_redis else []),
            *(["BROKER_URL"] if variant.broker == "redis" else []),
        ]
        return [
            *([ExternalMySQL(processes, profile)] if profile else []),
            *(ExternalRedis(processes, name) for name in redis_names),
            *([ExternalRabbitMQ(processes)] if rabbitmq else []),
        ]
    launch = LAUNCHERS[choice]
    if profile and replicas:
        refuse_mysql()
        primary = MySQL(
            processes, folder / "mysql", LAUNCHERS["local"], profile=profile, options=REPLICATED
        )
        delay_s = variant.database.replica_delay_s
        return [primary, Replicas(primary, replicas, delay_s=delay_s)]
    if profile and options:
        server = MySQLWithOptions(
            processes, folder / "mysql", LAUNCHERS["local"], profile=profile, options=options
        )
        return [
            server,
            *([Redis(processes, folder / "redis", launch)] if variant.uses_redis else []),
        ]
    return [
        *([MySQL(processes, folder / "mysql", launch, profile=profile)] if profile else []),
        *([Redis(processes, folder / "redis", launch)] if variant.uses_redis else []),
        *([RabbitMQ(processes, folder / "rabbitmq", launch)] if rabbitmq else []),
    ]
