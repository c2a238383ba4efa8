"""The endpoints of posts, with a listing by likes; and those of likes."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import remove_query_param, replace_query_param
from rest_framework.views import APIView

from accounts.authentication import person_id
from feed import views as feed
from replays.browse.app import likes
from replays.browse.app.listings import Place, Position, get_listing
from replays.browse.app.replicas import has_written, reading
from replays.browse.app.serializers import (
    LikedPostSerializer,
    ListingQuerySerializer,
    ListingSerializer,
)

LIKED_POST = LikedPostSerializer()
LISTING_QUERY = ListingQuerySerializer()
LISTING = ListingSerializer()


class PostsView(feed.PostsView):
    @extend_schema(
        operation_id="v1_posts_list",
        parameters=[ListingQuerySerializer],
        responses=ListingSerializer,
    )
    def get(self, request: Request) -> Response:
        """List all posts that one may read, by likes, then newest first."""
        query = LISTING_QUERY.run_validation(request.query_params.dict())
        after = query["after"] and Position.parse(query["after"])
        place = Place(query["page"], after, query["size"])
        viewer_id, fresh = person_id(request), has_written(request)
        with reading(request):
            page = get_listing().page(place, viewer_id=viewer_id, fresh=fresh)
        following = None
        if page.next:
            url = remove_query_param(request.build_absolute_uri(), "page")
            following = replace_query_param(remove_query_param(url, "after"), *page.next)
        return Response(LISTING.to_representation({"posts": page.posts, "next": following}))


class PostView(feed.PostView):
    @extend_schema(responses=LikedPostSerializer)
    def get(self, request: Request, post_id: int) -> Response:
        """Read a post."""
        with reading(request):
            post = get_listing().post(post_id, viewer_id=person_id(request))
        return Response(LIKED_POST.to_representation(post))


class LikeView(APIView):
    @extend_schema(request=None, responses={204: None})
    def put(self, request: Request, post_id: int) -> Response:
        """Like a post."""
        likes.like_post(person_id=person_id(request), post_id=post_id)
        return Response(status=204)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, post_id: int) -> Response:
        """Remove one's like."""
        likes.unlike_post(person_id=person_id(request), post_id=post_id)
        return Response(status=204)
