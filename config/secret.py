"""A generated signing key, for installations without SECRET_KEY."""

import os
import secrets
from pathlib import Path
from tempfile import TemporaryDirectory


def load_or_create_secret_key(path: Path) -> str:
    """Return the key in ``path``; the first process creates it at random."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        with TemporaryDirectory(dir=path.parent) as folder:
            draft = Path(folder) / path.name
            draft.touch(mode=0o600)
            draft.write_text(secrets.token_urlsafe(64))
            try:
                os.link(draft, path)  # unlike a rename, never replaces another process's key
            except FileExistsError:
                pass
    return path.read_text()
