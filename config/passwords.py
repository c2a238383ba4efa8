"""Password hashers."""

from django.core.exceptions import ImproperlyConfigured

HASHERS = {
    "argon2": "accounts.hashers.Argon2",
    "pbkdf2": "django.contrib.auth.hashers.PBKDF2PasswordHasher",
    "pbkdf2_fast": "accounts.hashers.FastPBKDF2",
    "scrypt": "django.contrib.auth.hashers.ScryptPasswordHasher",
    "bcrypt": "django.contrib.auth.hashers.BCryptSHA256PasswordHasher",
    "argon2_costly": "accounts.hashers.CostlyArgon2",
    "argon2_cheap": "accounts.hashers.CheapArgon2",
}
MEASURED = ("pbkdf2_fast", "argon2_costly", "argon2_cheap")
"""For measurements; the hasher of the same algorithm verifies their hashes."""


def hashers(chosen: str) -> list[str]:
    """Return the hasher of new passwords, then those that verify older hashes.

    Django rehashes an older password when its owner logs in. Raises ImproperlyConfigured.
    """
    if chosen not in HASHERS:
        names = ", ".join(sorted(HASHERS))
        raise ImproperlyConfigured(f"PASSWORD_HASHER is {chosen!r}; it must be one of: {names}")
    others = [name for name in HASHERS if name not in (chosen, *MEASURED)]
    return [HASHERS[name] for name in (chosen, *others)]
