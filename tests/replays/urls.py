from config.urls import *  # noqa: F403
from config.urls import urlpatterns
from replays.activity import urls as activity

urlpatterns = [*activity.OWN, *urlpatterns]
