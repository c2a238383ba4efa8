import pytest


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    """Where exports are written."""
    settings.EXPORT_DIR = tmp_path / "exports"
    return settings.EXPORT_DIR
