"""Access tokens that were made invalid before they expire.

Each process remembers the revocations of the tokens that may still be valid, and reads the new
ones at most once per second, when a request needs them (docs/decisions/0006).
"""

import time
from datetime import timedelta
from typing import Any

from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from rest_framework_simplejwt.settings import api_settings

from accounts.models import Revocation, Session
from db.rows import delete_first
from runtime.remembered import Remembered

LONGEST_TRANSACTION_S = 60.0
"""A revocation is committed within this time after it was written."""
LOAD_TOKENS_LIFETIME = timedelta(days=1)
"""The life of tokens that no session belongs to (``accounts.authentication.access_tokens``)."""


class _Known:
    def __init__(self, since: float) -> None:
        self.since = self.read_at = since
        self.versions: dict[int, int | None] = {}
        """The only valid version of the people whose tokens were revoked; None: there is none."""
        self.sessions: set[int] = set()


def revoke_session(person_id: int, session_id: int) -> None:
    """End a session with all its tokens, if it hasn't ended."""
    with transaction.atomic():
        if Session.objects.filter(id=session_id, person_id=person_id).delete()[0]:
            Revocation.objects.create(person_id=person_id, session_id=session_id)


def is_valid(person_id: int, claims: dict[str, Any]) -> bool:
    """Return whether this process knows of no revocation of a token; it reads once a second.

    Raises OperationalError if the database is away.
    """
    known = _known.get()
    if claims.get("session") in known.sessions:
        return False
    version: int = claims.get("version", 0)
    return known.versions.get(person_id, version) == version


def knows_of_no_revocation(person_id: int) -> bool:
    """Return whether a read within the last second found no revocation of a person."""
    known = _known.fresh()
    return known is not None and person_id not in known.versions


def remove_expired() -> bool:
    """Remove revocations of tokens that have expired; return whether there are more."""
    return delete_first(Revocation.objects.exclude(_may_matter()), "revoked_at")


def _read() -> _Known:
    asked_at, known = time.monotonic(), _known.last()
    lifetime_s = api_settings.ACCESS_TOKEN_LIFETIME.total_seconds()
    if known is None or asked_at > known.since + lifetime_s:
        known = _Known(asked_at)  # without those that don't matter any more
        new = _revocations().filter(_may_matter())
    else:
        # Ids commit out of order, so those of the last transactions are read again.
        age = timedelta(seconds=asked_at - known.read_at + LONGEST_TRANSACTION_S)
        new = _revocations().filter(revoked_at__gte=Now() - age)
    for person_id, version, session_id in new:
        if session_id is None:
            known.versions[person_id] = version
        else:
            known.sessions.add(session_id)
    known.read_at = asked_at
    return known


_known = Remembered(_read, for_s=1.0)


def _revocations() -> QuerySet[Revocation, tuple[int, int | None, int | None]]:
    rows = Revocation.objects.using(DEFAULT_DB_ALIAS).order_by("id")
    return rows.values_list("person_id", "version", "session_id")


def _may_matter() -> Q:
    """Match revocations of tokens that may not have expired; those of sessions live shortest."""
    margin = timedelta(seconds=LONGEST_TRANSACTION_S)
    lifetime = api_settings.ACCESS_TOKEN_LIFETIME
    longest = max(lifetime, LOAD_TOKENS_LIFETIME)
    recent = Q(revoked_at__gte=Now() - longest - margin)
    return recent & (Q(session_id=None) | Q(revoked_at__gte=Now() - lifetime - margin))
