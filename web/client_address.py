"""Which client a request comes from."""

import re
from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

WITH_PORT = re.compile(r"\A(?:\[(.*)\]|([\d.]+))(?::\d+)?\Z", re.ASCII)
"""Some proxies append it: 1.2.3.4:80 or [2001:db8::1]:80."""


def client_address(request: HttpRequest) -> str:
    """Return the address by which a client's requests are counted; empty if it isn't known.

    An IPv6 client has a whole /64 network to choose from, so that counts as one address. What
    a client writes into X-Forwarded-For itself comes before what trusted proxies append.
    """
    address: str = request.META.get("REMOTE_ADDR", "")
    proxies: int = settings.TRUSTED_PROXIES
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    if 0 < proxies <= len(forwarded):
        return _counted(forwarded[-proxies].strip()) or _counted(address)
    return _counted(address)


@lru_cache(maxsize=1_000)
def _counted(address: str) -> str:
    try:
        parsed = ip_address(WITH_PORT.sub(r"\1\2", address))
    except ValueError:
        return ""
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or ip_network((int(parsed), 64), strict=False))
