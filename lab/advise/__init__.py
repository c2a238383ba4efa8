"""Advice for a reader's own situation, from costs that were measured on this machine."""
