"""The API of docs/target-api.md on Stream-Framework."""
# mypy: ignore-errors

import falcon
from fanout import page, publish, store


def person(request):
    token = (request.auth or "").removeprefix("Bearer ")
    owner = store.hget("tokens", token)
    if owner is None:
        raise falcon.HTTPUnauthorized
    return int(owner)


def as_json(post):
    return {
        "id": post.object_id,
        "author": post.actor_id,
        "body": post.extra_context["body"],
        "created_at": post.time.isoformat() + "Z",
    }


class Posts:
    def on_post(self, request, response):
        post = publish(person(request), request.media["body"])
        response.media, response.status = as_json(post), falcon.HTTP_201


class Feeds:
    def on_get(self, request, response):
        limit = request.get_param_as_int("limit", min_value=1, max_value=100, default=20)
        posts = page(person(request), request.get_param_as_int("before"), limit)
        more = f"{request.uri.partition('?')[0]}?before={posts[-1].object_id}" if posts else None
        is_last = len(posts) < limit
        response.media = {"posts": [*map(as_json, posts)], "next": None if is_last else more}


class Friends:
    def on_get(self, request, response):
        found = store.smembers(f"friends:{person(request)}")
        response.media = {"friends": sorted(map(int, found))}


class Ready:
    def on_get(self, request, response):
        store.ping()


app = falcon.App()
app.add_route("/v1/posts/", Posts())
app.add_route("/v1/feed/", Feeds())
app.add_route("/v1/me/friends/", Friends())
app.add_route("/readyz", Ready())
