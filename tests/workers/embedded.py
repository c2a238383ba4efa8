"""A real Celery worker in threads of the test's process, so that it runs under its settings."""

import threading
from contextlib import contextmanager

import pytest
from celery import signals
from celery.contrib.testing.worker import start_worker

from feed.models import Post
from workers.queues import queues
from workers.queues.celery import Celery
from workers.strategies import ByMessage

TASKS_AT_ONCE = 4
WITHIN_S = 60


class Last:
    """What is sent after all messages that wait already."""

    def __init__(self):
        self.is_sent = threading.Event()


class Worker:
    """Runs tasks from the broker; a test can pause it, and wait until all tasks are done."""

    def __init__(self):
        self.sent = {}
        """Task id → (task name, arguments), oldest first."""
        self.finished = {}
        """Task id → state."""
        self._outgoing = set()
        """What strategies send with, each from a thread of its own."""
        self._changed = threading.Condition()
        self._free = threading.Event()
        self._free.set()

    @contextmanager
    def running(self):
        app = queues["celery"].app
        app.conf["CELERY_DB_REUSE_MAX"] = None  # a database of tests goes with its last connection
        signals.before_task_publish.connect(self._note_sent)
        signals.task_prerun.connect(self._wait_until_free)
        try:
            with (
                pytest.MonkeyPatch.context() as patch,
                start_worker(
                    app, pool="threads", concurrency=TASKS_AT_ONCE, perform_ping_check=False
                ),
            ):
                patch.setattr(ByMessage, "send", self._noting_outgoing(ByMessage.send))
                patch.setattr(Celery, "send", noting_the_last(Celery.send))
                # Connected last, so called after Celery has closed the task's connections.
                signals.task_postrun.connect(self._note_finished)
                yield self
        finally:
            signals.task_postrun.disconnect(self._note_finished)
            signals.task_prerun.disconnect(self._wait_until_free)
            signals.before_task_publish.disconnect(self._note_sent)

    @contextmanager
    def held(self):
        """Pause the worker: messages sent meanwhile wait."""
        self._free.clear()
        try:
            yield
        finally:
            self._free.set()

    def settle(self):
        """Wait until all messages are sent and their tasks done, and assert that none failed."""
        for outgoing in self._outgoing:
            last = Last()
            outgoing.send(last)
            assert last.is_sent.wait(WITHIN_S)
        self._wait_for(self._is_idle)
        assert not self._has_failed(), self.finished

    def await_receipts(self):
        """Wait until every post has its receipt, and settle."""
        self._wait_for(lambda: self._has_failed() or not Post.objects.pending().exists())
        self.settle()

    def await_message(self):
        self._wait_for(lambda: self.sent)

    def send_again(self):
        """Send every message a second time, as a broker may."""
        for name, (args, kwargs) in list(self.sent.values()):
            queues["celery"].app.send_task(name, args, kwargs)

    def forget(self):
        with self._changed:
            self._outgoing.clear()
            self.sent.clear()
            self.finished.clear()

    def _wait_for(self, condition):
        with self._changed:
            assert self._changed.wait_for(condition, WITHIN_S), (self.sent, self.finished)

    def _is_idle(self):
        return self.sent.keys() <= self.finished.keys()

    def _has_failed(self):
        return not set(self.finished.values()) <= {"SUCCESS"}

    def _noting_outgoing(self, send):
        def noting(strategy, *call):
            self._outgoing.add(strategy._messages)
            send(strategy, *call)

        return noting

    def _note_sent(self, sender, headers, body, **_):
        with self._changed:
            self.sent[headers["id"]] = (sender, body[:2])
            self._changed.notify_all()

    def _wait_until_free(self, **_):
        self._free.wait()

    def _note_finished(self, task_id, state, **_):
        with self._changed:
            self.finished[task_id] = state
            self._changed.notify_all()


def noting_the_last(send):
    def noting(queue, task, arguments):
        if isinstance(task, Last):
            task.is_sent.set()
        else:
            send(queue, task, arguments)

    return noting
