"""A client for tests that compares each answer with the API's schema."""

import re
from functools import cache

from django.urls import Resolver404
from drf_spectacular.generators import SchemaGenerator
from rest_framework.test import APIClient


class Client(APIClient):
    """Fails if a route answers a status, or leaves a header out, against the schema.

    It returns a 500, which the schema never tells, instead of raising the exception.
    """

    def __init__(self):
        super().__init__(raise_request_exception=False)
        paths()  # now, since tests measure times

    def request(self, **request):
        response = super().request(**request)
        if response.status_code != 500:
            assert_described(request["REQUEST_METHOD"], response)
        return response


def assert_described(method, response):
    described = operations(response).get(method.lower().replace("head", "get"))
    if described is None:
        return
    statuses = described["responses"]
    assert str(response.status_code) in statuses, (method, response, statuses.keys())
    headers = statuses[str(response.status_code)].get("headers", {})
    for name, header in headers.items():
        assert name in response or not header.get("required"), (method, response, name)


def operations(response):
    """Return the route's operations; {} for routes that the schema leaves out."""
    try:
        route = response.resolver_match.route
    except Resolver404:
        return {}
    return paths().get("/" + re.sub(r"<\w+:(\w+)>", r"{\1}", route), {})


@cache
def paths():
    return SchemaGenerator().get_schema(request=None, public=True)["paths"]
