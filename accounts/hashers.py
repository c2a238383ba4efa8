from django.contrib.auth.hashers import Argon2PasswordHasher


class Argon2(Argon2PasswordHasher):
    """Argon2id with OWASP's parameters: a fifth of the memory of Django's defaults.

    https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html
    """

    memory_cost = 19_456  # KiB
    time_cost = 2
    parallelism = 1
