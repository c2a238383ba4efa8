from django.urls import path

from activity import views

urlpatterns = [
    path("activity/times/", views.TimesView.as_view(), name="activity-times"),
    path("activity/visits/", views.VisitsView.as_view(), name="activity-visits"),
    path("activity/summary/", views.SummaryView.as_view(), name="activity-summary"),
]
