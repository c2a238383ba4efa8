"""The signing key of an installation that was given none."""

import os
import secrets
from pathlib import Path


def load_or_create_secret_key(path: Path) -> str:
    """Return the key in ``path``; the first process to ask writes a random one there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    if not path.exists():
        draft.write_text(secrets.token_urlsafe(64))
        draft.chmod(0o600)
        try:
            os.link(draft, path)  # unlike rename, never replaces another process's key
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text()
