from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.exceptions import APIException, Throttled
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework_simplejwt.exceptions import InvalidToken
from rest_framework_simplejwt.views import TokenRefreshView

from accounts import services
from accounts.authentication import person_id
from accounts.hashing import NoSlot
from accounts.models import Friendship, Person
from accounts.serializers import FriendsSerializer, PersonSerializer, SignupSerializer

SIGNUP = SignupSerializer()
PERSON = PersonSerializer()
RETRY_AFTER_S = 1


class UsernameTaken(APIException):
    status_code = 409
    default_detail = "This username is taken."
    default_code = "username_taken"


class SignupView(APIView):
    authentication_classes = ()
    permission_classes = (AllowAny,)

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
        try:
            person = services.sign_up(**new)
        except services.UsernameTaken:
            raise UsernameTaken from None
        except NoSlot:
            raise Throttled(wait=RETRY_AFTER_S) from None
        return Response(PERSON.to_representation(person), status=201)


class FriendsView(APIView):
    @extend_schema(responses=FriendsSerializer)
    def get(self, request: Request) -> Response:
        """List one's own friends."""
        friends = Friendship.objects.filter(person_id=person_id(request)).order_by("friend_id")
        return Response({"friends": list(friends.values_list("friend_id", flat=True))})


class RefreshView(TokenRefreshView):
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        try:
            return super().post(request, *args, **kwargs)
        except Person.DoesNotExist:
            raise InvalidToken("The token's person doesn't exist.") from None
