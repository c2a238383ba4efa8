"""Activity endpoints: a person's own log of visits."""

from datetime import date

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import person_id
from replays.activity.app import selectors
from replays.activity.app.periods import today
from replays.activity.app.serializers import (
    DayQuerySerializer,
    SummarySerializer,
    TimesSerializer,
    VisitsSerializer,
)

DAY_QUERY = DayQuerySerializer()
TIMES = TimesSerializer()
VISITS = VisitsSerializer()
SUMMARY = SummarySerializer()


class TimesView(APIView):
    @extend_schema(parameters=[DayQuerySerializer], responses=TimesSerializer)
    def get(self, request: Request) -> Response:
        """Return the time that one was inside on a day, in its month and the five before it."""
        times = selectors.accumulated_times(person_id=person_id(request), day=_day(request))
        return Response(TIMES.to_representation(times))


class VisitsView(APIView):
    @extend_schema(parameters=[DayQuerySerializer], responses=VisitsSerializer)
    def get(self, request: Request) -> Response:
        """List one's visits of a day; a visit that crosses midnight is cut there."""
        visits = selectors.visits_of_day(person_id=person_id(request), day=_day(request))
        return Response(VISITS.to_representation({"visits": visits}))


class SummaryView(APIView):
    @extend_schema(
        responses={
            200: SummarySerializer,
            404: OpenApiResponse(description="The token's person doesn't exist."),
        }
    )
    def get(self, request: Request) -> Response:
        """Return one's name and last visit, and the number of people inside now."""
        return Response(SUMMARY.to_representation(selectors.summary(person_id=person_id(request))))


def _day(request: Request) -> date:
    day: date | None = DAY_QUERY.run_validation(request.query_params.dict())["day"]
    return day or today()
