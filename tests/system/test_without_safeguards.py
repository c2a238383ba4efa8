"""The controls of test_healing: without a safeguard, the same faults make pages wrong."""

import time

import pytest

from lab.faults.readers import LATEST_S, Readers
from lab.faults.running import serving
from tests.system import faults

pytestmark = pytest.mark.alone


@pytest.fixture(scope="module")
def lacking(tmp_path_factory):
    """The file that says which safeguard is missing."""
    file = tmp_path_factory.mktemp("planted") / "lacking"
    file.write_text("")
    return file


@pytest.fixture(scope="module")
def service(lacking, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("DJANGO_SETTINGS_MODULE", "tests.system.planted")
        patched.setenv("LACKING", str(lacking))
        folder = tmp_path_factory.mktemp("run")
        with serving("mysql_tuned-outbox-ring", folder, clients=0) as running:
            yield running


@pytest.mark.parametrize(
    ("safeguard", "fault"),
    [
        ("floors", faults.empty),
        ("epochs", faults.restore_redis),
        ("epochs", faults.restore_database),
        ("epochs", faults.switch),
    ],
)
def test_without_a_safeguard_pages_are_wrong(safeguard, fault, lacking, service):
    lacking.write_text("")
    with service.load(clients=4), Readers(service) as readers:
        faults.empty(service, readers)  # absent is right, whatever the control before has spoiled
        time.sleep(LATEST_S)
        readers.wrong.clear()
        time.sleep(LATEST_S)
        before = list(readers.wrong)
        lacking.write_text(safeguard)
        give_up_at = time.monotonic() + 60
        while not readers.wrong and time.monotonic() < give_up_at:  # a moment may do no harm
            fault(service, readers)
            time.sleep(LATEST_S)

    assert before == []
    assert readers.wrong
