"""Guessing passwords and signing up are limited, for each account and address."""

import re
import time

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher

from accounts.models import Limit, Person
from runtime.remembered import forget_all
from tests.accounts.test_hashing import hashing_elsewhere
from tests.accounts.test_sessions import change_password
from tests.accounts.test_signup import ADA, sign_up
from tests.accounts.test_tokens import CREDENTIALS, ada
from tests.conftest import client_of
from tests.parallel import in_parallel

__all__ = ["ada"]
SLOWLY = {"per_s": 0.01}
NONE = {"burst": 0, "per_s": 0}


class Counting(MD5PasswordHasher):
    """Remembers what was hashed, slowly."""

    hashed = []

    def encode(self, password, salt):
        self.hashed.append(password)
        time.sleep(0.05)
        return super().encode(password, salt)


@pytest.fixture
def hashed(settings):
    """The passwords that were hashed, to be compared or not."""
    settings.PASSWORD_HASHERS = [f"{__name__}.Counting"]
    Counting.hashed.clear()
    return Counting.hashed


@pytest.fixture(autouse=True)
def no_slots(settings):
    settings.MAX_HASHING = 0


def log_in(password="wrong", username="ada", address="1.1.1.1"):
    credentials = {"username": username, "password": password}
    client = client_of(None)
    return client.post("/v1/token/", credentials, format="json", REMOTE_ADDR=address)


def log_in_rightly(**where):
    return log_in(CREDENTIALS["password"], **where).status_code


def statuses(count, **how):
    return [log_in(**how).status_code for _ in range(count)]


def test_by_default_ten_wrong_passwords_are_answered_and_the_owner_is_not_locked_out(ada):
    assert statuses(12) == [401] * 10 + [429] * 2
    refusal = log_in()
    assert 50 < int(refusal["Retry-After"]) <= 60
    assert refusal.json()["detail"]
    assert log_in_rightly() == 429
    assert log_in_rightly(address="2.2.2.2") == 200


def test_right_passwords_do_not_count(ada):
    assert [log_in_rightly() for _ in range(40)] == [200] * 40
    assert statuses(10) == [401] * 10


def test_an_address_has_a_limit_for_all_accounts(ada):
    found = [log_in(username=f"name{n}").status_code for n in range(31)]

    assert found == [401] * 30 + [429]
    assert log_in_rightly() == 429
    assert log_in_rightly(address="2.2.2.2") == 200


def test_an_account_has_a_limit_for_all_addresses(ada, settings):
    settings.LOG_IN_FAILURES_PER_ACCOUNT = {"burst": 5, **SLOWLY}
    found = [log_in(address=f"1.1.1.{n}").status_code for n in range(7)]

    assert found == [401] * 5 + [429] * 2


def test_names_that_look_alike_are_one_account(ada):
    names = ["ada", "ADA", "\u0430d\u0430"]

    assert [log_in(username=names[n % 3]).status_code for n in range(11)] == [401] * 10 + [429]


def test_an_unknown_name_and_an_inactive_person_are_answered_like_a_wrong_password(ada):
    Person.objects.create(username="eve", password=ada.password, is_active=False)
    answers = [
        [log_in(username=name, address=address) for _ in range(11)]
        for name, address in (("ada", "1.1.1.1"), ("nobody", "2.2.2.2"), ("eve", "3.3.3.3"))
    ]
    answers.append([log_in(CREDENTIALS["password"], "eve", "4.4.4.4") for _ in range(11)])

    for same in zip(*answers, strict=True):
        texts = [re.sub(rb"in \d+ seconds", b"", answer.content) for answer in same]
        assert len(set(texts)) == len({answer.status_code for answer in same}) == 1
        assert len({frozenset(answer.headers) for answer in same}) == 1


@pytest.mark.parametrize("username", ["ada", "nobody"])
def test_an_unknown_name_costs_a_hash_as_a_known_one(ada, hashed, username):
    log_in(username=username)

    assert hashed == ["wrong"]


def test_of_40_parallel_guesses_exactly_ten_are_compared(transactional_db, ada, settings, hashed):
    settings.LOG_IN_FAILURES_PER_ADDRESS = NONE

    found = in_parallel(40 * [lambda: log_in().status_code])

    assert (found.count(401), found.count(429)) == (10, 30)
    assert len(hashed) == 10


def test_a_guess_without_a_slot_does_not_count(ada, settings, tmp_path):
    settings.MAX_HASHING = 1
    settings.HASHING_SLOTS_DIR = str(tmp_path)

    with hashing_elsewhere(tmp_path / "0"):
        assert statuses(12) == [429] * 12

    assert not Limit.objects.exists()


def test_a_stolen_access_token_does_not_serve_to_guess_the_password(ada):
    tokens = log_in(CREDENTIALS["password"]).json()

    answers = [change_password(tokens, old_password="wrong") for _ in range(11)]

    assert [answer.status_code for answer in answers] == [400] * 10 + [429]
    assert change_password(tokens).status_code == 429


def test_changes_of_the_password_count_when_they_succeed_too(ada):
    answer, old = log_in(CREDENTIALS["password"]), CREDENTIALS["password"]

    for number in range(10):
        forget_all()  # a process that has just read a change refuses newer tokens for a second
        new = f"pass phrase number {number}"
        answer = change_password(answer.json(), old_password=old, new_password=new)
        assert answer.status_code == 200
        old = new

    forget_all()
    assert change_password(answer.json(), old_password=old).status_code == 429


def test_sign_ups_from_one_address_are_limited(db, settings):
    settings.SIGNUPS_PER_ADDRESS = {"burst": 2, **SLOWLY}
    assert sign_up().status_code == 201
    assert sign_up().status_code == 409
    refusal = sign_up(username="bob")
    assert refusal.status_code == 429
    assert 90 < int(refusal["Retry-After"]) <= 100
    other = client_of(None).post(
        "/v1/signup/", ADA | {"username": "bob"}, format="json", REMOTE_ADDR="2.2.2.2"
    )
    assert other.status_code == 201
