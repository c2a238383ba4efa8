"""gunicorn's settings. ``GUNICORN_CMD_ARGS`` and the command line override them."""

from importlib import import_module
from typing import Any

from django.db import connections

from config import settings
from config.starting import prepare
from runtime.logs import write_in_background
from web.slow_worker import SlowWorker, begin_generation, choose_role

bind = "127.0.0.1:8000"
wsgi_app = "config.wsgi"
worker_class = "gthread" if settings.WEB_THREADS else "web.gunicorn_worker.LoopWorker"
workers = settings.WEB_WORKERS + (0 if settings.WEB_THREADS else settings.WEB_SLOW_WORKERS)
threads = settings.WEB_THREADS or 1
worker_connections = 2000
backlog = 2048
keepalive = 75  # seconds; longer than the pauses of clients, so that they keep their connection
graceful_timeout = 10
accesslog = "-" if settings.LOG_REQUESTS else None
control_socket_disable = True  # two instances would share its default path


def on_starting(server: Any) -> None:
    """Run the system checks; don't start if they fail."""
    prepare()


def pre_fork(server: Any, worker: Any) -> None:
    if not settings.WEB_THREADS:
        choose_role(server, worker)


def on_reload(server: Any) -> None:
    begin_generation(server)


def post_worker_init(worker: Any) -> None:
    """Shorten its waits if others answer slow requests and deliver."""
    strategy = import_module("feed.strategies").get_strategy()  # models can't be imported earlier
    passes_on = getattr(worker, "passing", None) and not isinstance(worker, SlowWorker)
    if passes_on and strategy.needs_shared_store:
        for options in (it["OPTIONS"] for it in connections.settings.values()):
            if it := options.get("read_timeout"):  # of MySQL
                options["read_timeout"] = min(it, settings.DB_REQUEST_TIMEOUT_S)
    if settings.LOG_IN_BACKGROUND:  # here, since a thread doesn't survive a fork
        write_in_background(worker.log.access_log)
