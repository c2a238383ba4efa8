import pytest


@pytest.fixture(autouse=True)
def people_are_counted_each_time(monkeypatch):
    """Let no test know how many people were inside in another one."""
    monkeypatch.setattr("replays.activity.app.queries.best.KEEP_S", -1)
