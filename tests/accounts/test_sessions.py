"""Sessions: each refresh token works once, and tokens end before they expire."""

import threading
import time
from datetime import timedelta
from functools import partial

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher, make_password
from django.db.models.functions import Now
from rest_framework_simplejwt.tokens import RefreshToken

from accounts import revocations, services, sessions
from accounts.models import Person, Revocation, Session
from accounts.sessions import MOST_SESSIONS
from tests.accounts.test_tokens import CREDENTIALS, ada, assert_unauthorized, post, read_feed
from tests.conftest import client_of
from tests.parallel import in_parallel

__all__ = ["ada"]
SCRYPT = "django.contrib.auth.hashers.ScryptPasswordHasher"
NEW = {"old_password": CREDENTIALS["password"], "new_password": "an even better one"}


def log_in():
    return post("/v1/token/", CREDENTIALS).json()


def refresh(tokens):
    return post("/v1/token/refresh/", {"refresh": tokens["refresh"]})


def log_out(tokens):
    return post("/v1/token/logout/", {"refresh": tokens["refresh"]})


def change_password(tokens, **changes):
    client = client_of(None)
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {tokens['access']}")
    return client.post("/v1/me/password/", NEW | changes, format="json")


def is_in(tokens):
    """Tell whether the access token works, for a process that reads the revocations now."""
    revocations._known._known.until = 0
    return read_feed(f"Bearer {tokens['access']}").status_code == 200


def test_each_refresh_gives_new_tokens_and_the_ones_before_stay_valid(ada):
    first = log_in()
    second = refresh(first).json()
    third = refresh(second).json()

    assert len({first["refresh"], second["refresh"], third["refresh"]}) == 3
    assert all(map(is_in, (first, second, third)))
    assert Session.objects.count() == 1


def test_a_refresh_token_that_is_used_again_ends_its_session_once(ada):
    first, other = log_in(), log_in()
    second = refresh(first).json()

    for tokens in (first, first, second):
        assert_unauthorized(refresh(tokens))

    assert [is_in(tokens) for tokens in (first, second, other)] == [False, False, True]
    assert Revocation.objects.count() == 1
    assert refresh(other).status_code == 200


def test_of_20_parallel_exchanges_of_one_token_exactly_one_succeeds(transactional_db, ada):
    tokens = log_in()

    statuses = in_parallel(20 * [lambda: refresh(tokens).status_code])

    assert sorted(statuses) == [200] + [401] * 19


def test_a_log_out_with_any_of_its_tokens_ends_the_session_and_no_other(ada):
    old, other = log_in(), log_in()
    new = refresh(old).json()

    assert [log_out(old).status_code for _ in range(2)] == [204, 204]

    assert [is_in(new), is_in(other)] == [False, True]
    assert_unauthorized(refresh(new))


@pytest.mark.parametrize("path", ["/v1/token/refresh/", "/v1/token/logout/"])
def test_only_refresh_tokens_of_a_session_are_accepted(ada, path):
    without_session = RefreshToken.for_user(ada)  # as before there were sessions

    for token in (log_in()["access"], str(without_session), "x"):
        assert_unauthorized(post(path, {"refresh": token}))


def test_a_new_password_ends_all_sessions_and_begins_one(ada):
    mine, other = log_in(), log_in()

    answer = change_password(mine)

    assert answer.status_code == 200
    assert [is_in(tokens) for tokens in (mine, other, answer.json())] == [False, False, True]
    assert_unauthorized(refresh(other))
    assert refresh(answer.json()).status_code == 200
    assert_unauthorized(post("/v1/token/", CREDENTIALS))
    new = CREDENTIALS | {"password": NEW["new_password"]}
    assert post("/v1/token/", new).status_code == 200


@pytest.mark.parametrize(
    "wrong", [{"old_password": "wrong"}, {"new_password": "12345678"}, {"new_password": ""}]
)
def test_a_wrong_change_of_the_password_is_refused_by_name(ada, wrong):
    tokens = log_in()

    answer = change_password(tokens, **wrong)

    assert (answer.status_code, list(answer.json())) == (400, list(wrong))
    assert is_in(tokens)
    assert post("/v1/token/", CREDENTIALS).status_code == 200


class Paused(MD5PasswordHasher):
    """Waits in the middle of a hash until the test goes on."""

    begun, go_on = threading.Event(), threading.Event()
    checks = False
    """Wait while a password is checked, else while a new one is hashed."""

    def encode(self, password, salt):
        if (password == CREDENTIALS["password"]) is Paused.checks:
            Paused.begun.set()
            assert Paused.go_on.wait(20)
        return super().encode(password, salt)


@pytest.fixture
def during_a_hash(transactional_db, ada, settings):
    """Act while a request hashes, and return its answer."""

    def run(request, act, *, checks):
        def act_meanwhile():
            assert Paused.begun.wait(20)
            try:
                act()
            finally:
                Paused.go_on.set()

        Paused.checks = checks
        Paused.begun.clear()
        Paused.go_on.clear()
        answer, nothing = in_parallel([request, act_meanwhile])
        assert nothing is None
        return answer

    settings.PASSWORD_HASHERS = [f"{__name__}.Paused"]
    Paused.go_on.set()
    return run


BANS = {"deactivate": partial(services.set_active, is_active=False), "delete": services.delete}
BANNED = pytest.mark.parametrize("ban", BANS.values(), ids=BANS)


@BANNED
@pytest.mark.parametrize("checks", [True, False], ids=["while checking", "while hashing"])
def test_a_change_of_the_password_that_a_ban_overtakes_is_refused(ada, during_a_hash, ban, checks):
    tokens = log_in()

    answer = during_a_hash(lambda: change_password(tokens), lambda: ban(ada.id), checks=checks)

    assert_unauthorized(answer)
    assert not Session.objects.exists()
    assert not Person.objects.get().check_password(NEW["new_password"])


@BANNED
def test_tokens_of_a_log_in_that_a_ban_overtakes_are_invalid(ada, during_a_hash, ban):
    tokens = during_a_hash(log_in, lambda: ban(ada.id), checks=True)

    assert not is_in(tokens)
    assert_unauthorized(refresh(tokens))


def test_of_two_changes_of_one_password_the_later_one_is_refused(ada, during_a_hash):
    """It was checked against a password that is no longer valid."""
    tokens = log_in()
    ada.password = MD5PasswordHasher().encode("the first one", "salt")

    answer = during_a_hash(lambda: change_password(tokens), ada.save, checks=False)

    assert_unauthorized(answer)
    assert Person.objects.get().password == ada.password


def test_another_password_opens_nothing_to_who_was_deactivated_meanwhile(ada):
    copy = Person.objects.get()
    services.set_active(ada.id, False)
    copy.password = make_password("an even better one")
    copy.save(update_fields=["password"])

    assert Revocation.objects.last().version is None


def test_who_is_deactivated_is_out_and_comes_back_only_with_a_log_in(ada):
    tokens = log_in()
    ada.is_active = False
    ada.save()

    assert not is_in(tokens)
    assert_unauthorized(refresh(tokens))
    assert_unauthorized(change_password(tokens))

    ada.is_active = True
    ada.save()
    assert not is_in(tokens)
    assert is_in(log_in())


@pytest.mark.parametrize(
    "remove",
    [Person.delete, lambda _: Person.objects.update(is_active=False)],
    ids=["delete", "SQL"],
)
def test_who_is_removed_behind_the_services_back_gets_no_new_tokens(ada, remove):
    tokens = log_in()
    remove(ada)

    assert_unauthorized(post("/v1/token/", CREDENTIALS))
    assert_unauthorized(refresh(tokens))
    assert_unauthorized(change_password(tokens))
    assert log_out(tokens).status_code == 204


def test_a_save_of_anything_else_ends_nothing(ada):
    tokens = log_in()
    ada.username = "lovelace"
    ada.save()

    assert is_in(tokens)
    assert not Revocation.objects.exists()


def test_a_save_of_an_old_copy_brings_no_version_back(ada):
    copy = Person.objects.get()
    tokens = log_in()
    ada.end_sessions(stays_open=True)
    copy.save()

    assert not is_in(tokens)
    assert is_in(log_in())


def test_a_hash_that_is_renewed_brings_no_old_password_back(ada, settings):
    before = Person.objects.get()
    ada.set_password("an even better one")
    ada.save()
    settings.PASSWORD_HASHERS = [SCRYPT, *settings.PASSWORD_HASHERS]

    assert before.check_password(CREDENTIALS["password"])

    assert Person.objects.get().check_password("an even better one")


def test_the_oldest_of_too_many_sessions_ends(ada):
    first = log_in()
    for _ in range(MOST_SESSIONS):
        sessions._begin(ada)

    assert Session.objects.count() == MOST_SESSIONS
    assert_unauthorized(refresh(first))


def test_a_process_asks_once_per_second_and_not_per_request(ada, django_assert_num_queries):
    tokens = log_in()
    is_in(tokens)

    assert revocations._known.for_s <= 1
    with django_assert_num_queries(0):
        for _ in range(3):
            assert revocations.is_valid(ada.id, RefreshToken(tokens["refresh"]).payload)
    revocations._known._known.until = 0
    with django_assert_num_queries(1):
        assert revocations.is_valid(ada.id, RefreshToken(tokens["refresh"]).payload)


def test_a_revocation_whose_transaction_was_late_is_read(ada):
    """It has a smaller id and an earlier time than one that was read before."""
    tokens, other = log_in(), log_in()
    log_out(other)
    assert is_in(tokens)
    first = Revocation.objects.get()
    session = Session.objects.get()
    before = Now() - timedelta(seconds=30)
    Revocation.objects.create(
        id=first.id - 1, person_id=ada.id, session_id=session.id, revoked_at=before
    )

    assert not is_in(tokens)


def test_what_has_expired_is_removed(ada):
    log_in()
    log_out(log_in())
    ada.end_sessions(stays_open=True)
    log_in()
    for age, left in ((timedelta(0), 2), (timedelta(hours=2), 1), (timedelta(days=2), 0)):
        Revocation.objects.update(revoked_at=Now() - age)
        revocations.remove_expired()
        assert Revocation.objects.count() == left
    sessions.remove_expired()
    assert Session.objects.count() == 1
    Session.objects.update(expires_at=Now())
    time.sleep(0.01)
    sessions.remove_expired()
    assert not Session.objects.exists()
