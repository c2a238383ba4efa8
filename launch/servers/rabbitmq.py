from pathlib import Path

from amqp import Connection
from amqp.exceptions import AMQPError

from launch.processes import Processes, free_port
from launch.servers.base import Server, find_binary

# The program itself; Debian's /usr/sbin/rabbitmq-server is a wrapper that changes the user.
BINARY = "/usr/lib/rabbitmq/bin/rabbitmq-server"


class RabbitMQ(Server):
    """RabbitMQ without plugins, its queues on disk in the run's folder."""

    role = "broker"
    binaries = (BINARY, "rabbitmq-server")
    package = "rabbitmq-server"
    image = "rabbitmq:3"
    image_port = 5672

    def __init__(self, processes: Processes, folder: Path, launcher: str) -> None:
        super().__init__(processes, folder, launcher)
        self.epmd_port = free_port()
        self.distribution_port = free_port()

    @property
    def environment(self) -> dict[str, str]:
        return {"BROKER_URL": f"amqp://guest:guest@127.0.0.1:{self.port}//"}

    def prepare(self, binary: str) -> None:
        # Erlang would start its port mapper as a daemon, which outlives every run.
        epmd = find_binary("epmd") or "epmd"
        here = ("-address", "127.0.0.1", "-port", str(self.epmd_port))
        self.processes.start("epmd", [epmd, *here], {})

    def command(self, binary: str) -> list[str]:
        return [binary]

    def local_environment(self) -> dict[str, str]:
        return {
            "HOME": str(self.folder),  # for Erlang's cookie
            "ERL_EPMD_PORT": str(self.epmd_port),
            "RABBITMQ_NODENAME": f"lab-{self.port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(self.distribution_port),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
            "RABBITMQ_MNESIA_BASE": f"{self.folder}/data",
            "RABBITMQ_LOGS": "-",
            # None of the machine's own settings.
            "RABBITMQ_CONFIG_FILE": f"{self.folder}/none",
            "RABBITMQ_CONF_ENV_FILE": f"{self.folder}/none",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{self.folder}/none",
        }

    def is_ready(self) -> bool:
        try:
            with self._connection():
                return True
        except (OSError, AMQPError):
            return False

    def version(self) -> str:
        with self._connection() as connection:
            return f"RabbitMQ {connection.server_properties['version']}"

    def _connection(self) -> Connection:
        """Return a connection that is open in a ``with`` block."""
        return Connection(f"127.0.0.1:{self.port}", connect_timeout=2, read_timeout=5)
