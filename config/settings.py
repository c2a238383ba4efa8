"""Settings. This is the only place that reads the environment."""

from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import environ

from config.broker import TASK_TIME_LIMIT_S, transport_options
from config.cache import cache, listing_cache, post_cache
from config.databases import connect, lanes, pooled
from config.passwords import hashers
from config.secret import load_or_create_secret_key

env = environ.Env()

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = BASE_DIR / "var"

DEBUG = env.bool("DEBUG", default=False)
SECRET_KEY = env.str("SECRET_KEY", default="") or load_or_create_secret_key(VAR_DIR / "secret_key")
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "accounts",
    "activity",
    "feed",
    "workers",
    "feed.exports",
    *env.list("EXTRA_APPS", default=[]),
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.common.CommonMiddleware",
]
METRICS_DIR = env.str("PROMETHEUS_MULTIPROC_DIR", default="")
"""Directory for multiprocess metrics; empty turns /metrics off. The client library reads the same
variable."""
METRICS_PORT = env.int("METRICS_PORT", default=0)
"""Port where a drainer or Celery worker with a METRICS_DIR of its own answers scrapes; 0: none."""
if METRICS_DIR:
    INSTALLED_APPS += ["metrics"]
    MIDDLEWARE = ["metrics.middleware.metered", *MIDDLEWARE]
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
WEB_WORKERS = env.int("WEB_WORKERS", default=3)
WEB_THREADS = env.int("WEB_THREADS", default=0)
"""Threads per worker, each with a database connection; 0 answers in the worker's event loop."""
LOG_REQUESTS = env.bool("LOG_REQUESTS", default=False)
"""Write an access log line for each request."""
LOG_IN_BACKGROUND = env.bool("LOG_IN_BACKGROUND", default=False)
"""Write those lines in a background thread of each worker."""
WEB_SWITCH_MS = env.float("WEB_SWITCH_MS", default=5.0)
"""Interpreter switch interval in milliseconds (sys.setswitchinterval); Python's default."""
STATIC_URL = "static/"
WHITENOISE_USE_FINDERS = True
USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = False
APPEND_SLASH = False  # a redirected POST comes back as a GET
DATA_UPLOAD_MAX_MEMORY_SIZE = 64 * 1024  # bytes

DB_POOL_SIZE = env.int("DB_POOL_SIZE", default=0)
"""Database connections that all threads of a process share; 0: one per thread."""
DB_POOL_TIMEOUT_S = env.float("DB_POOL_TIMEOUT_S", default=30.0)
DB_READ_TIMEOUT_S = env.int("DB_READ_TIMEOUT_S", default=10)
"""Seconds that a request waits for MySQL to answer."""
DATABASES = {
    "default": pooled(
        connect(
            env.db("DATABASE_URL", default=f"sqlite:///{VAR_DIR / 'feed.sqlite3'}"),
            read_timeout_s=DB_READ_TIMEOUT_S,
        ),
        size=DB_POOL_SIZE,
        timeout_s=DB_POOL_TIMEOUT_S,
    )
}
REPLICA_URLS = env.list("REPLICA_URLS", default=[])
"""Read replicas of the default database, separated by commas; aliases: replica1, replica2 …"""
REPLICAS = [f"replica{number}" for number in range(1, len(REPLICA_URLS) + 1)]
DATABASES |= {
    alias: connect(env.db_url_config(url), read_timeout_s=DB_READ_TIMEOUT_S)
    for alias, url in zip(REPLICAS, REPLICA_URLS, strict=True)
}
DB_LANES = lanes(env.dict("DB_LANES", default={}), DATABASES, timeout_s=DB_POOL_TIMEOUT_S)
"""Where the reads of a lane go (db/lanes.py): "expensive=10" creates a pool of 10 connections for
them, "expensive=replica1" sends them to that database."""
DATABASE_ROUTERS = [
    *(["db.lanes.LaneRouter"] if DB_LANES else []),
    *(["db.replicas.Router"] if REPLICAS else []),
]
if DB_LANES:
    MIDDLEWARE += ["db.lanes.LaneMiddleware"]
REDIS_URL = env.str("REDIS_URL", default="")
"""Redis of the timeline stores and the cache; without it only listings are cached."""
CACHES = {
    "default": cache(REDIS_URL),
    "posts": post_cache(REDIS_URL),
    "listing": listing_cache(REDIS_URL),
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "accounts.Person"
PASSWORD_HASHERS = hashers(env.str("PASSWORD_HASHER", default="argon2"))
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
READY_BACKLOG_AGE_S = env.float("READY_BACKLOG_AGE_S", default=0.0)
"""/readyz answers 503 while the oldest post without a receipt is older than this; 0: never."""
SIGNUP_ATOMIC = env.bool("SIGNUP_ATOMIC", default=True)
"""Sign up in one transaction; False: in three, so a fault can leave a part (as published)."""
SIGNUP_MAX_HASHING = env.int("SIGNUP_MAX_HASHING", default=0)
"""Most passwords hashed at the same time by all processes that share SIGNUP_SLOTS_DIR; further
sign-ups are refused. 0: no limit."""
SIGNUP_SLOTS_DIR = env.str("SIGNUP_SLOTS_DIR", default=str(VAR_DIR / "slots"))

# When the deliveries of a post are made …
FEED_STRATEGY = env.str("FEED_STRATEGY", default="inline")
GRACE = {"grace_s": env.float("FEED_GRACE_S", default=10.0)}
"""Seconds that a strategy may take for a post; then drainers deliver it."""
FEED_STRATEGIES = {
    "inline": {"BACKEND": "feed.strategies.inline.Inline", "OPTIONS": GRACE},
    "outbox": {"BACKEND": "feed.strategies.outbox.Outbox"},
    "null": {"BACKEND": "feed.strategies.null.Null"},
    "task": {"BACKEND": "workers.strategies.Task", "OPTIONS": GRACE},
    "chunked": {"BACKEND": "workers.strategies.Chunked", "OPTIONS": GRACE},
    "outbox_celery": {"BACKEND": "workers.strategies.RungOutbox"},
}
# … and where they are kept.
FEED_TIMELINE_STORE = env.str("FEED_TIMELINE_STORE", default="setbased")
FEED_TIMELINE_STORES = {
    "rowwise": {"BACKEND": "feed.timeline_stores.rowwise.Rowwise"},
    "bulk": {"BACKEND": "feed.timeline_stores.bulk.Bulk"},
    "setbased": {"BACKEND": "feed.timeline_stores.setbased.SetBased"},
    "packed": {"BACKEND": "feed.timeline_stores.packed.Packed"},
    "pull": {"BACKEND": "feed.timeline_stores.pull.Pull"},
    "memory": {"BACKEND": "feed.timeline_stores.memory.Memory"},
    "roundtrip": {
        "BACKEND": "feed.timeline_stores.roundtrip.RoundTrip",
        "OPTIONS": {"url": REDIS_URL},
    },
    "pipeline": {
        "BACKEND": "feed.timeline_stores.pipeline.Pipeline",
        "OPTIONS": {"url": REDIS_URL},
    },
    "script": {"BACKEND": "feed.timeline_stores.script.Script", "OPTIONS": {"url": REDIS_URL}},
    "ring": {"BACKEND": "feed.timeline_stores.ring.Ring", "OPTIONS": {"url": REDIS_URL}},
    "log": {"BACKEND": "feed.timeline_stores.log.Log", "OPTIONS": {"url": REDIS_URL}},
}
FEED_SHARDS = env.int("FEED_SHARDS", default=0)
"""Shards of the timelines in Redis from the next epoch on, a power of two; 0: the store decides."""
FEED_ACTIVE_DAYS = max(0, env.int("FEED_ACTIVE_DAYS", default=0))
"""From the next epoch on, nothing is delivered to people who haven't read for so many days; their
feeds are computed when they return. 0: everyone is delivered to."""
# How the listing of all posts by their likes is read.
FEED_LISTING = env.str("FEED_LISTING", default="keyset")
KEEP = {"keep_s": env.float("FEED_LISTING_KEEP_S", default=1.0)}
FEED_LISTINGS = {
    "aggregate": {"BACKEND": "feed.listings.aggregate.Aggregate"},
    "counter": {"BACKEND": "feed.listings.counter.Counter"},
    "keyset": {"BACKEND": "feed.listings.counter.Keyset"},
    "cached": {"BACKEND": "feed.listings.cached.Cached", "OPTIONS": KEEP},
}
OWN_WRITES_S = env.float("OWN_WRITES_S", default=60.0)
"""Seconds during which people read their own writes, even if replicas and cached listings lag
behind; 0 turns that off."""
if REPLICAS or FEED_LISTING == "cached":
    MIDDLEWARE += ["web.own_writes.seen"]

ACTIVITY_TIME_ZONE = ZoneInfo(env.str("ACTIVITY_TIME_ZONE", default="UTC"))
"""Time zone of the days and months that visits are counted in."""
ACTIVITY_QUERIES = env.str("ACTIVITY_QUERIES", default="best")
ACTIVITY_IMPLEMENTATIONS = {
    "as_found": {
        "BACKEND": "activity.queries.as_found.AsFound",
        "OPTIONS": {"table": "PlainLog"},
    },
    "fewer_queries": {
        "BACKEND": "activity.queries.fewer.FewerQueries",
        "OPTIONS": {"table": "PlainLog"},
    },
    "indexed": {
        "BACKEND": "activity.queries.fewer.FewerQueries",
        "OPTIONS": {"table": "IndexedLog"},
    },
    "tags_as_found": {
        "BACKEND": "activity.queries.tags.TagsAsFound",
        "OPTIONS": {"table": "PlainTag"},
    },
    "tags_fewer_queries": {
        "BACKEND": "activity.queries.tags.TagsFewerQueries",
        "OPTIONS": {"table": "PlainTag"},
    },
    "tags_indexed": {
        "BACKEND": "activity.queries.tags.TagsFewerQueries",
        "OPTIONS": {"table": "IndexedTag"},
    },
    "best": {
        "BACKEND": "activity.queries.best.Best",
        "OPTIONS": {"table": "IndexedLog"},
    },
}

EXPORT_DIR = Path(env.str("EXPORT_DIR", default=str(VAR_DIR / "exports")))
"""Folder of finished export jobs; all processes must see the same one."""
EXPORT_KEEP_S = env.float("EXPORT_KEEP_S", default=24 * 3600.0)

CELERY_BROKER_URL = env.str("BROKER_URL", default="redis://127.0.0.1:6379/1")
CELERY_BROKER_TRANSPORT_OPTIONS = transport_options(CELERY_BROKER_URL)
CELERY_TASK_DEFAULT_QUEUE_TYPE = "quorum" if CELERY_BROKER_URL.startswith("amqp") else None
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0, "interval_step": 0.1}
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_TIME_LIMIT = TASK_TIME_LIMIT_S
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_ACCEPT_CONTENT = ["json"]
SWEEP_S = env.float("FEED_SWEEP_S", default=5.0)
# A sweep waits in the queue like any message. If it starts before it expires, the queue is short:
# a post without a receipt for longer than that has lost its message.
CELERY_BEAT_SCHEDULE = {
    "sweep": {
        "task": "workers.tasks.sweep",
        "schedule": SWEEP_S,
        "options": {"expires": SWEEP_S},
    }
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["accounts.authentication.TokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PARSER_CLASSES": ["web.api.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "web.api.JSONOnly",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "web.api.answer_exception",
}
SIMPLE_JWT = {
    "ACCESS_TOKEN_LIFETIME": timedelta(hours=1),
    "REFRESH_TOKEN_LIFETIME": timedelta(days=7),
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Feed",
    "DESCRIPTION": "Write a post; every friend finds it in their feed.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "filters": {"repeated": {"()": "runtime.logs.Repeated"}},
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": "line",
            "filters": ["repeated"],
        }
    },
    "root": {"handlers": ["stderr"], "level": "INFO"},
    # Under load, one line per refused request would fill the log.
    "loggers": {"django.request": {"level": "ERROR"}},
}
