"""The audit: clean for right answers, red for planted faults."""

import json
from io import StringIO

import pytest
from django.conf import settings as django_settings
from django.core.management import call_command

from tests.conftest import make_people


@pytest.fixture
def audited(transactional_db, settings):
    """Seed a small log and audit it; return the exit status and the findings."""

    def audit(alias):
        settings.ACTIVITY_QUERIES = alias
        make_people(10)
        call_command("seed_visits", rows=5000)
        out, status = StringIO(), 0
        try:
            call_command("audit_activity", json=True, stdout=out)
        except SystemExit as end:
            status = end.code
        return status, json.loads(out.getvalue())

    return audit


@pytest.mark.parametrize("alias", django_settings.ACTIVITY_IMPLEMENTATIONS)
def test_the_audit_of_every_implementation_is_clean(alias, audited):
    assert audited(alias) == (0, {"compared": 31, "wrong_answers": 0})


@pytest.mark.parametrize(("wrong", "at_least"), [("Forgetful", 5), ("Miscounting", 1)])
def test_the_audit_finds_wrong_answers(wrong, at_least, audited, settings):
    settings.ACTIVITY_IMPLEMENTATIONS = settings.ACTIVITY_IMPLEMENTATIONS | {
        "best": {
            "BACKEND": f"tests.replays.activity.wrong.{wrong}",
            "OPTIONS": {"table": "IndexedLog"},
        }
    }

    status, found = audited("best")

    assert status == 1
    assert found["wrong_answers"] >= at_least
