"""What the tests of all routes need of the replays, where these are installed too."""

from importlib import import_module

from django.conf import settings

INSTALLED = settings.ROOT_URLCONF == "tests.replays.urls"
_exports = import_module("replays.export.app.services") if INSTALLED else None


def make_exports():
    """Make all exports that were ordered."""
    while _exports and _exports.make_next_export():
        pass


def export_of(person_id):
    """Return the id of a person's new export; None without the replay."""
    if not _exports:
        return None
    job = _exports.order_export(person_id=person_id, file_format="csv")
    make_exports()
    return job.id
