from config.urls import *  # noqa: F403
from config.urls import urlpatterns
from replays.activity import urls as activity
from replays.browse import urls as browse
from replays.export import urls as export
from replays.signup import urls as signup

urlpatterns = [*activity.OWN, *browse.OWN, *export.OWN, *signup.OWN, *urlpatterns]
