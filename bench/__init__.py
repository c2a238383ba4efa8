"""The delivery engine alone, timed: what ``python -m lab bench`` starts of the service."""
