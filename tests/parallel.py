"""Calls in threads, each with its own connection to the database."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from django.db import connection


def in_parallel(calls):
    """Begin all calls at the same time; return what each one returned or raised."""
    together = Barrier(len(calls))

    def run(call):
        together.wait(20)
        try:
            return call()
        except Exception as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def in_a_thread(work, *args, **kwargs):
    """Work in this thread, which is not the test's own: close its connection."""
    try:
        return work(*args, **kwargs)
    finally:
        connection.close()
