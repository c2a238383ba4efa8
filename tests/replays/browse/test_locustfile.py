import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from launch.processes import Processes
from launch.service import Seed
from replays.browse.experiment import Browse
from replays.browse.ramp import users_at
from replays.browse.service import BrowseService


@given(st.floats(0, 200), st.integers(1, 500), st.floats(0, 60), st.floats(1, 60))
def test_the_shape_ramps_up_holds_and_ramps_down(second, peak, ramp_s, hold_s):
    users = users_at(second, peak, ramp_s, hold_s)

    assert (users is None) == (second >= 2 * ramp_s + hold_s)
    if ramp_s <= second < ramp_s + hold_s - 1:
        assert users == peak
    assert users is None or 1 <= users <= peak


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browse")
    with Processes(folder / "logs") as processes:
        service = BrowseService(Browse().variant("sqlite-counter"), processes, folder)
        service.prepare(Seed(people=20, friends=2), [("seed_likes", "--posts=50", "--likes=99")])
        service.start()
        yield service


@pytest.mark.parametrize(("p99_ms", "status"), [("0.01", 1), ("10000", 0)])
def test_the_p99_sets_the_exit_status(p99_ms, status, service, tmp_path):
    done = subprocess.run(
        [
            *(sys.executable, "-m", "locust", "-f", "replays/browse/locustfile.py", "--headless"),
            *("--only-summary", f"--host={service.url}", f"--tokens={service.tokens}"),
            *("--peak=5", "--ramp-s=1", "--hold-s=3", f"--probes={tmp_path}/probes.csv"),
            f"--fail-p99-ms={p99_ms}",
        ],
        capture_output=True,
        text=True,
        timeout=600,
    )

    assert done.returncode == status, done.stderr
    assert len((tmp_path / "probes.csv").read_text().splitlines()) > 1
