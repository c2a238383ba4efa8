from django.contrib.auth.hashers import Argon2PasswordHasher, PBKDF2PasswordHasher


class Argon2(Argon2PasswordHasher):
    """Argon2id with OWASP's parameters: a fifth of the memory of Django's defaults.

    https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html
    """

    memory_cost = 19_456  # KiB
    time_cost = 2
    parallelism = 1


class CostlyArgon2(Argon2):
    """The defaults of Node's argon2 package, the published sign-up's first parameters."""

    memory_cost = 65_536  # KiB
    time_cost = 3
    parallelism = 4


class CheapArgon2(Argon2):
    """The published sign-up's final parameters: a ninth of OWASP's memory; for measurements."""

    memory_cost = 2_048  # KiB
    time_cost = 2
    parallelism = 1


class FastPBKDF2(PBKDF2PasswordHasher):
    """For measurements: a hundredth of the cost, also for an attacker with stolen hashes."""

    iterations = 10_000
