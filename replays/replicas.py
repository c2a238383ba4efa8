"""Read replicas of the default database."""

from collections.abc import Sequence
from typing import Any

from environ import Env

from config.databases import connect


def replicas(urls: Sequence[str], *, read_timeout_s: int) -> dict[str, dict[str, Any]]:
    """Return the databases at these URLs, as replica1, replica2 …"""
    return {
        f"replica{number}": connect(Env.db_url_config(url), read_timeout_s=read_timeout_s)
        for number, url in enumerate(urls, start=1)
    }
