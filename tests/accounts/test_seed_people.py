import csv

import pytest
from django.core.management import CommandError, call_command

from accounts.models import Follow, Membership, Person, Profile
from tests.conftest import client_of


def seed(**options):
    call_command("seed_people", **({"people": 20, "friends": 6} | options))


def test_whole_people_without_passwords_and_mutual_friendships_are_written(db):
    seed()

    assert not Person.objects.get(id=1).has_usable_password()
    assert Membership.objects.count() == Profile.objects.count() == 20
    pairs = set(Follow.objects.values_list("author_id", "reader_id"))
    assert list(Person.objects.order_by("id").values_list("id", flat=True)) == list(range(1, 21))
    assert len(pairs) == 20 * 6
    assert pairs == {(b, a) for a, b in pairs}


def test_the_tokens_authenticate_each_person_and_only_their_owner_reads_them(db, tmp_path):
    tokens = tmp_path / "deep" / "tokens.csv"
    tokens.parent.mkdir()
    tokens.write_text("of a run before")
    tokens.chmod(0o644)

    seed(tokens=tokens)

    assert tokens.stat().st_mode & 0o777 == 0o600
    with tokens.open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["person_id"]) for row in rows] == list(range(1, 21))
    client = client_of(None)
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {rows[19]['token']}")
    assert client.get("/v1/feed/").status_code == 200


def test_with_a_password_everyone_can_log_in(db):
    seed(password="a good one")

    login = {"username": "person7", "password": "a good one"}
    assert client_of(None).post("/v1/token/", login, format="json").status_code == 200


@pytest.mark.parametrize(
    "wrong",
    [{"people": 0}, {"friends": -1}, {"friends": 20}, {"people": 7, "friends": 3}, {"largest": 20}],
)
def test_an_impossible_graph_is_refused_and_nothing_is_written(wrong, db):
    with pytest.raises(CommandError):
        seed(**wrong)

    assert not Person.objects.exists()


def test_a_database_with_people_is_not_changed(friends):
    with pytest.raises(CommandError, match="there are people already"):
        seed()

    assert Person.objects.count() == 4
