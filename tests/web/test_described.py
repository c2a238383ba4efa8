"""The tests' client compares answers with the schema."""

import pytest

from feed.views import FeedView, PostView
from tests.conftest import client_of
from web.api import Unavailable


def test_a_status_that_the_schema_does_not_tell_is_found(friends, monkeypatch):
    monkeypatch.setattr(Unavailable, "status_code", 418)
    monkeypatch.setattr(PostView, "get", refuse)

    with pytest.raises(AssertionError, match="418"):
        client_of(1).get("/v1/posts/1/")


def test_a_header_that_is_missing_is_found(friends, monkeypatch):
    monkeypatch.setattr(Unavailable, "wait", None)
    monkeypatch.setattr(FeedView, "get", refuse)

    with pytest.raises(AssertionError, match="Retry-After"):
        client_of(1).get("/v1/feed/")


def refuse(view, request, **_):
    raise Unavailable
