"""The published tables: tags of cards at devices; person and direction are looked up."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Q, QuerySet

from db.rows import insert_rows
from replays.activity.app.models import Card, Direction, Gate, IndexedLog, Log
from replays.activity.app.queries.base import CHUNK, Last, Queries, latest
from replays.activity.app.queries.published import AsFound, FewerQueries
from replays.activity.app.visits import Passage, Visit


class Way(NamedTuple):
    """The direction and gate of a device."""

    direction: str
    gate: int


class Tags(Queries):
    """Queries three tables per period, as published: cards, devices, then tags."""

    def logs_of(self, person_id: int) -> QuerySet[Any]:
        cards = Card.objects.filter(person_id=person_id).values_list("number", flat=True)
        tags: QuerySet[Any] = self.table.objects.filter(card__in=list(cards))
        return tags

    def stored(self, at: int) -> datetime:
        return datetime.fromtimestamp(at, UTC)

    def read(self, logs: QuerySet[Any]) -> list[Passage]:
        ways = ways_of_devices()
        return [Passage(unix(at), *ways[device]) for at, device in logs.values_list("at", "device")]

    def last_visit(self, person_id: int) -> Visit | None:
        ways, tags = ways_of_devices(), self.logs_of(person_id)
        entries = [device for device, way in ways.items() if way.direction == Direction.IN]
        entry = tags.filter(device__in=entries).order_by("-at", "-pk").first()
        if entry is None:
            return None
        later = tags.filter(Q(at__gt=entry.at) | Q(pk__gt=entry.pk), at__gte=entry.at)
        left_at = later.order_by("at", "pk").values_list("at", flat=True).first()
        return Visit(unix(entry.at), left_at and unix(left_at), ways[entry.device].gate)

    def last_of_everyone(self, direction: Direction | None = None) -> dict[int, Last]:
        ways, people = ways_of_devices(), dict(Card.objects.values_list("number", "person_id"))
        devices = [str(device) for device, way in ways.items() if way.direction == direction]
        only = f"WHERE device IN ({', '.join(devices) or 0})" if direction else ""
        return latest(
            [
                (people[card], unix(at), tag_id, ways[device].direction)
                for card, at, tag_id, device in self._last_of_cards(only)
            ]
        )

    def _last_of_cards(self, only: str) -> Iterator[tuple[str, datetime, int, int]]:
        """Yield card, time, id and device of each card's last tag, or of its last ``only`` WHERE.

        A condition that all tags meet would keep MySQL from jumping from card to card.
        """
        name = connection.ops.quote_name(self.table._meta.db_table)
        sql = f"""
            SELECT tag.card, tag.at, tag.id, tag.device
            FROM (SELECT card, MAX(at) AS at FROM {name} {only} GROUP BY card) AS last
            JOIN {name} AS tag ON tag.card = last.card AND tag.at = last.at
            {only}
        """  # noqa: S608
        for tag in self.table.objects.raw(sql):
            yield tag.card, tag.at, tag.id, tag.device

    def log_of(self, person_id: int) -> list[Log]:
        ways = ways_of_devices()
        return [
            IndexedLog(
                id=tag.pk,
                person_id=person_id,
                at=unix(tag.at),
                device=ways[tag.device].gate,
                direction=ways[tag.device].direction,
            )
            for tag in self.logs_of(person_id)
        ]

    def rows(self) -> Iterator[tuple[int, int, int, str]]:
        ways, people = ways_of_devices(), dict(Card.objects.values_list("number", "person_id"))
        tags = self.table.objects.values_list("card", "at", "pk", "device").iterator(CHUNK)
        for card, at, tag_id, device in tags:
            yield people[card], unix(at), tag_id, ways[device].direction

    def write(self, logs: Sequence[tuple[int, int, int, str]]) -> None:
        people, gates = {person for person, *_ in logs}, {gate for _, _, gate, _ in logs}
        Card.objects.bulk_create(
            (Card(number=card_of(person), person_id=person) for person in people),
            ignore_conflicts=True,
        )
        Gate.objects.bulk_create(
            (Gate(id=gate, entry_device=2 * gate - 1, exit_device=2 * gate) for gate in gates),
            ignore_conflicts=True,
        )
        tags = [
            (card_of(person), str(self.stored(at).replace(tzinfo=None)), 2 * gate - (way == "in"))
            for person, at, gate, way in logs
        ]
        insert_rows(self.table, ("card", "at", "device"), tags)


class TagsAsFound(Tags, AsFound):
    """Three queries of the tags per period."""


class TagsFewerQueries(Tags, FewerQueries):
    """Queries a tag outside of the period only if a visit extends to it."""


def ways_of_devices() -> dict[int, Way]:
    found = {}
    for gate in Gate.objects.all():
        found[gate.entry_device] = Way(Direction.IN.value, gate.pk)
        found[gate.exit_device] = Way(Direction.OUT.value, gate.pk)
    return found


def card_of(person_id: int) -> str:
    return f"card-{person_id:08}"


def unix(at: datetime) -> int:
    return int(at.timestamp())
