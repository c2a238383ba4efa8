"""Feeds to begin with, one file each, without packages."""
