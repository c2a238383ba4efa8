from django.urls import include, path, register_converter
from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerView

from accounts.ids import PositiveIdConverter
from feed.health import HealthView, ReadyView, StatusView
from feed.home import HomeView

register_converter(PositiveIdConverter, "id")

DOCS = SpectacularSwaggerView.as_view(url_name="schema", metadata_class=None)

# Most requested first: Django tries the patterns in order.
urlpatterns = [
    path("v1/", include("feed.urls")),
    path("healthz", HealthView.as_view()),
    path("readyz", ReadyView.as_view()),
    path("statusz", StatusView.as_view()),
    path("v1/", include("accounts.urls")),
    path("v1/schema/", SpectacularJSONAPIView.as_view(), name="schema"),
    path("v1/docs/", DOCS, name="docs"),
    path("", HomeView.as_view(), name="home"),
]
handler400 = "web.api.bad_request"
handler404 = "web.api.not_found"
handler500 = "web.api.server_error"
