"""Django's PostgreSQL backend with a deadline for each answer, and one kind of error for a server
that takes no writes.

It remembers what a failed request may have stored (docs/decisions/0049).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

import psycopg
from django.db import InternalError, OperationalError
from django.db.backends.postgresql import base, operations
from psycopg import errors
from psycopg.pq import TransactionStatus

from db.outcomes import StoringCursor
from db.prepared import Prepared
from db.remote import RemoteWrapper

SERVER_FIRST_S = 0.5
"""So much earlier than the client gives up does the server: then it is known what it did."""
IDLE_IN_TRANSACTION_S = 10
"""A host that dies without closing its connections keeps the locks of its claims for so long."""
ROWS_AT_ONCE = 1000
"""So few of ``executemany`` wait for one answer, which has to come in time."""
UNKNOWN = ("08", "57P01", "57P02")
"""Beginnings of SQLSTATE for lost connections and servers that end: a COMMIT may be done."""
TAKES_NO_WRITES = (errors.ReadOnlySqlTransaction, errors.IdleInTransactionSessionTimeout)
"""PostgreSQL counts them as internal errors, though they say nothing of the statement."""


class TakesNoWrites(psycopg.OperationalError):
    """The transaction is over, and nothing of it is stored."""

    sqlstate = "25000"


class Connection(psycopg.Connection[Any]):
    """Gives up a server that doesn't answer in time, for example since it is frozen.

    ``statement_timeout`` is the server's own clock, and ``tcp_user_timeout`` the kernel's, which
    goes on for a process that is stopped.
    """

    answer_within_s: float | None = None

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        try:
            return super().wait(gen, interval, timeout or self.answer_within_s)
        except psycopg.OperationalError:
            if self.pgconn.transaction_status == TransactionStatus.ACTIVE:
                self.close()  # the answer may come later, when nobody expects it
            raise


class BindingCursor(psycopg.Cursor[Any]):
    """Sends the values of Prepared statements apart, and writes those of others into their text."""

    def execute(self, query: Any, params: Any = None) -> Any:  # type: ignore[override]
        if isinstance(query, Prepared):
            return super().execute(query, params)
        if params is not None:
            query = psycopg.ClientCursor(self.connection).mogrify(query, params)
        return super().execute(query, prepare=False)

    def executemany(self, query: Any, param_list: Any) -> None:  # type: ignore[override]
        client, rows = psycopg.ClientCursor(self.connection), iter(param_list)
        while portion := list(islice(rows, ROWS_AT_ONCE)):
            client.executemany(query, portion)


class Cursor(StoringCursor, BindingCursor):  # type: ignore[misc]
    def __init__(self, wrapper: "DatabaseWrapper") -> None:
        super().__init__(wrapper.connection)
        self.stores, self.is_refusal = wrapper.get_autocommit, wrapper.is_refusal

    def _store(self, *args: Any) -> Any:
        with _as_operational():
            return super()._store(*args)


class DatabaseOperations(operations.DatabaseOperations):
    def last_executed_query(self, cursor: Any, sql: Any, params: Any) -> str:
        """Return a statement for the log: of one that is prepared, its cursor knows no text."""
        return str(self.compose_sql(sql, params))


class ImpatientWrapper(base.DatabaseWrapper):
    """Waits for each answer for ``read_timeout`` seconds at most."""

    def get_connection_params(self) -> dict[str, Any]:
        params = super().get_connection_params()
        read_timeout_s = params.pop("read_timeout")
        times = {
            "statement_timeout": max(1.0, read_timeout_s - SERVER_FIRST_S),
            "idle_in_transaction_session_timeout": IDLE_IN_TRANSACTION_S,
        }
        settings = [f"-c {name}={round(1000 * seconds)}" for name, seconds in times.items()]
        # PgBouncer refuses a space at the end.
        return params | {"options": " ".join([*settings, params.get("options", "")]).rstrip()}

    def get_new_connection(self, conn_params: dict[str, Any]) -> Connection:
        connection = Connection.connect(**conn_params)
        connection.answer_within_s = self.settings_dict["OPTIONS"]["read_timeout"]
        return connection


class DatabaseWrapper(RemoteWrapper, ImpatientWrapper):
    ops_class = DatabaseOperations

    def create_cursor(self, name: str | None = None) -> Any:
        return super().create_cursor(name) if name else Cursor(self)

    @staticmethod
    def is_refusal(error: Exception) -> bool:
        if not isinstance(error, (psycopg.OperationalError, OperationalError)):
            return True
        state = getattr(error.__cause__ or error, "sqlstate", None)
        return state is not None and not state.startswith(UNKNOWN)

    def _commit(self) -> None:
        """Commit. Raises OperationalError if a statement had failed: the server says nothing."""
        with self.wrap_database_errors, _as_operational():
            if self.connection.info.transaction_status == TransactionStatus.INERROR:
                raise TakesNoWrites("a statement failed: nothing is stored")
            super()._commit()


@contextmanager
def _as_operational() -> Iterator[None]:
    """Let errors that are TAKES_NO_WRITES be what they are with other databases."""
    try:
        yield
    except (psycopg.InternalError, InternalError) as error:
        if isinstance(error.__cause__ or error, TAKES_NO_WRITES):
            raise TakesNoWrites(str(error)) from None
        raise
