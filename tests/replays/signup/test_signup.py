"""The published sign-up, in three commits, and the hashers that were compared."""

import pytest
from django.conf import settings as django_settings
from django.db import OperationalError
from django.db.models.signals import pre_save

from accounts.models import Membership, Person
from replays.signup.app.management.commands.audit_signups import half_made
from tests.accounts.test_signup import sign_up
from tests.accounts.test_signup import (
    test_a_password_of_an_older_hasher_still_works_and_is_rehashed as older_works,
)
from tests.accounts.test_signup import (
    test_of_concurrent_sign_ups_with_one_name_one_succeeds as one_of_concurrent_succeeds,
)


@pytest.fixture
def fails():
    """The database fails between the writes of a sign-up."""

    def fail(**kwargs):
        raise OperationalError("planted")

    pre_save.connect(fail, sender=Membership)
    yield
    pre_save.disconnect(fail, sender=Membership)


@pytest.mark.parametrize("atomic", [True, False], ids=["one transaction", "three commits"])
def test_a_fault_leaves_a_part_of_a_person_only_after_a_commit(db, settings, fails, atomic):
    settings.SIGNUP_ATOMIC = atomic

    assert sign_up().status_code == 503

    assert half_made().count() == Person.objects.count() == (not atomic)


def test_of_concurrent_sign_ups_in_three_commits_one_succeeds(transactional_db, settings):
    settings.SIGNUP_ATOMIC = False

    one_of_concurrent_succeeds(transactional_db, settings)


@pytest.mark.parametrize("hasher", django_settings.HASHERS.values())
def test_a_password_of_any_hasher_still_works_and_is_rehashed(db, settings, hasher):
    older_works(db, settings, hasher)
