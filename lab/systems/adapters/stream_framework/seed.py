"""Loads people and friendships from the laboratory's files."""
# mypy: ignore-errors

import csv
import os
from itertools import groupby
from pathlib import Path

from fanout import store


def rows(name):
    with Path(os.environ[name]).open(newline="") as file:
        return list(csv.DictReader(file))


store.hmset("tokens", {row["token"]: row["person_id"] for row in rows("TOKENS")})
friendships = sorted(rows("FRIENDSHIPS"), key=lambda row: row["person_id"])
for owner, found in groupby(friendships, key=lambda row: row["person_id"]):
    store.sadd(f"friends:{owner}", *(row["friend_id"] for row in found))
