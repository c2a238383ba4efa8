"""Sign-up in one transaction or in three, before the routes of the service."""

from django.urls import path

from accounts.views import SignupView
from config.urls import *  # noqa: F403
from config.urls import urlpatterns
from replays.signup.app.services import sign_up

OWN = [path("v1/signup/", SignupView.as_view(sign_up=sign_up), name="signup")]
urlpatterns = [*OWN, *urlpatterns]
