"""Stateless access tokens: a request is authenticated without a query."""

from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Any

from django.utils.functional import cached_property
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.request import Request
from rest_framework_simplejwt.authentication import JWTStatelessUserAuthentication
from rest_framework_simplejwt.exceptions import InvalidToken, TokenError
from rest_framework_simplejwt.models import TokenUser
from rest_framework_simplejwt.settings import api_settings
from rest_framework_simplejwt.tokens import AccessToken, Token
from rest_framework_simplejwt.utils import aware_utcnow

from accounts import revocations
from accounts.ids import MAX_ID
from accounts.revocations import LOAD_TOKENS_LIFETIME


class TokenPerson(TokenUser):
    """The person that a valid token names; they may have been deleted since."""

    @cached_property
    def id(self) -> int:  # type: ignore[override]
        return int(self.token[api_settings.USER_ID_CLAIM])


class TokenAuthentication(JWTStatelessUserAuthentication):
    """Bearer tokens. A signature is verified once per process; at every request the expiry, and
    whether the token was revoked."""

    def get_validated_token(self, raw_token: bytes) -> Token:
        token = _verified(raw_token)
        try:
            token.check_exp(current_time=aware_utcnow())
        except TokenError as error:
            raise InvalidToken(str(error)) from error
        return token

    def get_user(self, validated_token: Token) -> TokenPerson:  # type: ignore[override]
        person = TokenPerson(validated_token)
        try:
            is_id = 1 <= person.id <= MAX_ID
        except (KeyError, TypeError, ValueError):
            is_id = False
        if not is_id:
            raise InvalidToken("The token names no person.")
        if not revocations.is_valid(person.id, validated_token.payload):
            raise InvalidToken("The token was revoked.")
        return person


@lru_cache(maxsize=10_000)
def _verified(raw_token: bytes) -> Token:
    return JWTStatelessUserAuthentication().get_validated_token(raw_token)


@cache
def by_token() -> TokenAuthentication:
    """Return the authentication of requests: one instance per process."""
    return TokenAuthentication()


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the schema describes the tokens."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}


def person_id(request: Request) -> int:
    """Return the id of the authenticated person, on an endpoint that requires a token."""
    assert isinstance(request.user, TokenPerson)
    return request.user.id


def access_tokens(person_ids: Iterable[int]) -> Iterator[tuple[int, str]]:
    """Yield (person id, access token) pairs, for load generators that can't log everyone in.

    They are valid for LOAD_TOKENS_LIFETIME, of people whose tokens were never revoked; no log-out
    ends them.
    """
    for person_id in person_ids:
        token = AccessToken()
        token.set_exp(lifetime=LOAD_TOKENS_LIFETIME)
        token[api_settings.USER_ID_CLAIM] = str(person_id)
        token["version"] = 0
        yield person_id, str(token)
