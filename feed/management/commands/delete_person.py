from feed import people
from feed.people_command import PeopleCommand


class Command(PeopleCommand):
    help = "Delete people with all that they wrote and did; this cannot be undone."
    done = "deleted"
    change = staticmethod(people.delete)
