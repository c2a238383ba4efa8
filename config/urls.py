from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView

from feed.health import healthz, readyz

urlpatterns = [
    path("healthz", healthz),
    path("readyz", readyz),
    path("v1/", include("accounts.urls")),
    path("v1/", include("feed.urls")),
    path("v1/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("v1/docs/", SpectacularSwaggerView.as_view(url_name="schema"), name="docs"),
]
handler400 = "config.api.bad_request"
handler404 = "config.api.not_found"
handler500 = "config.api.server_error"
