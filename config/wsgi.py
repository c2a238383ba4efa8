import codecs
import gc
import os
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.db import connections
from django.utils.http import parse_header_parameters


def shorten_waits() -> None:
    """Wait for the database for DB_REQUEST_TIMEOUT_S at most, unless requests deliver into it."""
    strategy = import_module("feed.strategies").get_strategy()
    store = import_module("feed.timeline_stores").get_timeline_store()
    if strategy.needs_shared_store or not store.is_transactional:
        for options in (database["OPTIONS"] for database in connections.settings.values()):
            if timeout_s := options.get("read_timeout"):
                options["read_timeout"] = min(timeout_s, settings.DB_REQUEST_TIMEOUT_S)


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django_application = get_wsgi_application()
shorten_waits()
gc.collect()
gc.freeze()  # collections needn't look at what stays until the end


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Serve a request; drop a Content-Type that Django can't decode, so that the answer is 415."""
    content_type = environ.get("CONTENT_TYPE", "")
    if ";" in content_type and not _can_be_decoded(content_type):
        environ = {**environ, "CONTENT_TYPE": ""}
    return django_application(environ, start_response)


def _can_be_decoded(content_type: str) -> bool:
    try:
        _, parameters = parse_header_parameters(content_type)
        codecs.lookup(parameters.get("charset", "utf-8"))
    except (LookupError, ValueError):
        return False
    return True
