import logging

import pytest

from runtime.logs import MOST, PER_S, Repeated, WithoutTraceback


class Log(logging.Handler):
    """A handler with the filter, and a clock that stands still."""

    def __init__(self):
        super().__init__()
        self.addFilter(Repeated())
        self.now, self.lines = 0.0, []
        self.logger = logging.Logger("any")
        self.logger.addHandler(self)

    def emit(self, record):
        self.lines.append(record.getMessage())

    def warn(self, count, level=logging.WARNING):
        for number in range(count):
            self.logger.log(level, "number %s", number)


@pytest.fixture
def log(monkeypatch):
    log = Log()
    monkeypatch.setattr("runtime.logs.time.monotonic", lambda: log.now)
    return log


def test_a_line_warns_a_few_times_per_minute_and_then_tells_how_often(log):
    log.warn(MOST + 7)
    first = list(log.lines)
    log.now = PER_S + 1
    log.warn(2)

    assert first == [f"number {n}" for n in range(MOST)]
    assert log.lines[MOST:] == ["number 0 (7 more before)", "number 1"]


def test_neither_other_lines_nor_information_are_limited_with_it(log):
    log.warn(MOST)
    log.warn(10 * MOST, logging.INFO)
    log.logger.warning("another")

    assert len(log.lines) == 11 * MOST + 1


def test_a_record_without_traceback_is_one_line(log):
    log.addFilter(WithoutTraceback())
    log.setFormatter(logging.Formatter("%(message)s"))
    log.emit = lambda record: log.lines.append(log.format(record))

    log.logger.error("wrong: %s", "a\nb", exc_info=ValueError("here"))

    assert log.lines == ["wrong: a b"]
