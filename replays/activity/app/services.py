"""Services: what changes the log of visits."""

from replays.activity.app.models import Card, IndexedLog, IndexedTag, PlainLog, PlainTag


def erase(person_id: int) -> None:
    """Remove a person's visits, their cards, and what was recorded with these."""
    for log in (PlainLog, IndexedLog):
        log.objects.filter(person_id=person_id).delete()
    cards = Card.objects.filter(person_id=person_id)
    numbers = list(cards.values_list("number", flat=True))
    for tag in (PlainTag, IndexedTag):
        tag.objects.filter(card__in=numbers).delete()
    cards.delete()
