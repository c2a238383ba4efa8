import pytest

from tests.commands import python

PROCESSES = {
    "app server": ["-m", "gunicorn", "--config=config/gunicorn.py", "--bind=127.0.0.1:0"],
    "drainer": ["manage.py", "drain"],
    "queue's workers": ["manage.py", "work"],
}


@pytest.mark.parametrize("argv", PROCESSES.values(), ids=PROCESSES.keys())
def test_no_process_starts_with_an_unwritable_metrics_folder(argv, tmp_path):
    folder = tmp_path / "metrics"
    folder.touch()  # root may write into any folder, but not into a file

    database = {"DATABASE_URL": f"sqlite:///{tmp_path}/feed.sqlite3"}
    done = python(*argv, **database, PROMETHEUS_MULTIPROC_DIR=str(folder))

    assert done.returncode == 1
    assert f"(metrics.E001) PROMETHEUS_MULTIPROC_DIR={folder} can't be written" in done.stderr
    assert "Traceback" not in done.stderr
