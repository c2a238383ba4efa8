"""Who listens to whom: those whom the people read whose streams are open."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet

from accounts.models import Person
from feed.recipients import Ids, circles_of


class Circles:
    """The circles of some people: those whom they read, and themselves."""

    def __init__(self) -> None:
        self._circles: dict[int, Ids] = {}
        self._versions: dict[int, int | None] = {}
        self._listeners: dict[int, list[int]] = defaultdict(list)

    def follow(self, people: AbstractSet[int]) -> None:
        """Be about exactly these people."""
        self._forget(self._circles.keys() - people)
        if new := people - self._circles.keys():
            self._versions |= _versions(new)  # before their circles
            for person_id, circle in circles_of(new).items():
                self._circles[person_id] = circle
                for author_id in circle.tolist():
                    self._listeners[author_id].append(person_id)

    def of(self, person_id: int) -> Ids:
        return self._circles[person_id]

    def listeners(self, author_id: int) -> Sequence[int]:
        """Return those of the people whose circle an author is in."""
        return self._listeners.get(author_id, ())

    def take_changed(self, people: AbstractSet[int]) -> set[int]:
        """Return those of the people whose circles may have changed, and forget these."""
        people = people & self._circles.keys()
        versions = _versions(people)
        changed = {one for one in people if versions.get(one) != self._versions.get(one)}
        self._forget(changed)
        return changed

    def _forget(self, people: AbstractSet[int]) -> None:
        for person_id in people:
            self._versions.pop(person_id, None)
            for author_id in self._circles.pop(person_id).tolist():
                self._listeners[author_id].remove(person_id)
                if not self._listeners[author_id]:
                    del self._listeners[author_id]


def _versions(person_ids: Collection[int]) -> dict[int, int | None]:
    people = Person.objects.filter(id__in=person_ids)
    return dict(people.values_list("id", "friends_version"))
