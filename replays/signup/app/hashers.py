"""Password hashers that only measurements use; the hasher of the same algorithm verifies theirs."""

from django.contrib.auth.hashers import PBKDF2PasswordHasher

from accounts.hashing import Argon2


class CostlyArgon2(Argon2):
    """The defaults of Node's argon2 package, the published sign-up's first parameters."""

    memory_cost = 65_536  # KiB
    time_cost = 3
    parallelism = 4


class CheapArgon2(Argon2):
    """The published sign-up's final parameters: about a tenth of OWASP's memory."""

    memory_cost = 2_048  # KiB
    time_cost = 2
    parallelism = 1


class FastPBKDF2(PBKDF2PasswordHasher):
    """A hundredth of the cost, also for an attacker with stolen hashes."""

    iterations = 10_000
