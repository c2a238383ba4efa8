"""The service with the sign-up that was published, and the hashers that were compared."""

from django.core.exceptions import ImproperlyConfigured

from replays.databases.settings import *  # noqa: F403
from replays.databases.settings import INSTALLED_APPS, PASSWORD_HASHERS, env

INSTALLED_APPS += ["replays.signup.app"]
ROOT_URLCONF = "replays.signup.urls"

SIGNUP_ATOMIC = env.bool("SIGNUP_ATOMIC", default=True)
"""Sign up in one transaction; False: in three, so that a fault can leave a part of a person."""
HASHERS = {
    "argon2": "accounts.hashing.Argon2",
    "pbkdf2": "django.contrib.auth.hashers.PBKDF2PasswordHasher",
    "scrypt": "django.contrib.auth.hashers.ScryptPasswordHasher",
    "bcrypt": "django.contrib.auth.hashers.BCryptSHA256PasswordHasher",
    "pbkdf2_fast": "replays.signup.app.hashers.FastPBKDF2",
    "argon2_costly": "replays.signup.app.hashers.CostlyArgon2",
    "argon2_cheap": "replays.signup.app.hashers.CheapArgon2",
}
PASSWORD_HASHER = env.str("PASSWORD_HASHER", default="argon2")
"""Hasher of new passwords."""
if PASSWORD_HASHER not in HASHERS:
    known = ", ".join(sorted(HASHERS))
    raise ImproperlyConfigured(f"PASSWORD_HASHER is {PASSWORD_HASHER!r}, not one of: {known}")
PASSWORD_HASHERS = [HASHERS[PASSWORD_HASHER], *PASSWORD_HASHERS]
