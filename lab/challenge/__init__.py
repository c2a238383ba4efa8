"""A judge for anybody's feed: it starts a command, and tries it in stages (docs/challenge.md)."""
