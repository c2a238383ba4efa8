from feed import people
from feed.people_command import PeopleCommand


class Command(PeopleCommand):
    help = "Show deactivated people and their posts again."
    done = "active"

    def change(self, person_id: int) -> None:
        people.reactivate(person_id)
