"""Endpoints of what is between two people: friendship or follows, requests for it, and blocks."""

from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import person_id
from accounts.blocks import unblock
from accounts.follows import RequestState
from feed import follows


class RequestedSerializer(serializers.Serializer[Any]):
    state = serializers.ChoiceField(choices=["requested"])


ASKED = {
    202: RequestedSerializer,
    400: OpenApiResponse(description="This is yourself."),
    404: OpenApiResponse(description="Unknown person."),
    429: OpenApiResponse(description="Too many requests today, or too many that wait."),
}


class FriendView(APIView):
    @extend_schema(
        request=None, responses=ASKED | {204: OpenApiResponse(description="You are friends.")}
    )
    def put(self, request: Request, friend_id: int) -> Response:
        """Ask a person to be friends, or accept their request.

        Once both have asked, each one's posts, earlier ones too, are in the other's feed.
        """
        return _answer(follows.ask(person_id(request), friend_id))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, friend_id: int) -> Response:
        """End a friendship, withdraw a request, or decline one."""
        follows.unfriend(person_id(request), friend_id)
        return Response(status=204)


class FollowedView(APIView):
    @extend_schema(
        request=None, responses=ASKED | {204: OpenApiResponse(description="You follow them.")}
    )
    def put(self, request: Request, author_id: int) -> Response:
        """Follow a person: their posts, earlier ones too, are in one's feed.

        Who is private has to accept it first.
        """
        return _answer(follows.follow(person_id(request), author_id))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, author_id: int) -> Response:
        """Unfollow a person, or withdraw a request."""
        follows.unfollow(person_id(request), author_id)
        return Response(status=204)


class FollowerView(APIView):
    @extend_schema(
        request=None,
        responses={204: None, 404: OpenApiResponse(description="They haven't asked.")},
    )
    def put(self, request: Request, reader_id: int) -> Response:
        """Accept a follower who has asked."""
        follows.accept(person_id(request), reader_id)
        return Response(status=204)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, reader_id: int) -> Response:
        """Remove a follower, or decline a request."""
        follows.remove_follower(person_id(request), reader_id)
        return Response(status=204)


class BlockView(APIView):
    @extend_schema(
        request=None,
        responses={204: None, 400: OpenApiResponse(description="This is yourself.")},
    )
    def put(self, request: Request, other_id: int) -> Response:
        """Block a person: neither finds the other or their posts, nor reads them any more."""
        follows.block(person_id(request), other_id)
        return Response(status=204)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, other_id: int) -> Response:
        """Take a block back; what it ended does not return."""
        unblock(person_id(request), other_id)
        return Response(status=204)


def _answer(state: RequestState) -> Response:
    if state is RequestState.WAITING:
        return Response({"state": "requested"}, status=202)
    return Response(status=204)
