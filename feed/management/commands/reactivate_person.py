from feed import people
from feed.people_command import PeopleCommand


class Command(PeopleCommand):
    help = "Show deactivated people and their posts again."
    done = "active"
    change = staticmethod(people.reactivate)
