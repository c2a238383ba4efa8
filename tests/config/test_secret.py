from concurrent.futures import ThreadPoolExecutor

from config.secret import load_or_create_secret_key


def test_the_key_is_created_once_and_readable_only_by_its_owner(tmp_path):
    path = tmp_path / "var" / "secret_key"

    key = load_or_create_secret_key(path)

    assert len(key) >= 64
    assert load_or_create_secret_key(path) == key
    assert path.stat().st_mode & 0o777 == 0o600
    assert [file.name for file in path.parent.iterdir()] == ["secret_key"]
    assert load_or_create_secret_key(tmp_path / "another") != key


def test_processes_that_start_at_once_get_the_same_key(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: load_or_create_secret_key(tmp_path / "key"), range(8)))

    assert len(keys) == 1
