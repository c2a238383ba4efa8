from django.contrib.auth.hashers import Argon2PasswordHasher, PBKDF2PasswordHasher


class Argon2(Argon2PasswordHasher):
    """Argon2id as OWASP has it: a fifth of the memory that Django's own parameters take.

    https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html
    """

    memory_cost = 19_456  # KiB
    time_cost = 2
    parallelism = 1


class CostlyArgon2(Argon2):
    """The defaults of the package argon2 for Node, which the published sign-up began with."""

    memory_cost = 65_536  # KiB
    time_cost = 3
    parallelism = 4


class CheapArgon2(Argon2):
    """What the published sign-up ended with: a ninth of OWASP's memory; for measurements."""

    memory_cost = 2_048  # KiB
    time_cost = 2
    parallelism = 1


class FastPBKDF2(PBKDF2PasswordHasher):
    """For measurements: a hundredth of the cost, also for whoever has stolen the hashes."""

    iterations = 10_000
