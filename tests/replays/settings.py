"""The service with all replays."""

from replays.activity.settings import *  # noqa: F403
from replays.browse.settings import *  # noqa: F403
from replays.export.settings import *  # noqa: F403
from replays.signup.settings import *  # noqa: F403

ROOT_URLCONF = "tests.replays.urls"
