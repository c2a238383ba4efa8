"""Endpoints of the exports and of the report."""

from collections.abc import Generator, Iterator
from itertools import chain
from typing import Any

from django.http import FileResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from accounts.authentication import person_id
from accounts.models import Person
from replays.export.app import selectors, services
from replays.export.app.formats import FORMATS
from replays.export.app.models import ExportJob
from replays.export.app.serializers import (
    ExportJobSerializer,
    ExportQuerySerializer,
    NewExportSerializer,
    ReportSerializer,
)

QUERY = ExportQuerySerializer()
NEW_EXPORT = NewExportSerializer()
JOB = ExportJobSerializer()
REPORT = ReportSerializer()
LOCATION = OpenApiParameter(
    "Location", OpenApiTypes.URI, OpenApiParameter.HEADER, required=True, response=[202]
)
BUSY = {429: OpenApiResponse(description="Your last one is still being made.")}
FILES: dict[Any, Any] = {(200, kind.content_type): OpenApiTypes.BINARY for kind in FORMATS.values()}


class ExportView(APIView):
    is_expensive = True

    @extend_schema(parameters=[ExportQuerySerializer], responses=FILES | BUSY)
    def get(self, request: Request) -> StreamingHttpResponse:
        """Download one's whole feed and all one's own posts, newest first."""
        name = QUERY.run_validation(request.query_params.dict())["format"]
        return StreamingHttpResponse(
            _Begun(_export(person_id(request), name)),
            content_type=FORMATS[name].content_type,
            headers=_attachment(name),
        )


class ReportView(APIView):
    is_expensive = True

    @extend_schema(responses={200: ReportSerializer, **BUSY})
    def get(self, request: Request) -> Response:
        """Count the posts of one's feed, and their deliveries to friends, by author and month."""
        with services.one_at_a_time(person_id(request)):
            months = list(selectors.reach_by_month(person_id(request)))
        return Response(REPORT.to_representation({"months": months}))


class ExportJobsView(APIView):
    @extend_schema(
        request=NewExportSerializer,
        responses={202: ExportJobSerializer},
        parameters=[LOCATION],
    )
    def post(self, request: Request) -> Response:
        """Order an export, to be fetched later; an unfinished one is returned again."""
        name = NEW_EXPORT.run_validation(request.data)["format"]
        try:
            job = services.order_export(person_id=person_id(request), file_format=name)
        except Person.DoesNotExist:
            raise AuthenticationFailed("The token's person doesn't exist.") from None
        url = reverse("export-job", args=(job.id,), request=request)
        return _answer_job(request, job, status=202, headers={"Location": url})


class ExportJobView(APIView):
    @extend_schema(responses=ExportJobSerializer)
    def get(self, request: Request, job_id: int) -> Response:
        """Return the state of one's own export."""
        job = selectors.export_job(person_id=person_id(request), job_id=job_id)
        return _answer_job(request, job)


class ExportFileView(APIView):
    @extend_schema(responses=FILES)
    def get(self, request: Request, job_id: int) -> FileResponse:
        """Download an export that is ready."""
        job = selectors.export_job(person_id=person_id(request), job_id=job_id)
        try:
            file = services.export_file(job).open("rb")
        except FileNotFoundError:
            raise ExportJob.DoesNotExist from None
        content_type = FORMATS[job.format].content_type
        return FileResponse(file, content_type=content_type, headers=_attachment(job.format))


class _Begun:
    """Pieces of which the first was already made.

    So a failure of the first read becomes an error answer, not a truncated file.
    """

    def __init__(self, pieces: Generator[bytes]) -> None:
        self._pieces = chain((next(pieces),), pieces)
        self.close = pieces.close
        """Django calls this at the end of the answer, also of one that breaks off."""

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces


def _export(person_id: int, file_format: str) -> Generator[bytes]:
    with services.one_at_a_time(person_id):
        yield from FORMATS[file_format].write(selectors.exported_rows(person_id))


def _attachment(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="posts.{name}"'}


def _answer_job(request: Request, job: ExportJob, **how: Any) -> Response:
    ready = job.state == "ready"
    file = reverse("export-file", args=(job.id,), request=request) if ready else None
    fields = ("id", "format", "state", "created_at")
    found = {name: getattr(job, name) for name in fields}
    return Response(JOB.to_representation(found | {"file": file}), **how)
