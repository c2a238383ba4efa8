"""Log-in, log-out and what lies between: refresh tokens, and changes of the password.

A session has one valid refresh token at a time. One that is used again may
have been stolen: the session ends for both.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.password_validation import validate_password
from django.db import transaction
from django.db.models.functions import Now
from rest_framework.exceptions import AuthenticationFailed, ValidationError
from rest_framework_simplejwt.exceptions import InvalidToken, TokenError
from rest_framework_simplejwt.settings import api_settings
from rest_framework_simplejwt.tokens import RefreshToken
from rest_framework_simplejwt.utils import datetime_from_epoch

from accounts import limits
from accounts.hashing import slot
from accounts.limits import Use
from accounts.models import Person, Session
from accounts.revocations import revoke_session
from accounts.services import UnknownPerson
from accounts.usernames import username_key
from db.rows import delete_first

MOST_SESSIONS = 100
"""Sessions per person; a log-in ends older ones."""
WRONG_CREDENTIALS = "No active account found with the given credentials"


class WrongPassword(ValidationError):
    """The old password is wrong; the API answers 400."""

    default_detail = {"old_password": ["It is wrong."]}


class Tokens(NamedTuple):
    access: str
    refresh: str


def log_in(*, username: str, password: str, address: str) -> Tokens:
    """Begin a session. Raises AuthenticationFailed, Limited or NoSlot.

    Neither the answer, its time nor the limits tell an unknown name, a wrong password and a person
    who isn't active apart.
    """
    with _guess(username, address) as uses:
        person = authenticate(username=username, password=password)
        if person is None:
            raise AuthenticationFailed(WRONG_CREDENTIALS, "no_active_account")
    limits.give_back_all(uses)
    assert isinstance(person, Person)
    return _begin(person)


def refresh(raw_token: str) -> Tokens:
    """Exchange a refresh token for new tokens. Raises InvalidToken.

    Of parallel exchanges of one token exactly one succeeds, and then the session ends.
    """
    old = _verified(raw_token)
    person_id, session_id = _owner(old)
    person = Person.objects.filter(id=person_id, is_active=True).first()
    if person is None or person.tokens_version != old.get("version", 0):
        raise InvalidToken("The token was revoked.")
    new = _claimed(RefreshToken(), person, session_id)
    sessions = Session.objects.filter(id=session_id, person=person, refresh_id=_id(old))
    if not sessions.update(refresh_id=_id(new), expires_at=_expiry(new)):
        revoke_session(person_id, session_id)
        raise InvalidToken("The token was used before, or its session has ended.")
    return _tokens(new)


def log_out(raw_token: str) -> None:
    """End the session of a refresh token, with its access tokens. Raises InvalidToken."""
    revoke_session(*_owner(_verified(raw_token)))


def change_password(*, person_id: int, old: str, new: str, address: str) -> Tokens:
    """Set a new password, end all sessions and begin another one; right or wrong, it counts.

    Raises WrongPassword, Django's ValidationError, AuthenticationFailed, Limited or NoSlot.
    """
    person = Person.objects.filter(id=person_id, is_active=True).first()
    if person is None:
        raise UnknownPerson
    validate_password(new, person)
    with _guess(person.username, address):
        if not person.check_password(old):
            raise WrongPassword
        checked = person.password
        person.set_password(new)
    with transaction.atomic():
        same = Person.objects.filter(id=person_id, is_active=True, password=checked)
        if same.select_for_update().first() is None:
            raise AuthenticationFailed("The person or the password was changed meanwhile.")
        person.save(update_fields=["password"])
        return _begin(person)


def remove_expired() -> bool:
    """Remove sessions whose refresh token has expired; return whether there are more."""
    return delete_first(Session.objects.filter(expires_at__lt=Now()), "expires_at")


@contextmanager
def _guess(username: str, address: str) -> Iterator[list[Use]]:
    """Hold a slot for a hash, and count the attempt; yield what to give back if it may not count.

    It is counted before it is known to fail, else many in parallel would pass. Raises Limited or
    NoSlot.
    """
    uses = _uses(username_key(username), address)
    limits.check_all(uses)
    with slot():
        limits.take_all(uses)
        yield uses


def _uses(account: str, address: str) -> list[Use]:
    uses = [Use(f"log-in to {account}", **settings.LOG_IN_FAILURES_PER_ACCOUNT)]
    if address:
        client, anybody = f"log-in from {address} to {account}", f"log-in from {address}"
        uses.append(Use(client, **settings.LOG_IN_FAILURES_PER_CLIENT))
        uses.append(Use(anybody, **settings.LOG_IN_FAILURES_PER_ADDRESS))
    return uses


def _begin(person: Person) -> Tokens:
    newest = person.sessions.order_by("-id").values_list("id", flat=True)
    Session.objects.filter(id__in=list(newest[MOST_SESSIONS - 1 :])).delete()
    token = RefreshToken()
    session = person.sessions.create(refresh_id=_id(token), expires_at=_expiry(token))
    return _tokens(_claimed(token, person, session.id))


def _claimed(token: RefreshToken, person: Person, session_id: int) -> RefreshToken:
    token[api_settings.USER_ID_CLAIM] = str(person.id)
    token["version"] = person.tokens_version
    token["session"] = session_id
    return token


def _tokens(refresh_token: RefreshToken) -> Tokens:
    return Tokens(access=str(refresh_token.access_token), refresh=str(refresh_token))


def _verified(raw_token: str) -> RefreshToken:
    try:
        return RefreshToken(raw_token)  # type: ignore[arg-type]  # it takes what it has signed
    except TokenError as error:
        raise InvalidToken(str(error)) from error


def _owner(token: RefreshToken) -> tuple[int, int]:
    """Return the ids of a token's person and session. Raises InvalidToken."""
    try:
        return int(token[api_settings.USER_ID_CLAIM]), int(token["session"])
    except (KeyError, TypeError, ValueError):
        raise InvalidToken("The token has no session.") from None


def _id(token: RefreshToken) -> str:
    return str(token[api_settings.JTI_CLAIM])


def _expiry(token: RefreshToken) -> Any:
    return datetime_from_epoch(token["exp"])
