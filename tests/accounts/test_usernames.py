"""Usernames that look alike are the same username."""

import string

import pytest
from django.core.management import call_command
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import Person
from accounts.usernames import MAX_KEY_CHARACTERS, _folded_skeleton, is_plain, username_key
from tests.accounts.test_signup import ADA, sign_up
from tests.accounts.test_tokens import post

NAMES = st.text(st.characters(categories=["Lu", "Ll", "Lo", "Nd"]), min_size=1, max_size=20)
ALIKE = [
    ("ada", "ADA"),
    ("ada", "\u0430d\u0430"),  # Cyrillic a
    ("paypal", "paypaI"),
    ("paypal", "paypa1"),
    ("admin", "adrnin"),
    ("o0o", "OOO"),
    ("strasse", "stra\u00dfe"),
    ("violet", "\u03bdiolet"),  # Greek nu
    ("ada", "ada\u3164"),  # an invisible letter
    ("ada", "\U0001d41a\U0001d41d\U0001d41a"),  # mathematical letters
    ("jos\u00e9", "jose\u0301"),
]


@pytest.mark.parametrize(("one", "other"), ALIKE, ids=lambda text: ascii(text))
def test_names_that_look_alike_have_one_key(one, other):
    assert username_key(one) == username_key(other)


def test_different_names_have_different_keys():
    names = ["ada", "bob", "eve", "\u0438\u0432\u0430\u043d", "person1", "person10", "a.b", "a_b"]

    assert len({username_key(name) for name in names}) == len(names)


def test_the_table_for_ascii_is_the_general_way():
    for character in string.ascii_letters + string.digits + ".@+-_":
        assert username_key(character) == _folded_skeleton(_folded_skeleton(character.casefold()))


@given(NAMES)
def test_a_key_is_no_longer_than_its_column_and_the_same_in_any_case(name):
    assert len(username_key(name)) <= MAX_KEY_CHARACTERS
    assert username_key(name * 30) == username_key(name * 30)
    assert username_key(name) == username_key(name.casefold())


@pytest.mark.parametrize(
    ("name", "is_allowed"),
    [
        ("\u0412\u041e\u0412", False),  # looks like BOB
        ("\u0432\u043e\u0432", True),
        ("\u0412\u043b\u0430\u0434", True),
        ("Jos\u00c9", True),
        ("BOB", True),
    ],
    ids=ascii,
)
def test_capitals_that_pretend_to_be_an_ascii_name_are_refused(db, name, is_allowed):
    assert is_plain(name) is is_allowed
    assert sign_up(username=name).status_code == (201 if is_allowed else 400)


def test_a_name_that_looks_like_a_taken_one_is_taken_and_logs_in(db):
    alike = ("ada", "ADA", "Ada", "\u0430d\u0430", "fiona")
    assert sign_up(username="Ada").status_code == 201
    assert sign_up(username="\ufb01ona").json()["username"] == "fiona"
    assert [sign_up(username=name).status_code for name in alike] == [409] * 5
    assert Person.objects.count() == 2

    for name in alike[:3]:
        assert (
            post("/v1/token/", {"username": name, "password": ADA["password"]}).status_code == 200
        )


def test_a_migration_gives_the_first_of_names_that_look_alike_the_key(transactional_db):
    call_command("migrate", "accounts", "0001", verbosity=0)
    try:
        with connection.cursor() as cursor:
            for name in ("Ada", "ADA", "bob"):
                into = "accounts_person (username, password, is_active)"
                cursor.execute(f"INSERT INTO {into} VALUES (%s, '', TRUE)", [name])
    finally:
        call_command("migrate", verbosity=0)

    keys = dict(Person.objects.values_list("username", "username_key"))
    assert keys == {"Ada": "ada", "ADA": None, "bob": "bob"}
    for person in Person.objects.all():
        person.set_password("a rather long one")
        person.save()
        credentials = {"username": person.username, "password": "a rather long one"}
        assert post("/v1/token/", credentials).status_code == 200
