from collections.abc import Mapping, Sequence
from typing import Any

import redis

from launch.servers.base import Server

KEEP_NOTHING = ("--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction")


class Redis(Server):
    """Redis or Valkey, in memory only; timelines in database 0, a broker in database 1."""

    role = "redis"
    binaries = ("redis-server", "valkey-server")
    kinds = ("redis", "valkey")
    chosen_by = "LAB_REDIS"
    package = "redis-server"
    image = "redis:7"
    image_port = 6379

    @property
    def environment(self) -> dict[str, str]:
        url = f"redis://{self.address}:{self.port}"
        return {"REDIS_URL": f"{url}/0", "BROKER_URL": f"{url}/1"}

    def command(self, binary: str) -> list[str]:
        where = ("--port", str(self.port), "--bind", self.address, "--dir", str(self.folder))
        return [binary, *where, *KEEP_NOTHING, "--protected-mode", "no"]

    def container_command(self) -> Sequence[str]:
        return ("redis-server", *KEEP_NOTHING)

    def is_ready(self) -> bool:
        try:
            return bool(self._client().ping())
        except redis.ConnectionError:
            return False

    def version(self) -> str:
        return redis_name(self._client().info("server"))

    def _client(self) -> redis.Redis:
        return redis.Redis(self.address, self.port, socket_timeout=2)


def redis_name(info: Mapping[str, Any]) -> str:
    """Return what a server is. Valkey says of itself that it is Redis 7.2.4, for old clients."""
    if info.get("server_name") == "valkey":
        return f"Valkey {info['valkey_version']}"
    return f"Redis {info['redis_version']}"
