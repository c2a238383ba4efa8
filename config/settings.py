"""Settings. This is the only place that reads the environment."""

import os
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import environ

from accounts.ids import MAX_ID
from config.cache import cache, post_cache
from config.databases import connect
from config.rates import rate
from config.secret import load_or_create_secret_key

env = environ.Env()
RENAMED = {
    "FEED_FANOUT": "FEED_STRATEGY",
    "FEED_TIMELINE": "FEED_TIMELINE_STORE",
    "SIGNUP_MAX_HASHING": "MAX_HASHING",
    "SIGNUP_SLOTS_DIR": "HASHING_SLOTS_DIR",
}
"""Variables of earlier versions, with their names by now (feed.E008)."""
OLD_NAMES = [name for name in RENAMED if name in os.environ]

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = BASE_DIR / "var"

DEBUG = env.bool("DEBUG", default=False)
SECRET_KEY = env.str("SECRET_KEY", default="") or load_or_create_secret_key(VAR_DIR / "secret_key")
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])

HTTPS = env.bool("HTTPS", default=False)
"""Clients use HTTPS, which ends here or at a proxy that sets X-Forwarded-Proto; other requests are
redirected. Nothing starts then while the deployment checks warn (docs/decisions/0048)."""
SECURE_SSL_REDIRECT = SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|statusz|metrics)$"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = env.int("HSTS_S", default=30 * 24 * 3600 if HTTPS else 0)
"""Seconds for which a browser that was here uses HTTPS only."""
SILENCED_SYSTEM_CHECKS = [
    "security.W003",  # no CSRF protection: tokens are in a header, which no other site can send
    "security.W005",  # HSTS for subdomains: only the domain's owner knows what else is there …
    "security.W021",  # … and whether that may be built into browsers
]

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "accounts",
    "feed",
    "workers",
    "stream",
    *env.list("EXTRA_APPS", default=[]),
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
METRICS_DIR = env.str("PROMETHEUS_MULTIPROC_DIR", default="")
"""Directory for multiprocess metrics; empty turns /metrics off. The client library reads the same
variable."""
METRICS_ALLOW = [*map(ip_network, env.list("METRICS_ALLOW", default=["127.0.0.0/8", "::1"]))]
"""Networks whose scrapes app servers answer; others, and what a proxy forwards, get a 404."""
METRICS_PORT = env.str("METRICS_PORT", default="")
"""Where a drainer or a queue's worker with a METRICS_DIR of its own answers scrapes: a port of this
host, or address:port. Empty: nowhere."""
if METRICS_DIR:
    INSTALLED_APPS += ["metrics"]
    MIDDLEWARE = ["metrics.middleware.metered", *MIDDLEWARE]
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
WEB_SERVER = env.str("WEB_SERVER", default="gunicorn", choices=["gunicorn", "granian"])
"""The app server that python -m config.serve starts."""
WEB_WORKERS = env.int("WEB_WORKERS", default=os.cpu_count() or 1)
WEB_THREADS = max(1, env.int("WEB_THREADS", default=1 if WEB_SERVER == "granian" else 4))
"""Threads per worker, each with a database connection."""
WEB_LEAVING_FILE = env.str("WEB_LEAVING_FILE", default="")
"""While this file exists, /healthz answers 503, so that a proxy sends this app server nothing more:
make it before you stop one. Empty: no file."""
LOG_REQUESTS = env.bool("LOG_REQUESTS", default=False)
"""Write an access log line for each request."""
LOG_IN_BACKGROUND = False
"""Write those lines in a background thread of each worker of gunicorn."""
STATIC_URL = "static/"
WHITENOISE_USE_FINDERS = True
USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = False
APPEND_SLASH = False  # a redirected POST comes back as a GET
DATA_UPLOAD_MAX_MEMORY_SIZE = 64 * 1024  # bytes

DB_READ_TIMEOUT_S = env.int("DB_READ_TIMEOUT_S", default=10)
"""Seconds that a process waits for a database on a server to answer …"""
DB_REQUEST_TIMEOUT_S = env.int("DB_REQUEST_TIMEOUT_S", default=3)
"""… and an app server, if others deliver."""
DATABASES = {
    "default": connect(
        env.db("DATABASE_URL", default=f"sqlite:///{VAR_DIR / 'feed.sqlite3'}"),
        read_timeout_s=DB_READ_TIMEOUT_S,
    )
}
REDIS_URL = env.str("REDIS_URL", default="")
"""Redis of the cache; without it nothing is cached."""
TIMELINE_URL = env.str("TIMELINE_URL", default=REDIS_URL)
"""Redis of the timeline stores: one, or redis+cluster://host:port,host:port of some nodes."""
CACHES = {"default": cache(REDIS_URL), "posts": post_cache(REDIS_URL)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "accounts.Person"
PASSWORD_HASHERS = [
    "accounts.hashing.Argon2",
    # They verify older hashes, which Django replaces when their owners log in.
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
    "django.contrib.auth.hashers.ScryptPasswordHasher",
    "django.contrib.auth.hashers.BCryptSHA256PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
READY_WITHIN_S = 0.7
"""Seconds that /readyz and /statusz wait for the database and the timeline store."""
READY_BACKLOG_AGE_S = env.float("READY_BACKLOG_AGE_S", default=0.0)
"""/readyz answers 503 while the oldest post without a receipt is older than this; 0: never."""
FEED_BACKLOG_MAX_AGE_S = env.float("FEED_BACKLOG_MAX_AGE_S", default=600.0)
FEED_BACKLOG_MAX_POSTS = env.int("FEED_BACKLOG_MAX_POSTS", default=1_000_000)
"""Posts get 503 while one waits for its delivery for longer, or more wait; 0: no limit."""
FEED_BACKLOG_MAX_OF_AUTHOR = env.int("FEED_BACKLOG_MAX_OF_AUTHOR", default=10_000_000)
"""An author's posts get 503 while more of their deliveries wait; 0: no limit."""
MAX_HASHING = env.int("MAX_HASHING", default=max(1, (os.cpu_count() or 1) // 2))
"""Most passwords hashed at the same time by all processes that share HASHING_SLOTS_DIR (sign-ups,
log-ins, new passwords); further ones are refused. Default: half of the cores. 0: no limit."""
HASHING_SLOTS_DIR = env.str("HASHING_SLOTS_DIR", default=str(VAR_DIR / "slots"))
# Limits: "number/seconds" allows so many at once, and as many per so many seconds; 0: no limit.
LOG_IN_FAILURES_PER_CLIENT = rate(env.str("LOG_IN_FAILURES_PER_CLIENT", default="10/600"))
"""Failed log-ins into one account from one address; changes of its password count too."""
LOG_IN_FAILURES_PER_ACCOUNT = rate(env.str("LOG_IN_FAILURES_PER_ACCOUNT", default="100/3600"))
"""Failed log-ins into one account from all addresses."""
LOG_IN_FAILURES_PER_ADDRESS = rate(env.str("LOG_IN_FAILURES_PER_ADDRESS", default="30/300"))
"""Failed log-ins from one address into all accounts."""
SIGNUPS_PER_ADDRESS = rate(env.str("SIGNUPS_PER_ADDRESS", default="20/3600"))
"""Sign-ups from one address, taken names included."""
FRIEND_REQUESTS = rate(env.str("FRIEND_REQUESTS", default="100/86400"))
"""New friend requests of one person."""
TRUSTED_PROXIES = env.int("TRUSTED_PROXIES", default=0)
"""Proxies before the service that append to X-Forwarded-For; with a wrong number, all clients count
as one address, or choose their own."""

IDEMPOTENCY_KEEP_S = 24 * 3600
"""Seconds for which a repeated request with the same idempotency key returns the same post."""

# When the deliveries of a post are made …
FEED_STRATEGY = env.str("FEED_STRATEGY", default="inline")
FEED_STRATEGY = {"outbox_celery": "outbox_queue"}.get(FEED_STRATEGY, FEED_STRATEGY)  # until 0.2
GRACE_S = env.float("FEED_GRACE_S", default=10.0)
"""Seconds that a strategy may take for a post; then drainers and sweeps deliver it."""
GRACE = {"grace_s": GRACE_S}
FEED_STRATEGIES = {
    "inline": {"BACKEND": "feed.strategies.inline.Inline", "OPTIONS": GRACE},
    "outbox": {"BACKEND": "feed.strategies.outbox.Outbox"},
    "null": {"BACKEND": "feed.strategies.null.Null"},
    "task": {"BACKEND": "workers.strategies.Task", "OPTIONS": GRACE},
    "chunked": {"BACKEND": "workers.strategies.Chunked", "OPTIONS": GRACE},
    "outbox_queue": {"BACKEND": "workers.strategies.RungOutbox", "OPTIONS": {"pause_s": 0.01}},
}
# … and where they are kept.
FEED_TIMELINE_STORE = env.str("FEED_TIMELINE_STORE", default="setbased")
FEED_TIMELINE_CAPACITY = max(1, env.int("FEED_TIMELINE_CAPACITY", default=800))
"""Newest post ids that a timeline keeps, in Redis or packed; the database has the older ones."""
CAPACITY = {"capacity": FEED_TIMELINE_CAPACITY}
IN_REDIS = {"url": TIMELINE_URL, **CAPACITY}
FEED_TIMELINE_STORES = {
    "rowwise": {"BACKEND": "feed.timeline_stores.rows.Rowwise"},
    "bulk": {"BACKEND": "feed.timeline_stores.rows.Bulk"},
    "setbased": {"BACKEND": "feed.timeline_stores.rows.SetBased"},
    "pull": {"BACKEND": "feed.timeline_stores.rows.Pull"},
    "packed": {"BACKEND": "feed.timeline_stores.packed.Packed", "OPTIONS": CAPACITY},
    "roundtrip": {"BACKEND": "feed.timeline_stores.published.RoundTrip", "OPTIONS": IN_REDIS},
    "pipeline": {"BACKEND": "feed.timeline_stores.published.Pipeline", "OPTIONS": IN_REDIS},
    "ring": {"BACKEND": "feed.timeline_stores.ring.Ring", "OPTIONS": IN_REDIS},
    "log": {"BACKEND": "feed.timeline_stores.log.Log", "OPTIONS": IN_REDIS},
}
FEED_SHARDS = env.int("FEED_SHARDS", default=0)
"""Shards of the timelines in Redis from the next epoch on, a power of two; 0: the store decides."""
FEED_ACTIVE_DAYS = max(0, env.int("FEED_ACTIVE_DAYS", default=0))
"""From the next epoch on, nothing is delivered to people who haven't read for so many days; their
feeds are computed when they return. 0: everyone is delivered to."""
FEED_PULL_ABOVE = env.str("FEED_PULL_ABOVE", default="0")
"""Posts of people with more friends are merged when feeds are read, instead of being delivered to
all; 0: nobody's, auto: above what a drainer delivers within FEED_PULL_LAG_MS
(feed/celebrities.py)."""
FEED_PULL_LAG_MS = 75.0
FEED_EDGES = env.str("FEED_EDGES", default="friends", choices=["friends", "follows"])
"""Whose posts are in a feed: those of friends, once both have asked, or those of whom one follows
(feed/follows.py)."""
FEED_VISIBILITY = env.str("FEED_VISIBILITY", default="everyone")
"""Who may read a person's posts: "everyone", or "friends": their readers (feed/visibility.py)."""

# What carries tasks, for the strategies that need it.
FEED_QUEUE = env.str("FEED_QUEUE", default="celery")
BROKER_URL = env.str("BROKER_URL", default="redis://127.0.0.1:6379/1")
BROKER = {"url": BROKER_URL}
FEED_QUEUES: dict[str, dict[str, Any]] = {
    "celery": {"BACKEND": "workers.queues.celery.Celery", "OPTIONS": BROKER},
    "dramatiq": {"BACKEND": "workers.queues.dramatiq.Dramatiq", "OPTIONS": BROKER},
    "huey": {"BACKEND": "workers.queues.huey.Huey", "OPTIONS": BROKER},
    "django_tasks": {
        "BACKEND": "workers.queues.django_tasks.DjangoTasks",
        "APPS": ["django_tasks", "django_tasks_db"],
    },
    "procrastinate": {
        "BACKEND": "workers.queues.procrastinate.Procrastinate",
        "APPS": ["procrastinate.contrib.django"],
    },
}
FEED_QUEUES |= {  # each as it comes, for comparison
    f"{alias}_default": {**entry, "BACKEND": f"{entry['BACKEND']}Defaults"}
    for alias, entry in FEED_QUEUES.items()
}
INSTALLED_APPS += FEED_QUEUES.get(FEED_QUEUE, {}).get("APPS", [])
TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}
PROCRASTINATE_IMPORT_PATHS = ["workers.queues.procrastinate"]
SWEEP_S = GRACE_S / 2
"""Seconds from one sweep to the next (manage.py work)."""

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["accounts.authentication.by_token"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PARSER_CLASSES": ["web.api.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "web.api.JSONOnly",
    "DEFAULT_SCHEMA_CLASS": "web.schema.Schema",
    "EXCEPTION_HANDLER": "web.api.answer_exception",
}
SIMPLE_JWT = {
    "ACCESS_TOKEN_LIFETIME": timedelta(hours=1),
    "REFRESH_TOKEN_LIFETIME": timedelta(days=7),
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Feed",
    "DESCRIPTION": "Write a post; every friend or follower finds it in their feed. To try it: "
    "sign up, log in (`/v1/token/`), and put the access token into *Authorize*.",
    "VERSION": "1",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "web.schema.describe_groups",
    ],
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    "PATH_CONVERTER_OVERRIDES": {
        "id": {"type": "integer", "format": "int64", "minimum": 1, "maximum": MAX_ID}
    },
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "filters": {
        "repeated": {"()": "runtime.logs.Repeated"},
        "without_traceback": {"()": "runtime.logs.WithoutTraceback"},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": "line",
            "filters": ["repeated"],
        },
        "security": {
            "class": "logging.StreamHandler",
            "formatter": "line",
            "filters": ["repeated", "without_traceback"],
        },
    },
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        # Under load, one line per refused request would fill the log.
        "django.request": {"level": "ERROR"},
        # One line per task.
        "procrastinate": {"level": "WARNING"},
        # Where in Django a request was found suspicious tells nothing about it.
        "django.security": {"handlers": ["security"], "propagate": False},
    },
}
