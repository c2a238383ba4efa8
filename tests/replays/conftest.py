import pytest
from django.conf import settings

if settings.SETTINGS_MODULE != "tests.replays.settings":
    raise pytest.UsageError("tests/replays need DJANGO_SETTINGS_MODULE=tests.replays.settings")
