"""The endpoints of the log of visits, before those of the service."""

from django.urls import path

from config.urls import *  # noqa: F403
from config.urls import urlpatterns
from replays.activity.app import views

OWN = [
    path("v1/activity/times/", views.TimesView.as_view(), name="activity-times"),
    path("v1/activity/visits/", views.VisitsView.as_view(), name="activity-visits"),
    path("v1/activity/summary/", views.SummaryView.as_view(), name="activity-summary"),
]
urlpatterns = [*OWN, *urlpatterns]
