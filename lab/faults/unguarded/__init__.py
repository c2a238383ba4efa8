"""Runs inside of the service, the one part of the laboratory that does: it replaces safeguards."""
