"""The API of docs/target-api.md on django-activity-stream."""
# mypy: ignore-errors

import json
import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings")
django.setup()

from actstream import action, registry  # noqa: E402
from actstream.models import Follow, user_stream  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.http import HttpResponse, JsonResponse  # noqa: E402
from django.urls import path  # noqa: E402

registry.register(User)


def person(request):
    return User.objects.get(last_name=request.headers["Authorization"].removeprefix("Bearer "))


def as_json(post):
    created_at = post.timestamp.isoformat()
    author, body = int(post.actor_object_id), post.description
    return {"id": post.id, "author": author, "body": body, "created_at": created_at}


def posts(request):
    sent = json.loads(request.body)
    ((_, post),) = action.send(person(request), verb="posted", description=sent["body"])
    return JsonResponse(as_json(post), status=201)


def feed(request):
    limit = int(request.GET.get("limit", 20))
    found = user_stream(person(request), with_user_activity=True).order_by("-id")
    if "before" in request.GET:
        found = found.filter(id__lt=int(request.GET["before"]))
    page = [*map(as_json, found[:limit])]
    more = len(page) == limit and request.build_absolute_uri(f"?before={page[-1]['id']}")
    return JsonResponse({"posts": page, "next": more or None})


def friends(request):
    followed = Follow.objects.filter(user=person(request)).values_list("object_id", flat=True)
    return JsonResponse({"friends": sorted(map(int, followed))})


def ready(request):
    return HttpResponse()


urlpatterns = [
    path("v1/posts/", posts),
    path("v1/feed/", feed),
    path("v1/me/friends/", friends),
    path("readyz", ready),
]
application = get_wsgi_application()
