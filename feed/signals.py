from django.dispatch import Signal

receipts_set = Signal()
"""Sent in the transaction that sets receipts, with ``post_ids`` and the ``count`` of those posts
that had none before. Receivers must not change the posts."""
timeline_loaded = Signal()
"""Sent when a reader has loaded a timeline from the database, with the alias of the ``store``."""
