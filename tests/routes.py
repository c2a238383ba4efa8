"""The routes of the service, as Django's resolver knows them."""

import re

from django.urls import URLPattern, get_resolver


def routes():
    """Return path → methods, without HEAD and OPTIONS; paths look like those of the schema.

    Of several patterns for a path, the first counts.
    """
    found = list(_walk("/", get_resolver().url_patterns))
    return dict(reversed(found))


def _walk(before, patterns):
    for pattern in patterns:
        path = before + re.sub(r"<\w+:(\w+)>", r"{\1}", str(pattern.pattern))
        if isinstance(pattern, URLPattern):
            yield path, _methods(pattern.callback)
        else:
            yield from _walk(path, pattern.url_patterns)


def _methods(callback):
    view = callback.view_class
    return {it.upper() for it in view.http_method_names if hasattr(view, it)} - {"HEAD", "OPTIONS"}
