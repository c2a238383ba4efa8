"""Faults that are planted into runs, which the laboratory must notice."""

from pathlib import Path

PLANTED = {"DJANGO_SETTINGS_MODULE": "tests.lab.planted.settings"}
"""Environment of a service with faulty stores."""
BUSY = {"PYTHONPATH": str(Path(__file__).with_name("busy"))}
"""Environment in which Locust is slow."""
