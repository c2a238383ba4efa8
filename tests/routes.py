"""The routes of the service, as Django's resolver knows them."""

import re

from django.urls import URLPattern, get_resolver


def routes(urlconf=None):
    """Return path → methods, without HEAD and OPTIONS; paths look like those of the schema.

    Of several patterns for a path, the first counts. ``urlconf``: by default that of the settings.
    """
    found = list(_walk("/", get_resolver(urlconf).url_patterns))
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
    names = {name.upper() for name in view.http_method_names if hasattr(view, name)}
    return names - {"HEAD", "OPTIONS"}
