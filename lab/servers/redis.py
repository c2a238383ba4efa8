from collections.abc import Sequence

import redis

from lab.servers.base import Server

KEEP_NOTHING = ("--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction")


class Redis(Server):
    """Redis or Valkey, in memory only; timelines in database 0, a broker in database 1."""

    role = "redis"
    binaries = ("redis-server", "valkey-server")
    package = "redis-server"
    image = "redis:7"
    image_port = 6379

    @property
    def environment(self) -> dict[str, str]:
        url = f"redis://127.0.0.1:{self.port}"
        return {"REDIS_URL": f"{url}/0", "BROKER_URL": f"{url}/1"}

    def command(self, binary: str) -> list[str]:
        where = ("--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder))
        return [binary, *where, *KEEP_NOTHING]

    def container_command(self) -> Sequence[str]:
        return ("redis-server", *KEEP_NOTHING)

    def is_ready(self) -> bool:
        try:
            return bool(self._client().ping())
        except redis.ConnectionError:
            return False

    def version(self) -> str:
        return str(self._client().info("server")["redis_version"])

    def _client(self) -> redis.Redis:
        return redis.Redis(port=self.port, socket_timeout=2)
