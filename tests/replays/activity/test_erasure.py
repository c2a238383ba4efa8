"""Nothing stays of the visits of a person who is deleted."""

from feed import people
from replays.activity.app.models import Card, Direction, IndexedLog, IndexedTag, PlainLog, PlainTag
from tests.conftest import make_people
from tests.feed.test_people import NOW, ONLY_IDS, references

TAGS = (PlainTag, IndexedTag)


def visit(person_id):
    for log in (PlainLog, IndexedLog):
        log.objects.create(person_id=person_id, at=1, device=1, direction=Direction.IN)
    card = Card.objects.create(number=f"card {person_id}", person_id=person_id)
    for tag in TAGS:
        tag.objects.create(card=card.number, at=NOW, device=1)


def test_no_table_names_a_deleted_person(db):
    make_people(2)
    visit(1)
    visit(2)
    before = references(2)
    assert before == {"PlainLog.person_id", "IndexedLog.person_id", "Card.person_id"}

    people.delete(1)

    assert references(1) <= {*ONLY_IDS, "AuthorChange.person_id"}
    assert references(2) == before
    for tag in TAGS:
        assert tag.objects.get().card == "card 2"
