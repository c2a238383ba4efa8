"""The API's schema: every status that an operation can answer, from what its view declares."""

import re
from collections.abc import Iterator
from inspect import getdoc
from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent

from web.serializers import StrictSerializer, TextField

Node = dict[str, Any]

# str.strip() removes these; what \s means depends on the regular expressions' dialect.
BLANK = r"\t-\r\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
VISIBLE_TEXT = rf"^[{BLANK}]*[^\u0000{BLANK}][^\u0000]*$"
TEXT = r"^[^\u0000]*$"

MESSAGE: Node = {"type": "string"}
ERROR: Node = {
    "type": "object",
    "description": "Why the request was refused.",
    "properties": {"detail": MESSAGE},
    "required": ["detail"],
}
INVALID: Node = {
    "type": "object",
    "description": "What is wrong, by field; or `detail`, if the request as a whole is.",
    "additionalProperties": {"oneOf": [MESSAGE, {"type": "array", "items": MESSAGE}]},
}
REFUSALS = {
    "400": "A field, a parameter, a header or the body is invalid.",
    "401": "The access token is missing or not valid.",
    "404": "It doesn't exist, or not for this person.",
    "413": "The request is too large.",
    "414": "The URL is too long.",
    "415": "The body is not application/json.",
    "417": "The header Expect is not understood.",
    "431": "The headers are too long.",
    "503": "The service, or a server behind it, can't take the request now.",
}
"""Status → description, unless a view describes it itself."""
RETRY_AFTER: Node = {
    "Retry-After": {
        "description": "Seconds until another try makes sense.",
        "required": True,
        "schema": {"type": "integer", "minimum": 1},
    }
}
CHALLENGE: Node = {"WWW-Authenticate": {"required": True, "schema": {"type": "string"}}}
HEADERS = {"401": CHALLENGE, "429": RETRY_AFTER, "503": RETRY_AFTER}
UNPARSED = {"414", "417", "431"}
"""The web server answers these itself, without a JSON body."""
GROUPS = {
    "Feed": "Your own posts and those of your friends, or of the people whom you follow.",
    "Posts": "Write, read and delete posts. A 201 means that a post is stored; delivery follows.",
    "Friends": "You are friends once both have asked; then each sees the other's posts.",
    "Follows": "Follow a person to see their posts. Who is private has to accept it first.",
    "Blocks": "Hide two people from each other, and end what is between them.",
    "Account": "Sign up, log in, log out. An access token is valid for an hour; then refresh it.",
}
"""Group of operations → what it is for, in the order of the documentation."""
GROUP_OF = {
    "people": "Posts",
    "friend-requests": "Friends",
    **dict.fromkeys(("following", "followers", "follow-requests", "private"), "Follows"),
    **dict.fromkeys(("signup", "token", "password"), "Account"),
}
"""First word of a path → its group, unless it is the group's name."""


def describe_groups(result: Node, **kwargs: Any) -> Node:
    """Describe the groups that have operations (a hook of drf-spectacular)."""
    operations = (path.values() for path in result["paths"].values())
    used = {tag for path in operations for operation in path for tag in operation["tags"]}
    described = [{"name": name, "description": GROUPS[name]} for name in GROUPS if name in used]
    return result | {"tags": described}


class Schema(AutoSchema):
    """Adds the refusals that follow from a view's authentication, path and body.

    A view declares only its own ones, with a description; they get the body of errors too.
    A docstring's first clause is the summary.
    """

    def get_tags(self) -> list[str]:
        word = self.path.removeprefix("/v1/").removeprefix("me/").split("/")[0]
        return [GROUP_OF.get(word, word.capitalize())]

    def get_summary(self) -> str:
        return re.split(r"[.:;](?:\s|$)", self.get_description())[0]

    def _get_response_bodies(self, direction: Any = "response") -> Node:
        described: Node = super()._get_response_bodies(direction)
        refusals: Node = {status: {"description": REFUSALS[status]} for status in self._refusals()}
        responses = dict(sorted((refusals | described).items()))
        for status, response in responses.items():
            if status >= "400" and status not in UNPARSED:
                response.setdefault("content", self._error(status))
            if status in HEADERS:
                response["headers"] = response.get("headers", {}) | HEADERS[status]
        return responses

    def _refusals(self) -> Iterator[str]:
        yield from ("400", "503", *UNPARSED)
        if self.view.get_authenticate_header(self.view.request):  # else DRF answers 403
            yield "401"
        if "{" in self.path:
            yield "404"
        if self._get_request_body():
            yield from ("413", "415")

    def _error(self, status: str) -> Node:
        name, schema = ("Invalid", INVALID) if status == "400" else ("Error", ERROR)
        component = ResolvedComponent(name, ResolvedComponent.SCHEMA, schema, object=name)
        self.registry.register_on_missing(component)
        return {"application/json": {"schema": component.ref}}

    def _insert_field_validators(self, field: Any, schema: Node) -> None:
        super()._insert_field_validators(field, schema)
        if isinstance(field, TextField):
            may_be_blank = field.allow_blank or not field.trim_whitespace
            schema.setdefault("pattern", TEXT if may_be_blank else VISIBLE_TEXT)

    def _map_basic_serializer(self, serializer: Any, direction: Any) -> Node:
        schema: Node = super()._map_basic_serializer(serializer, direction)
        if isinstance(serializer, StrictSerializer):
            schema["additionalProperties"] = False
            if schema.get("description") == getdoc(StrictSerializer):
                del schema["description"]
        return schema
