"""Figures in the documents: the commands that measure them, and the texts that show them."""
