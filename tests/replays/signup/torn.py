from itertools import count

from django.apps import AppConfig
from django.db import OperationalError
from django.db.models.signals import pre_save

saves = count(1)


class Torn(AppConfig):
    """Lets the database fail between the writes of every fifth sign-up of a process."""

    name = "tests.replays.signup"
    label = "torn"

    def ready(self):
        pre_save.connect(fail_at_times, sender="accounts.Membership")


def fail_at_times(**kwargs):
    if next(saves) % 5 == 0:
        raise OperationalError("planted")
