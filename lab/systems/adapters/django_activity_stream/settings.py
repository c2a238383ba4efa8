"""Django settings of the adapter."""
# mypy: ignore-errors

import os
from urllib.parse import urlsplit

database = urlsplit(os.environ["DATABASE_URL"])
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.mysql",
        "HOST": database.hostname,
        "PORT": database.port,
        "USER": database.username,
        "NAME": database.path[1:],
        "CONN_MAX_AGE": None,
    }
}
SECRET_KEY = "of a service that lives for one run"  # noqa: S105
ALLOWED_HOSTS = ["127.0.0.1"]
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sites",
    "actstream",
]
SITE_ID = 1
ROOT_URLCONF = "app"
