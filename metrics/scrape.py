"""Metrics in Prometheus' format."""

from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from django.conf import settings
from prometheus_client import CollectorRegistry, generate_latest, start_http_server
from prometheus_client.core import InfoMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from metrics.files import forget_the_dead, readable_files


class Counted(Collector):
    """The metrics of all processes that share METRICS_DIR."""

    def collect(self) -> Iterator[Metric]:
        folder = Path(settings.METRICS_DIR)
        forget_the_dead(folder)
        collector = MultiProcessCollector(None, settings.METRICS_DIR)  # type: ignore[no-untyped-call]
        yield from collector.merge(readable_files(folder))  # type: ignore[no-untyped-call]


class Service(Collector):
    """The strategy and the store in use."""

    def collect(self) -> Iterator[Metric]:
        chosen = {"strategy": settings.FEED_STRATEGY, "store": settings.FEED_TIMELINE_STORE}
        yield InfoMetricFamily("feed_service", "The strategy and the store in use.", chosen)


def may_scrape(meta: Mapping[str, Any]) -> bool:
    """Return whether a request comes from METRICS_ALLOW, and through no proxy."""
    if "HTTP_X_FORWARDED_FOR" in meta:
        return False
    try:
        address = ip_address(meta["REMOTE_ADDR"])
    except ValueError:  # a UNIX socket, behind which is a proxy
        return False
    address = getattr(address, "ipv4_mapped", None) or address
    return any(address in network for network in settings.METRICS_ALLOW)


def exposition(*more: Collector) -> bytes:
    """Return the metrics in Prometheus' text format."""
    return generate_latest(_registry(*more))


def serve_if_configured() -> None:
    """Answer scrapes on METRICS_PORT, in a thread: for processes without a web server."""
    if settings.METRICS_PORT:
        host, _, port = settings.METRICS_PORT.rpartition(":")
        start_http_server(int(port), host or "127.0.0.1", registry=_registry())


def _registry(*more: Collector) -> CollectorRegistry:
    registry = CollectorRegistry(auto_describe=False)
    for collector in (Counted(), Service(), *more):
        registry.register(collector)
    return registry
