from django.dispatch import Signal

refused = Signal()
"""Sent when requests have been refused unparsed, with their ``lane`` and ``count``."""
