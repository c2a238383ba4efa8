"""The endpoints of exports and of the report, before those of the service."""

from django.urls import path

from config.urls import *  # noqa: F403
from config.urls import urlpatterns
from replays.export.app import views

OWN = [
    path("v1/me/export/", views.ExportView.as_view(), name="export"),
    path("v1/me/report/", views.ReportView.as_view(), name="report"),
    path("v1/me/exports/", views.ExportJobsView.as_view(), name="export-jobs"),
    path("v1/me/exports/<id:job_id>/", views.ExportJobView.as_view(), name="export-job"),
    path("v1/me/exports/<id:job_id>/file/", views.ExportFileView.as_view(), name="export-file"),
]
urlpatterns = [*OWN, *urlpatterns]
