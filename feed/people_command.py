"""Base class of the commands that deactivate, reactivate and delete people."""

import time
from abc import abstractmethod
from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError

from accounts.models import Person
from feed import people


class PeopleCommand(BaseCommand):
    """Changes people, and waits until what they wrote meanwhile shows it too."""

    done: str
    """What to print after a person's id."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("ids", metavar="ID", type=int, nargs="+")

    def handle(self, *args: Any, **options: Any) -> None:
        unknown = [person_id for person_id in options["ids"] if not self._change(person_id)]
        if len(unknown) < len(options["ids"]):
            time.sleep(people.LATE_S)
            people.finish_changes()
        if unknown:
            raise CommandError(f"unknown: {', '.join(map(str, unknown))}")

    @staticmethod
    @abstractmethod
    def change(person_id: int) -> None:
        """Change a person. Raises Person.DoesNotExist."""

    def _change(self, person_id: int) -> bool:
        try:
            self.change(person_id)
        except Person.DoesNotExist:
            return False
        self.stdout.write(f"{person_id}: {self.done}")
        return True
