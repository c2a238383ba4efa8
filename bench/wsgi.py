"""The service, and two views: what every request costs, and what an exchange with Redis adds."""

from django.http import HttpResponse
from django.urls import path
from rest_framework.request import Request
from rest_framework.views import APIView

from config import urls
from config.wsgi import application
from feed.timeline_stores import get_timeline_store
from feed.timeline_stores.redis import RedisStore

__all__ = ["application"]


class ConstantView(APIView):
    """Answers as many bytes as it is asked for, to everybody who has a token."""

    def get(self, request: Request, size: int) -> HttpResponse:
        return HttpResponse(b"x" * size, content_type="application/json")


class ExchangeView(ConstantView):
    """Asks the Redis of the timelines for nothing first."""

    def get(self, request: Request, size: int) -> HttpResponse:
        store = get_timeline_store()
        assert isinstance(store, RedisStore)
        store.servers.ask("PING")
        return super().get(request, size)


urls.urlpatterns[:0] = [
    path("constant/<int:size>/", ConstantView.as_view()),
    path("exchange/<int:size>/", ExchangeView.as_view()),
]
