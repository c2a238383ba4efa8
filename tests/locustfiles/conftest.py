import pytest

from lab.faults.running import serving
from tests.locustfiles.load import FEW_PEOPLE, Run


@pytest.fixture(scope="package")
def service(tmp_path_factory):
    with serving(
        "sqlite-outbox-setbased", tmp_path_factory.mktemp("service"), FEW_PEOPLE
    ) as running:
        yield running.service


@pytest.fixture
def run(service, tmp_path):
    """Run Locust against the service."""
    return lambda *options, **how: Run(service, tmp_path, *options, **how)
