"""Our MySQL backend, with a connection pool that all threads of a process share.

A thread takes a connection for its first query and returns it at the end of the request
(CONN_MAX_AGE 0), so there may be more threads than connections.
"""

import os
from typing import Any

import MySQLdb
from dj_db_conn_pool.core import pool_container
from dj_db_conn_pool.core.mixins import DatabasePoolWrapperMixin
from sqlalchemy.dialects.mysql.mysqldb import MySQLDialect_mysqldb
from sqlalchemy.exc import TimeoutError as NoneFree

from db.mysql import base


class DatabaseWrapper(DatabasePoolWrapperMixin, base.DatabaseWrapper):  # type: ignore[misc]  # no types
    SQLAlchemyDialect = MySQLDialect_mysqldb

    def _get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Make a connection for the pool, which asks the wrapper that was its first.

        Another thread may be using that one, and connecting changes a wrapper: another is asked.
        """
        another = type(self)(self.settings_dict, self.alias)
        return base.DatabaseWrapper.get_new_connection(another, conn_params)

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Take a connection from the pool. Raises OperationalError if none is free in time."""
        try:
            return super().get_new_connection(conn_params)
        except NoneFree as error:
            raise MySQLdb.OperationalError(f"{self.alias}: no connection is free") from error

    def _set_dbapi_autocommit(self, autocommit: bool) -> None:
        self.connection.driver_connection.autocommit(autocommit)


def _close_pools() -> None:
    pool_container.dispose()
    pool_container.clear()


# A forked process with an inherited connection would read another process's answers.
os.register_at_fork(before=_close_pools)
