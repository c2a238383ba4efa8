"""Every view that hashes a password is in the lane for that, whatever views there are."""

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from drf_spectacular.generators import SchemaGenerator

from accounts.models import Person
from tests.conftest import client_of
from web.lanes import HASHING, known_paths

PASSWORD = "a good password 1"
VALUES = {"username": "person1", "body": "hello"}


class Counting(PBKDF2PasswordHasher):
    iterations = 1
    hashed = 0

    def encode(self, *arguments):
        Counting.hashed += 1
        return super().encode(*arguments)


@pytest.fixture
def people(friends, settings):
    settings.PASSWORD_HASHERS = [f"{__name__}.Counting"]
    person = Person.objects.get(pk=1)
    person.set_password(PASSWORD)
    person.save()


def operations():
    """Yield method, path and body of every operation that the schema describes."""
    schema = SchemaGenerator().get_schema(request=None, public=True)
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {})
            yield method, path, _body(content.get("application/json", {}), schema)


def _body(content, schema):
    name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
    fields = schema["components"]["schemas"].get(name, {}).get("properties", {})
    return {field: VALUES.get(field, PASSWORD) for field in fields}


def test_no_other_view_hashes(people):
    hashing = set()
    for method, path, body in operations():
        before, url = Counting.hashed, path.replace("{", "").replace("}", "")
        for person_id in (1, None):
            for name in ("person1", "somebody"):
                sent = body | ({"username": name} if "username" in body else {})
                client = client_of(person_id)
                getattr(client, method)(url.replace("_id", ""), sent, format="json")
        if Counting.hashed > before:
            hashing.add(path.encode())

    assert hashing == {path for path, lane in known_paths().items() if lane == HASHING}
