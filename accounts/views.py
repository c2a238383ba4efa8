from collections.abc import Callable

from django.core.exceptions import ValidationError as InvalidPassword
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param
from rest_framework.views import APIView

from accounts import selectors, services, sessions
from accounts.authentication import TokenAuthentication, person_id
from accounts.serializers import (
    AfterSerializer,
    BlocksSerializer,
    FollowersSerializer,
    FollowingSerializer,
    FriendRequestsSerializer,
    FriendsSerializer,
    LogInSerializer,
    NewPasswordSerializer,
    PersonSerializer,
    RefreshSerializer,
    SignupSerializer,
    TokensSerializer,
)
from web.client_address import client_address

SIGNUP = SignupSerializer()
LOG_IN = LogInSerializer()
REFRESH = RefreshSerializer()
NEW_PASSWORD = NewPasswordSerializer()
TOKENS = TokensSerializer()
PERSON = PersonSerializer()
AFTER = AfterSerializer()


class SignupView(APIView):
    authentication_classes = ()
    permission_classes = (AllowAny,)
    sign_up = staticmethod(services.sign_up)

    @extend_schema(
        request=SignupSerializer,
        responses={
            201: PersonSerializer,
            409: OpenApiResponse(description="The username is taken."),
            429: OpenApiResponse(description="Too many sign-ups; retry after Retry-After."),
        },
    )
    def post(self, request: Request) -> Response:
        """Sign up; person, profile and membership of the public group are committed at 201."""
        new = SIGNUP.run_validation(request.data)
        person = self.sign_up(**new, address=client_address(request))
        return Response(PERSON.to_representation(person), status=201)


class FriendsView(APIView):
    @extend_schema(responses=FriendsSerializer)
    def get(self, request: Request) -> Response:
        """List one's own friends."""
        return Response({"friends": selectors.friends_of(person_id(request))})


class FollowersView(APIView):
    @extend_schema(parameters=[AfterSerializer], responses=FollowersSerializer)
    def get(self, request: Request) -> Response:
        """List those who read one's posts."""
        return _answer_ids(request, "followers", selectors.followers_of)


class FollowingView(APIView):
    @extend_schema(parameters=[AfterSerializer], responses=FollowingSerializer)
    def get(self, request: Request) -> Response:
        """List those whose posts one reads."""
        return _answer_ids(request, "following", selectors.followed_by)


class PrivateView(APIView):
    @extend_schema(request=None, responses={204: None})
    def put(self, request: Request) -> Response:
        """Become private: one accepts new followers, and nobody else reads one's posts."""
        services.set_private(person_id(request), is_private=True)
        return Response(status=204)

    @extend_schema(responses={204: None})
    def delete(self, request: Request) -> Response:
        """Be private no more. Those who have asked still wait for an answer."""
        services.set_private(person_id(request), is_private=False)
        return Response(status=204)


class FriendRequestsView(APIView):
    @extend_schema(responses=FriendRequestsSerializer)
    def get(self, request: Request) -> Response:
        """List the newest requests that wait for an answer, received and sent."""
        me = person_id(request)
        received, sent = selectors.requests_to(me), selectors.requests_of(me)
        return Response({"received": received, "sent": sent})


class BlocksView(APIView):
    @extend_schema(responses=BlocksSerializer)
    def get(self, request: Request) -> Response:
        """List the people whom one has blocked."""
        return Response({"blocks": selectors.blocked_by(person_id(request))})


class TokenView(APIView):
    """A view for those who have no access token."""

    authentication_classes = ()
    permission_classes = (AllowAny,)

    def get_authenticate_header(self, request: Request) -> str:
        return TokenAuthentication().authenticate_header(request)


class LogInView(TokenView):
    @extend_schema(
        request=LogInSerializer,
        responses={
            200: TokensSerializer,
            401: OpenApiResponse(description="Wrong credentials."),
            429: OpenApiResponse(description="Too many log-ins; retry after Retry-After."),
        },
    )
    def post(self, request: Request) -> Response:
        """Log in: begin a session, and get its tokens."""
        credentials = LOG_IN.run_validation(request.data)
        tokens = sessions.log_in(**credentials, address=client_address(request))
        return _answer_tokens(tokens)


class RefreshView(TokenView):
    @extend_schema(
        request=RefreshSerializer,
        responses={
            200: TokensSerializer,
            401: OpenApiResponse(description="The token is invalid, or its session has ended."),
        },
    )
    def post(self, request: Request) -> Response:
        """Exchange a refresh token for new tokens; used a second time, it ends its session."""
        return _answer_tokens(sessions.refresh(REFRESH.run_validation(request.data)["refresh"]))


class LogOutView(TokenView):
    @extend_schema(
        request=RefreshSerializer,
        responses={
            204: None,
            401: OpenApiResponse(description="The token is invalid."),
        },
    )
    def post(self, request: Request) -> Response:
        """Log out: end the session of a refresh token, with all its tokens."""
        sessions.log_out(REFRESH.run_validation(request.data)["refresh"])
        return Response(status=204)


class PasswordView(APIView):
    @extend_schema(
        request=NewPasswordSerializer,
        responses={
            200: TokensSerializer,
            429: OpenApiResponse(description="Too many attempts; retry after Retry-After."),
        },
    )
    def post(self, request: Request) -> Response:
        """Change one's password: all sessions end, and the answer has the tokens of a new one."""
        passwords = NEW_PASSWORD.run_validation(request.data)
        try:
            tokens = sessions.change_password(
                person_id=person_id(request),
                old=passwords["old_password"],
                new=passwords["new_password"],
                address=client_address(request),
            )
        except InvalidPassword as error:
            raise ValidationError({"new_password": error.messages}) from None
        return _answer_tokens(tokens)


def _answer_ids(request: Request, name: str, find: Callable[..., list[int]]) -> Response:
    query = AFTER.run_validation(request.query_params.dict())
    ids, following = find(person_id(request), after=query["after"]), None
    if len(ids) == selectors.MOST_LISTED:
        following = replace_query_param(request.build_absolute_uri(), "after", ids[-1])
    return Response({name: ids, "next": following})


def _answer_tokens(tokens: sessions.Tokens) -> Response:
    return Response(TOKENS.to_representation(tokens._asdict()))
