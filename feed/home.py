"""The page at /: for people a small feed, for programs where everything is."""

import base64
import hashlib
import re
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.template.loader import render_to_string
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

JSON, HTML = "application/json", "text/html"
HEADERS = {"Vary": "Accept", "Cache-Control": "public, max-age=300"}
ANSWER = {
    "service": "feed",
    "description": "Write a post; every friend or follower finds it in their feed.",
    "documentation": "/v1/docs/",
    "schema": "/v1/schema/",
    "health": "/healthz",
    "readiness": "/readyz",
    "status": "/statusz",
}
POLICY = (
    "default-src 'none'; connect-src 'self'; script-src '{script}'; style-src '{style}'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)


@extend_schema(exclude=True)
class HomeView(APIView):
    authentication_classes = ()
    permission_classes = (AllowAny,)

    def get(self, request: Request) -> HttpResponse | Response:
        """Return the page to whoever prefers HTML, like a browser; to all others JSON."""
        if request.get_preferred_type([JSON, HTML]) != HTML:
            return Response(ANSWER, headers=HEADERS)
        page, policy = _page(request.build_absolute_uri("/").rstrip("/"))
        return HttpResponse(page, headers=HEADERS | {"Content-Security-Policy": policy})


@lru_cache(maxsize=16)  # ALLOWED_HOSTS may let in any number of names
def _page(address: str) -> tuple[str, str]:
    """Return the page, with the service's address in its commands, and what a browser may load."""
    follows = settings.FEED_EDGES == "follows"
    context: dict[str, Any] = {"address": address, "follows": follows, **ANSWER}
    page = render_to_string("feed/home.html", context)
    hashes = {tag: _hash_of(page, tag) for tag in ("script", "style")}
    return page, POLICY.format(**hashes)


def _hash_of(page: str, tag: str) -> str:
    """Return the hash of what is in a tag, which a page has once."""
    content = re.findall(rf"<{tag}\b.*?>(.*?)</{tag}>", page, re.DOTALL)
    return "sha256-" + base64.b64encode(hashlib.sha256(content[0].encode()).digest()).decode()
