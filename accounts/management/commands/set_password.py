from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.hashers import make_password
from django.core.management import BaseCommand

from accounts.models import Person


class Command(BaseCommand):
    help = "Let everyone log in with one password, hashed once; for seeded people only."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("password")

    def handle(self, *args: Any, password: str, **options: Any) -> None:
        Person.objects.update(password=make_password(password))
