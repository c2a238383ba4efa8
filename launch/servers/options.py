"""MySQL with options of a variant's own."""

from collections.abc import Iterator, Sequence

from launch.processes import RunFailed
from launch.servers.mysql import MySQL

SUFFIX = {"K": 2**10, "M": 2**20, "G": 2**30}


class MySQLWithOptions(MySQL):
    """Fails if the server has made less of its options, as it does where few files may be open."""

    def after_start(self) -> None:
        super().after_start()
        with self.connect() as connection:
            cursor = connection.cursor()
            cursor.execute("SHOW GLOBAL VARIABLES")
            wrong = list(differences(self.options, dict(cursor.fetchall())))
        if wrong:
            raise RunFailed(f"the database took other options: {', '.join(wrong)} (ulimit -n?)")


def differences(options: Sequence[str], settings: dict[str, str]) -> Iterator[str]:
    """Yield what a server has otherwise than its numeric options say."""
    for option in options:
        name, _, wanted = option.removeprefix("--").replace("-", "_").partition("=")
        factor = SUFFIX.get(wanted[-1:], 1)
        if int(settings[name]) != int(wanted.rstrip("KMG")) * factor:
            yield f"{name} is {settings[name]}, not {wanted}"
