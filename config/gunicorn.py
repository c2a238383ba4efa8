"""gunicorn's settings. ``GUNICORN_CMD_ARGS`` and the command line override them."""

from typing import Any

from django.conf import settings as chosen_settings

from config import settings
from config.starting import prepare
from runtime.logs import write_in_background

bind = "127.0.0.1:8000"
wsgi_app = "config.wsgi"
worker_class = "gthread"
workers = settings.WEB_WORKERS
threads = settings.WEB_THREADS
worker_connections = 2000
backlog = 2048
keepalive = 75  # seconds; longer than the pauses of clients, so that they keep their connection
graceful_timeout = 10
accesslog = "-" if settings.LOG_REQUESTS else None
control_socket_disable = True  # two instances would share its default path


def on_starting(server: Any) -> None:
    """Run the system checks; don't start if they fail."""
    prepare()


def post_worker_init(worker: Any) -> None:
    # Here, since a thread doesn't survive a fork; of the settings in use, which may be a replay's.
    if chosen_settings.LOG_IN_BACKGROUND:
        write_in_background(worker.log.access_log)
