from contextlib import nullcontext

from django.conf import settings
from django.db import transaction

from accounts import services
from accounts.models import Person


def sign_up(*, username: str, password: str, name: str = "", address: str = "") -> Person:
    """Sign up as the service does; without SIGNUP_ATOMIC a fault can leave a part of a person."""
    encoded = services.admit(username, password, address)
    with transaction.atomic() if settings.SIGNUP_ATOMIC else nullcontext():
        return services.create_person(username, encoded, name)
