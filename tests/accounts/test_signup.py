"""Signing up: a whole person or nothing, and no hash for a taken username."""

import json

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.hashers import check_password, identify_hasher
from django.core.management import call_command
from django.utils.module_loading import import_string

from accounts.models import Membership, Person, Profile, Revocation
from tests.conftest import client_of
from tests.parallel import in_parallel

ADA = {"username": "ada", "password": "a rather long one", "name": "Ada Lovelace"}


def sign_up(**changes):
    return client_of(None).post("/v1/signup/", ADA | changes, format="json")


def log_in():
    credentials = {name: ADA[name] for name in ("username", "password")}
    return client_of(None).post("/v1/token/", credentials, format="json")


def test_a_person_has_a_profile_and_is_in_the_public_group(db):
    response = sign_up()

    person = Person.objects.get()
    assert response.status_code == 201
    assert response.json() == {"id": person.id, "username": "ada"}
    assert Profile.objects.get().name == "Ada Lovelace"
    assert Membership.objects.get().group.name == "public"
    assert log_in().status_code == 200


def test_the_display_name_is_optional_and_spaces_are_part_of_a_password(db):
    asked = {"username": "ada", "password": " with spaces "}

    assert client_of(None).post("/v1/signup/", asked, format="json").status_code == 201

    assert Profile.objects.get().name == ""
    assert check_password(" with spaces ", Person.objects.get().password)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        *(("username", value) for value in (None, "", "a b", "a/b", "\ud800", "x" * 151)),
        ("username", "\ufdfa" * 9),  # 9 characters that are normalized to 162
        *(("password", value) for value in (None, 12345678, "", "x7" * 65, "a\0bcdefghi")),
        *(("password", weak) for weak in ("a1b2c3d", "password1", "5829175839", "ada lovelac")),
        ("is_active", False),
    ],
    ids=lambda value: ascii(value)[:12],
)
def test_what_is_invalid_is_refused_by_name(db, name, wrong):
    asked = json.dumps(ADA | {"username": "ada.lovelace", name: wrong})

    response = client_of(None).post("/v1/signup/", asked, content_type="application/json")

    assert (response.status_code, list(response.json())) == (400, [name])
    assert not Person.objects.exists()


def test_a_taken_username_is_refused_and_its_owner_keeps_their_password(db):
    sign_up()

    assert sign_up(password="another good one").status_code == 409
    assert log_in().status_code == 200


def test_of_concurrent_sign_ups_with_one_name_one_succeeds(transactional_db, settings):
    settings.MAX_HASHING = 0
    client_of(None)  # builds the schema, which threads must not do at once

    def status():
        # InnoDB may end a deadlock over entries that it has not purged: clients try again.
        while (answered := sign_up().status_code) == 503:
            pass
        return answered

    assert sorted(in_parallel(8 * [status])) == [201, *[409] * 7]
    assert Profile.objects.get().person.memberships.count() == 1


def test_a_flush_leaves_the_group_that_everyone_joins(transactional_db):
    call_command("flush", interactive=False)

    assert sign_up().status_code == 201


@pytest.mark.parametrize("older", django_settings.PASSWORD_HASHERS[1:])
def test_a_password_of_an_older_hasher_still_works_and_is_rehashed(db, settings, older):
    known = settings.PASSWORD_HASHERS
    settings.PASSWORD_HASHERS = [older, *known]
    sign_up()
    before = identify_hasher(Person.objects.get().password)

    settings.PASSWORD_HASHERS = known

    assert log_in().status_code == 200
    assert Person.objects.get().password.startswith("argon2$argon2id$v=19$m=19456,t=2,p=1$")
    assert before.algorithm == import_string(older).algorithm
    assert not Revocation.objects.exists()  # it is the same password
