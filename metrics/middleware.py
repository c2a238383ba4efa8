"""Counts requests, and answers scrapes."""

from collections.abc import Callable
from http import HTTPMethod
from time import perf_counter

from django.http import HttpRequest, HttpResponse
from prometheus_client import CONTENT_TYPE_LATEST, Counter, Histogram

from metrics import definitions
from metrics.backlog import Backlog
from metrics.connections import count_connections
from metrics.scrape import exposition, may_scrape

PATH = "/metrics"
GetResponse = Callable[[HttpRequest], HttpResponse]
Key = tuple[str, str | None, int]


def metered(get_response: GetResponse) -> GetResponse:
    """Count requests, as the outermost middleware: it sees the answers of all others.

    It answers scrapes itself: Prometheus uses an IP address, which ALLOWED_HOSTS lacks.
    """
    series: dict[Key, tuple[Counter, Histogram]] = {}

    def answer(request: HttpRequest) -> HttpResponse:
        if request.path_info == PATH and request.method == "GET" and may_scrape(request.META):
            return HttpResponse(exposition(Backlog()), content_type=CONTENT_TYPE_LATEST)
        started = perf_counter()
        response = get_response(request)
        key = _route(request), request.method, response.status_code
        total, seconds = series.get(key) or series.setdefault(key, _series(*key))
        total.inc()
        seconds.observe(perf_counter() - started)
        count_connections()
        return response

    return answer


def _route(request: HttpRequest) -> str:
    """Return the URL's pattern, not the URL: label values must stay few."""
    return request.resolver_match.route if request.resolver_match else ""


def _series(route: str, method: str | None, status: int) -> tuple[Counter, Histogram]:
    known = method if method in HTTPMethod.__members__ else "other"  # clients may send any method
    return (
        definitions.requests.labels(route, known, status),
        definitions.request_seconds.labels(route, known),
    )
