from django.urls import path

from feed.exports import views

urlpatterns = [
    path("export/", views.ExportView.as_view(), name="export"),
    path("report/", views.ReportView.as_view(), name="report"),
    path("exports/", views.ExportJobsView.as_view(), name="export-jobs"),
    path("exports/<id:job_id>/", views.ExportJobView.as_view(), name="export-job"),
    path("exports/<id:job_id>/file/", views.ExportFileView.as_view(), name="export-file"),
]
