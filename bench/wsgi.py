"""The service and one view more, which costs what every request costs, and reads nothing."""

from django.http import HttpResponse
from django.urls import path
from rest_framework.request import Request
from rest_framework.views import APIView

from config import urls
from config.wsgi import application

__all__ = ["application"]


class ConstantView(APIView):
    """Answers as many bytes as it is asked for, to everybody who has a token."""

    def get(self, request: Request, size: int) -> HttpResponse:
        return HttpResponse(b"x" * size, content_type="application/json")


urls.urlpatterns.insert(0, path("constant/<int:size>/", ConstantView.as_view()))
