"""Make person 1 with so many friends, as the author's do_initial_gen did when it was first run.

Later it no longer looks whether person 1 is there: in an empty database person 1 then becomes
a friend of themself, and is delivered to twice.
"""
# mypy: ignore-errors

import sys

import django

django.setup()

from sample_feed.scripts import create_random_person, create_random_relations  # noqa: E402

create_random_relations(person=create_random_person().id, n=int(sys.argv[1]))
