import pytest
from django.conf import settings

if settings.SETTINGS_MODULE != "tests.replays.settings":
    raise pytest.UsageError("tests/replays need DJANGO_SETTINGS_MODULE=tests.replays.settings")

if settings.DATABASES["default"]["ENGINE"] == "db.mysql":
    # They use no database of pytest, or show nothing else on this one.
    names = ("experiment", "expensive", "dying", "formats", "nginx", "published", "replicas")
    collect_ignore_glob = ["author", *(f"*/test_{name}.py" for name in names)]
