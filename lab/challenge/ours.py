"""Starts our own service for the challenge: SQLite, and a Redis that keeps nothing on disk.

python -m lab challenge --start "python -m lab.challenge.ours" \
    --empty 'redis-cli -u $(cat $FOLDER/redis_url) flushall'
"""

import os
import signal
from pathlib import Path

from lab.systems.api import read_people
from launch.processes import Processes
from launch.service import Seed, Service
from launch.variants import Variant

VARIANT = "sqlite-outbox-ring@follows+proxy"


def main() -> None:
    folder, key = Path(os.environ["FOLDER"]), Path(os.environ["FOLDER"]) / "secret"
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with Processes(folder / "logs") as processes:
        variant, port = Variant.named(VARIANT), int(os.environ["PORT"])
        service = Service(variant, processes, folder, port=port)
        service.guarded = True
        service.tokens = Path(os.environ["TOKENS"])
        if key.exists():  # started again
            service.secret_key = key.read_text()
            for server in service.servers:
                server.start()
        else:
            key.write_text(service.secret_key)
            people = len(read_people(service.tokens))
            service.prepare(Seed(people, friends=0, graph=os.environ["EDGES"]))
        service.start()
        (folder / "redis_url").write_text(service.environments[0]["REDIS_URL"])
        signal.pause()


if __name__ == "__main__":
    main()
