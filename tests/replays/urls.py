from config.urls import *  # noqa: F403
from config.urls import urlpatterns
from replays.activity import urls as activity
from replays.signup import urls as signup

urlpatterns = [*activity.OWN, *signup.OWN, *urlpatterns]
