import pytest


@pytest.fixture(autouse=True)
def _bench_is_installed(settings):
    settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, "bench"]
