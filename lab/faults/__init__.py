"""Faults of a running service: injected under load, with readers who compare every page."""
