import json
from contextlib import nullcontext

import pytest
from django.core.management import CommandError, call_command

from accounts.models import Membership, Profile
from feed import people
from tests.accounts.test_signup import sign_up


@pytest.fixture
def check(tmp_path, capsys):
    """Run the check with a list of accepted sign-ups."""

    def run(*accepted, fails=False):
        path = tmp_path / "accepted.csv"
        rows = [f"{person_id},{username}" for person_id, username in accepted]
        path.write_text("\n".join(["id,username", *rows]))
        with pytest.raises(SystemExit) if fails else nullcontext():
            call_command("audit_signups", "--json", accepted=path)
        return json.loads(capsys.readouterr().out)

    return run


@pytest.mark.parametrize("part", [Profile, Membership])
def test_a_person_without_all_parts_is_half_made(check, db, part):
    sign_up()
    sign_up(username="bob")
    part.objects.filter(person__username="bob").delete()

    assert check(fails=True) == {"people": 2, "half_made": 1, "lost": 0, "ok": False}


def test_a_deleted_person_is_not_half_made(check, db):
    people.delete(sign_up().json()["id"])

    assert check() == {"people": 1, "half_made": 0, "lost": 0, "ok": True}


def test_an_accepted_sign_up_without_a_person_is_lost(check, db):
    person = sign_up().json()

    accepted = (person["id"], "ada")
    lost = [(person["id"], "eve"), (person["id"] + 1, "ada")]

    assert check(accepted) == {"people": 1, "half_made": 0, "lost": 0, "ok": True}
    found = check(accepted, *lost, fails=True)
    assert found == {"people": 1, "half_made": 0, "lost": 2, "ok": False}


def test_a_file_that_is_no_list_of_sign_ups_is_refused(tmp_path, db):
    path = tmp_path / "accepted.csv"
    path.write_text("id\n1\n")

    with pytest.raises(CommandError, match="not a list of sign-ups"):
        call_command("audit_signups", accepted=path)


def test_it_prints_its_findings(db, capsys):
    sign_up()

    call_command("audit_signups")

    assert capsys.readouterr().out == "1 people: 0 half made; 0 sign-ups lost\n"
