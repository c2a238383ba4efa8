"""Who may do what: as in the tables of access.md, which have a row for each route and method.

They are read once more where all replays are installed.
"""

import json
import re
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from importlib import import_module
from itertools import product
from pathlib import Path

import jwt
import pytest
from django.conf import settings as django_settings
from django.db import transaction
from rest_framework_simplejwt.tokens import AccessToken

from accounts import sessions
from accounts.services import sign_up
from feed import people
from feed.follows import block
from feed.services import publish_post
from runtime.remembered import forget_all
from tests.conftest import befriend, client_of
from tests.routes import routes

INSTALLED = django_settings.ROOT_URLCONF == "tests.replays.urls"
PAGES = [Path("docs/access.md")]
if INSTALLED:
    PAGES.append(Path("replays/access.md"))
FOLLOWS = "## With FEED_EDGES=follows"
PASSWORD = "correct horse"
WORDS = "the owner's words"
POLICIES = ["everyone", "friends"]
PEOPLE = ["owner", "friend", "stranger", "blocked", "blocking", "deactivated", "deleted"]
BAD_TOKENS = ["logged out", "refresh token", "expired", "other key"]
COLUMNS = ["anonymous", *PEOPLE, *BAD_TOKENS]


def table(pages=None):
    """Return (request, whose) → column → expected answers, one for each policy."""
    rows = []
    for page in pages or [page.read_text().partition(FOLLOWS)[0] for page in PAGES]:
        head, _, *more = re.findall(r"^\|(.*)\|$", page, re.MULTILINE)
        assert cells(head)[2:] == COLUMNS
        rows += more
    found = {}
    for request, whose, *answers in map(cells, rows):
        both = ((answer.split(" / ") * 2)[:2] for answer in answers)
        found[request, whose] = dict(zip(COLUMNS, both, strict=True))
    return found


def cells(row):
    return [cell.strip().strip("`") for cell in row.split("|")]


def changes(row):
    """Sort what only reads first: files that a block removes don't come back with the rows."""
    return not row[0][0].startswith("GET ")


@contextmanager
def undone():
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def export_of(person_id):
    """Return the id of a person's new export; None without the replay."""
    if not INSTALLED:
        return None
    exports = import_module("replays.export.app.services")
    job = exports.order_export(person_id=person_id, file_format="csv")
    while exports.make_next_export():
        pass
    return job.id


class World:
    """People with a post each, exports of two, and clients with good and bad tokens."""

    def __init__(self):
        self.ids = {name: sign_up(username=name, password=PASSWORD).id for name in PEOPLE}
        self.tokens = {name: self.log_in(name) for name in PEOPLE}
        owner = self.ids["owner"]
        for name in ("friend", "blocked", "blocking", "deactivated", "deleted"):
            befriend(self.ids[name], owner)
        self.posts = {
            name: publish_post(author_id=self.ids[name], body=f"the {name}'s words").post.id
            for name in PEOPLE
        }
        self.jobs = {"deactivated": export_of(self.ids["deactivated"])}
        block(owner, self.ids["blocked"])
        block(self.ids["blocking"], owner)
        people.deactivate(self.ids["deactivated"])
        people.delete(self.ids["deleted"])
        self.jobs["owner"] = export_of(owner)
        self.tokens |= self.bad_tokens()
        forget_all()

    def log_in(self, name):
        return sessions.log_in(username=name, password=PASSWORD, address="")

    def bad_tokens(self):
        """Return tokens like the owner's, in whose place a bad access token is."""
        ended, good = self.log_in("owner"), self.tokens["owner"]
        sessions.log_out(ended.refresh)
        expired = AccessToken(good.access)
        expired.set_exp(lifetime=-timedelta(seconds=1))
        claims = jwt.decode(good.access, options={"verify_signature": False})
        forged = jwt.encode(claims, "another key, which is long enough", algorithm="HS256")
        access = [good.refresh, str(expired), forged]
        others = [good._replace(access=token) for token in access]
        return dict(zip(BAD_TOKENS, [ended, *others], strict=True))

    def ask(self, request, whose, who):
        """Return the status, with a + if the answer has the owner's words; change nothing."""
        method, route = request.split()
        client = self.client(who)
        with nullcontext() if method == "GET" else undone():
            answer = client.generic(method, self.path(route, whose), *self.body(route, who))
            shown = WORDS.encode() in answer.getvalue()
        return f"{answer.status_code}{' +' * shown}"

    def client(self, who):
        client = client_of(None)
        if who != "anonymous":
            client.credentials(HTTP_AUTHORIZATION=f"Bearer {self.tokens[who].access}")
        return client

    def path(self, route, whose):
        if "{" not in route:
            return route
        return route.format(
            post_id=self.posts[whose],
            job_id=self.jobs.get(whose),
            author_id=self.ids[whose],
            friend_id=self.ids[whose],
            other_id=self.ids[whose],
            reader_id=self.ids[whose],
        )

    def body(self, route, who):
        """Return a request's body; with a bad access token everything else is the owner's."""
        name = who if who in PEOPLE else "owner"
        tokens = self.tokens.get(who)
        log_in = {"username": name, "password": PASSWORD}
        bodies = {
            "/v1/posts/": {"body": "hello"},
            "/v1/me/exports/": {"format": "csv"},
            "/v1/me/password/": {"old_password": PASSWORD, "new_password": "battery staple"},
            "/v1/signup/": {"username": "newcomer", "password": PASSWORD},
            "/v1/token/": log_in if tokens else {"username": "nobody", "password": PASSWORD},
            "/v1/token/refresh/": {"refresh": tokens.refresh if tokens else "none"},
            "/v1/token/logout/": {"refresh": tokens.refresh if tokens else "none"},
        }
        return [json.dumps(bodies[route]), "application/json"] if route in bodies else []


@pytest.fixture
def world(transactional_db, settings, tmp_path):
    settings.EXPORT_DIR = tmp_path
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    return World()


def test_each_route_and_method_has_a_row():
    wanted = {f"{method} {path}" for path, methods in routes().items() for method in methods}

    assert {request for request, _ in table()} == wanted


def differences(world, rows, policy):
    return [
        f"{request} of {whose} by {who}: {found}, not {answers[who][POLICIES.index(policy)]}"
        for (request, whose), answers in rows
        for who in COLUMNS
        if (found := world.ask(request, whose, who)) != answers[who][POLICIES.index(policy)]
    ]


@pytest.mark.parametrize("policy", POLICIES)
def test_access_is_as_documented(policy, world, settings):
    settings.FEED_VISIBILITY = policy

    found = differences(world, sorted(table().items(), key=changes), policy)

    assert not found, "\n".join(found)


def test_access_with_follows_is_as_documented(follows_api, world):
    rows = table([PAGES[0].read_text().partition(FOLLOWS)[2]])
    wanted = {
        f"{method} {path}"
        for path, methods in routes().items()
        for method in methods
        if re.search("follow|private", path)
    }

    assert {request for request, _ in rows} == wanted
    assert not differences(world, sorted(rows.items(), key=changes), "everyone")


def test_access_that_is_not_as_documented_is_found(world):
    """The service shows posts to everyone, and the page is read as if only friends saw them."""
    rows = [row for row in table().items() if "_id}" in row[0][0] and "/me/" not in row[0][0]]

    found = differences(world, rows, "friends")

    assert len(found) == (5 if INSTALLED else 3)
    assert all(" of owner by stranger: " in difference for difference in found)


def test_head_is_answered_like_get(world):
    for (request, whose), answers in table().items():
        method, route = request.split()
        for who in COLUMNS * (method == "GET"):
            head = world.client(who).head(world.path(route, whose))
            head.getvalue()  # closes a file
            assert str(head.status_code) == answers[who][0][:3], (request, whose, who)


def test_options_need_a_token_where_all_else_does(world):
    rows = table()
    paths = {request.split()[1] for request, _ in rows}
    closed = {request.split()[1] for (request, _), row in rows.items() if needs_token(row)}

    for path, who in product(paths, ["anonymous", "owner", "deactivated", "expired"]):
        status = world.client(who).options(world.path(path, "owner")).status_code
        assert status in ([401] if path in closed and who != "owner" else [200, 405]), (path, who)


def needs_token(answers):
    return all(answers[who] == ["401", "401"] for who in ["anonymous", *BAD_TOKENS])
