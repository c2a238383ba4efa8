"""The signing key of an installation that was given none."""

import os
import secrets
from pathlib import Path
from tempfile import TemporaryDirectory


def load_or_create_secret_key(path: Path) -> str:
    """Return the key in ``path``; the first process to ask writes a random one there."""
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
