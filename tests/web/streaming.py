"""The service's URLs, with a feed stream that sends the events of a test."""

from queue import Queue

from django.conf import settings
from django.http import StreamingHttpResponse
from django.urls import include, path


class Stream:
    def __init__(self):
        self.sent = Queue()
        self.resumed_after = []
        """The Last-Event-ID of each request for the stream."""

    def send(self, event, data, event_id=1):
        self.sent.put(f"event: {event}\nid: {event_id}\ndata: {data}\n\n")

    def end(self):
        self.sent.put(None)

    def answer(self, request):
        self.resumed_after.append(request.headers.get("Last-Event-ID"))
        return StreamingHttpResponse(iter(self.sent.get, None), content_type="text/event-stream")


urlpatterns = [
    path("v1/feed/stream", lambda request: settings.STREAM.answer(request)),
    path("", include("config.urls")),
]
