from feed import people
from feed.people_command import PeopleCommand


class Command(PeopleCommand):
    help = "Hide people and all that they wrote, until they are reactivated."
    done = "deactivated"
    change = staticmethod(people.deactivate)
