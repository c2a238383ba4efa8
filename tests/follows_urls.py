"""The URLs of a service with FEED_EDGES=follows, which other tests don't have."""

from django.urls import include, path

from accounts.urls import EDGES as OF_ACCOUNTS
from config.urls import handler400, handler404, handler500  # noqa: F401
from config.urls import urlpatterns as usual
from feed.urls import EDGES as OF_FEED

FOLLOWS = [*OF_FEED["follows"], *OF_ACCOUNTS["follows"]]
urlpatterns = [path("v1/", include(FOLLOWS)), *usual]
