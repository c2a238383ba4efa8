"""Texts that a load generator posts."""

import random

WORDS = (
    "today morning coffee window river garden paper letter friend street market summer winter "
    "music story picture train mountain weather dinner little quiet early later always never"
).split()
BODIES = [" ".join(random.choices(WORDS, k=random.randint(30, 60))) for _ in range(500)]  # noqa: S311


def random_body() -> str:
    """Return a text of a few hundred characters."""
    return random.choice(BODIES)  # noqa: S311
