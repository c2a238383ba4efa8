import codecs
import gc
import os
from collections.abc import Iterable
from typing import Any

from django.core.wsgi import get_wsgi_application
from django.utils.http import parse_header_parameters

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django_application = get_wsgi_application()
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
