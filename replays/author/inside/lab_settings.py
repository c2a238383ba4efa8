"""The author's base settings; what depends on the machine comes from the environment.

The author's Python imports this, with the author's folders on its path.
"""
# mypy: ignore-errors
# ruff: noqa: F403

import json
import os

import pymysql
from settings.base import *

pymysql.install_as_MySQLdb()

DEBUG = os.environ["AUTHOR_DEBUG"] == "1"
DATABASES = {"default": json.loads(os.environ["AUTHOR_DATABASE"])}
REDIS_HOST = "127.0.0.1"
REDIS_PORT = int(os.environ["AUTHOR_REDIS_PORT"])
REDIS_DB = 0
REDIS_BROKER_DB = 1
API_HOST = os.environ["AUTHOR_API_HOST"]
# Tables without migrations: the author's start script creates them inside the source.
MIGRATION_MODULES = {"post": None, "feed": None}
