"""Feed endpoints: they parse requests, call services and selectors, and answer."""

import json
from typing import Any

from django.http import Http404, HttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param
from rest_framework.views import APIView

from accounts.authentication import person_id
from accounts.selectors import known_to
from feed import selectors, services
from feed.backlog import BacklogFull
from feed.serializers import (
    KEY_PATTERN,
    IdempotencyKeySerializer,
    NewPostSerializer,
    PageQuerySerializer,
    PageSerializer,
    PostSerializer,
)
from web.api import Unavailable

# Created once: each new serializer copies all its fields.
NEW_POST = NewPostSerializer()
IDEMPOTENCY_KEY = IdempotencyKeySerializer()
PAGE_QUERY = PageQuerySerializer()
FIRST_PAGE: dict[str, Any] = PAGE_QUERY.run_validation({})
POST = PostSerializer()
PAGE = PageSerializer()

IDEMPOTENCY_KEY_HEADER = OpenApiParameter(
    "Idempotency-Key",
    location=OpenApiParameter.HEADER,
    pattern=rf"^{KEY_PATTERN}$",
    description="1 to 255 printable ASCII characters. A request that repeats a key returns the "
    "first one's post again; with another body it is refused.",
)
REPLAYED_HEADER = OpenApiParameter(
    "Idempotent-Replayed",
    location=OpenApiParameter.HEADER,
    enum=["true"],
    response=[201],
    description="The answer to a repeated Idempotency-Key.",
)


class DeliveriesBehind(Unavailable):
    default_detail = "Deliveries are behind. Try again later."
    default_code = "backlog_full"
    wait = 10


class PostsView(APIView):
    @extend_schema(
        request=NewPostSerializer,
        responses={
            201: PostSerializer,
            404: OpenApiResponse(description="The key's post has been deleted."),
            422: OpenApiResponse(description="The key was used with another body."),
            503: OpenApiResponse(description="Deliveries are behind, or a server is away."),
        },
        parameters=[IDEMPOTENCY_KEY_HEADER, REPLAYED_HEADER],
    )
    def post(self, request: Request) -> Response:
        """Write a post; it is committed when the answer is 201."""
        new = NEW_POST.run_validation(request.data)
        try:
            published = services.publish_post(
                author_id=person_id(request),
                body=new["body"],
                idempotency_key=_idempotency_key(request),
            )
        except BacklogFull:
            raise DeliveriesBehind from None
        headers = {"Idempotent-Replayed": "true"} if published.replayed else None
        return Response(POST.to_representation(published.post), status=201, headers=headers)


class PostView(APIView):
    @extend_schema(responses=PostSerializer)
    def get(self, request: Request, post_id: int) -> Response:
        """Read a post."""
        post = selectors.readable_post(post_id, viewer_id=person_id(request))
        return Response(POST.to_representation(post))

    @extend_schema(
        responses={204: None, 403: OpenApiResponse(description="Somebody else wrote it.")}
    )
    def delete(self, request: Request, post_id: int) -> Response:
        """Delete one's own post."""
        services.delete_post(person_id=person_id(request), post_id=post_id)
        return Response(status=204)


class FeedView(APIView):
    @extend_schema(parameters=[PageQuerySerializer], responses=PageSerializer)
    def get(self, request: Request) -> HttpResponse:
        """Read one's own feed, newest first."""
        feed = selectors.read_timeline(owner_id=person_id(request), **_page_query(request))
        posts, following = b",".join(feed.posts.values()), json.dumps(_following(request, feed))
        page = b'{"posts":[%b],"next":%b}' % (posts, following.encode())
        return HttpResponse(page, content_type="application/json")


class PersonPostsView(APIView):
    @extend_schema(parameters=[PageQuerySerializer], responses=PageSerializer)
    def get(self, request: Request, author_id: int) -> Response:
        """Read a person's own posts, as far as one may, newest first."""
        viewer_id = person_id(request)
        page = selectors.posts_by(author_id=author_id, viewer_id=viewer_id, **_page_query(request))
        if not page.posts and not known_to(viewer_id).filter(id=author_id).exists():
            raise Http404
        answer = {"posts": page.posts, "next": _following(request, page)}
        return Response(PAGE.to_representation(answer))


def _idempotency_key(request: Request) -> str | None:
    given = request.META.get("HTTP_IDEMPOTENCY_KEY")  # request.headers would copy all headers
    if given is None:
        return None
    return str(IDEMPOTENCY_KEY.run_validation({"key": given})["key"])


def _page_query(request: Request) -> dict[str, Any]:
    if not request.META.get("QUERY_STRING"):  # skips building query_params
        return FIRST_PAGE
    query: dict[str, Any] = PAGE_QUERY.run_validation(request.query_params.dict())
    return query


def _following(request: Request, page: selectors.PostPage | selectors.Feed) -> str | None:
    """Return the URL of the next page; None at the end."""
    if page.next_before is None:
        return None
    if not request.META.get("QUERY_STRING"):  # skips parsing the URL; the path is ASCII
        return f"{request.scheme}://{request.get_host()}{request.path}?before={page.next_before}"
    url: str = replace_query_param(request.build_absolute_uri(), "before", page.next_before)
    return url
