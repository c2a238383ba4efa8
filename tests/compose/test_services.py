import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from launch.servers import mysql, postgresql
from launch.servers.base import find_binary
from launch.servers.proxies import HAPROXY_SETTINGS
from launch.service import POOLS
from tests.compose.project import (
    DEFAULTS,
    EXAMPLE,
    FILE,
    FOLDER,
    OURS,
    PROJECT,
    SECRETS,
    SERVICES,
    VARIABLE,
    WEB,
    dependencies,
    instructions,
    profiles,
)

each_service = pytest.mark.parametrize("name", SERVICES)
each_of_ours = pytest.mark.parametrize("name", OURS)


def test_the_file_follows_the_compose_specification():
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema=vendor.compose-spec"]

    done = subprocess.run([*check, FILE], capture_output=True, text=True)

    assert done.returncode == 0, done.stdout


@each_service
def test_every_dependency_condition_can_be_met(name):
    for other, wait in dependencies(name).items():
        if wait.get("condition") == "service_healthy":
            assert _has_health_check(other)
        if wait.get("condition") == "service_completed_successfully":
            assert SERVICES[other]["restart"].partition(":")[0] in ("no", "on-failure")


@each_service
def test_required_services_are_in_the_same_profiles(name):
    for other, wait in dependencies(name).items():
        if wait.get("required", True):
            assert not profiles(other) or profiles(name) == profiles(other)


@each_service
def test_everything_that_is_mounted_exists(name):
    for source in (mount.partition(":")[0] for mount in SERVICES[name].get("volumes", ())):
        assert source in PROJECT["volumes"] or (FOLDER / source).is_file()


@pytest.mark.parametrize("name", ["mysql-default", "mysql-tuned"])
def test_every_server_creates_the_database_of_the_laboratory(name):
    lines = (FOLDER / "mysql/database.sql").read_text().splitlines()

    created, granted = (line for line in lines if line[:2] != "--")
    assert created == f"{mysql.CREATION.format('feed')};"
    assert granted == "GRANT ALL ON feed.* TO feed@'%';"
    mount = "./mysql/database.sql:/docker-entrypoint-initdb.d/database.sql:ro"
    assert mount in SERVICES[name]["volumes"]


@pytest.mark.parametrize("name", ["postgres-default", "postgres-tuned"])
def test_every_postgresql_creates_it_too_and_keeps_its_superuser_in_the_container(name):
    lines = (FOLDER / "postgresql/database.sql").read_text().splitlines()

    assert f"{postgresql.CREATION.format('feed OWNER feed')};" in lines
    assert lines[-1] == "ALTER USER postgres PASSWORD NULL;"
    mount = "./postgresql/database.sql:/docker-entrypoint-initdb.d/database.sql:ro"
    assert mount in SERVICES[name]["volumes"]
    assert SERVICES[name]["environment"].keys() == {"POSTGRES_PASSWORD"}


def test_volumes_are_mounted_on_folders_of_the_images_user():
    (made,) = (run for run in instructions("RUN") if run.startswith("install "))
    (where,) = instructions("WORKDIR")
    folders = {f"{where}/{folder}" for folder in made.split("--owner=feed ")[1].split()}

    mounts = [mount.split(":") for service in OURS.values() for mount in service.get("volumes", ())]
    assert {inside for source, inside, *_ in mounts if source in PROJECT["volumes"]} == folders


@each_of_ours
def test_only_web_servers_have_the_health_check_of_the_image(name):
    assert _has_health_check(name) == (name in WEB)


@each_service
def test_images_are_pinned_and_ports_stay_on_this_machine(name):
    assert name in OURS or ":" in SERVICES[name]["image"]
    assert all(port.startswith("127.0.0.1:") for port in SERVICES[name].get("ports", ()))


def test_one_service_builds_the_image_and_all_others_wait_for_it():
    assert [name for name, service in OURS.items() if "build" in service] == ["migrate"]
    for name in OURS.keys() - {"migrate"}:
        assert "migrate" in _all_dependencies(name)


def test_the_example_names_every_variable_with_its_default():
    # Compose itself reads this one.
    assert EXAMPLE.keys() - {"COMPOSE_PROFILES"} == DEFAULTS.keys()
    for name, default in DEFAULTS.items():
        assert EXAMPLE[name] == (default or "")


def test_nothing_starts_without_the_key_and_the_passwords():
    text = FILE.read_text()

    assert len(SECRETS) == 4
    assert all(f"${{{name}:?set {name} in compose/.env}}" in text for name in SECRETS)
    assert all(EXAMPLE[name] == "" for name in SECRETS)


def test_no_server_is_entered_without_a_password():
    urls = {name: value for name, value in EXAMPLE.items() if name.endswith("_URL")}

    assert len(urls) == 3
    for url in urls.values():
        assert urlsplit(url).password.endswith("_PASSWORD")
        assert urlsplit(url).username in ("", "feed")
    assert "--requirepass $REDIS_PASSWORD" in SERVICES["redis"]["command"]
    for server in (it for it in SERVICES.values() if it["image"].startswith("mariadb")):
        assert server["environment"]["MARIADB_ROOT_HOST"] == "localhost"


def test_the_file_with_the_passwords_is_ignored_by_git_and_not_in_the_image():
    ignored = subprocess.run(["git", "check-ignore", "--no-index", FOLDER / ".env"])

    assert ignored.returncode == 0
    everything, *allowed = Path(".dockerignore").read_text().splitlines()
    assert everything == "*"
    assert not [line for line in allowed if line.startswith(("!compose", "!."))]


def test_that_file_is_made_with_random_passwords_for_its_owner_only(tmp_path):
    folder = tmp_path / "compose"
    folder.mkdir()
    for name in ("new-env.sh", ".env.example"):
        (folder / name).write_bytes((FOLDER / name).read_bytes())
    made = subprocess.run(["sh", folder / "new-env.sh"])
    again = subprocess.run(["sh", folder / "new-env.sh"], capture_output=True)

    assert (made.returncode, again.returncode) == (0, 1)
    assert (folder / ".env").stat().st_mode & 0o777 == 0o600
    found = dict(re.findall(r"^(\w+)=(.*)$", (folder / ".env").read_text(), re.MULTILINE))
    secrets = {found[name] for name in SECRETS}
    assert len(secrets) == len(SECRETS)
    assert all(re.fullmatch(r"[0-9a-f]{64}", secret) for secret in secrets)
    assert {name: value for name, value in found.items() if name not in SECRETS} == {
        name: value for name, value in EXAMPLE.items() if name not in SECRETS
    }


@each_service
def test_containers_are_confined(name):
    service = SERVICES[name]

    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not service.keys() & {"cap_add", "privileged", "devices", "pid", "ipc", "network_mode"}
    if name in OURS:
        assert "user" not in service  # the image's, which is not root
    else:
        assert service["user"] not in ("root", "0")


@each_service
def test_folders_in_memory_can_be_written_after_a_restart_too(name):
    folders = SERVICES[name].get("tmpfs", [])

    for folder in [folders] if isinstance(folders, str) else folders:
        assert folder.endswith((":mode=1777", ":uid=1000,gid=1000"))


@pytest.mark.parametrize(
    ("name", "reached"),
    [
        ("locust-worker", {"locust-master", "proxy"}),
        (
            "proxy",
            {"app", "probes", "slow", "stream", "locust-master", "locust-worker", "prometheus"},
        ),
        ("prometheus", {"app", "probes", "slow", "drainer", "worker", "grafana", "proxy"}),
        ("grafana", {"app", "probes", "slow", "drainer", "worker", "prometheus"}),
    ],
)
def test_a_container_reaches_only_those_that_it_works_with(name, reached):
    networks = set(SERVICES[name]["networks"])

    others = {it for it in SERVICES if networks & set(SERVICES[it]["networks"])}
    assert others - {name} == reached


@each_service
def test_a_container_reaches_what_it_waits_for(name):
    for other in dependencies(name):
        assert set(SERVICES[name]["networks"]) & set(SERVICES[other]["networks"])


def test_load_generators_use_the_port_that_is_not_limited_and_not_published():
    assert "--host http://proxy:8001" in SERVICES["locust-master"]["command"]
    assert [port.rpartition(":")[2] for port in SERVICES["proxy"]["ports"]] == ["8000"]


def test_haproxy_accepts_its_settings_with_the_environment_of_the_example():
    env = {name: VARIABLE.sub(r"\3", it) for name, it in SERVICES["proxy"]["environment"].items()}
    check = [find_binary("haproxy"), "-c", "-f", HAPROXY_SETTINGS]

    done = subprocess.run(check, env=env, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    hosts = {env[name].partition(":")[0] for name in ("APP", "PROBES", "SLOW")}
    assert hosts == dependencies("proxy").keys() == {*WEB}
    assert "./haproxy.cfg:/usr/local/etc/haproxy/haproxy.cfg:ro" in SERVICES["proxy"]["volumes"]


@pytest.mark.parametrize("name", POOLS)
def test_other_app_servers_are_as_large_as_in_the_laboratory(name):
    _, pool = POOLS[name]

    assert OURS[name]["environment"].items() >= {"WEB_WORKERS": "1", **pool}.items()


def test_the_example_chooses_the_servers_that_it_names():
    chosen = EXAMPLE["COMPOSE_PROFILES"].split(",")
    hosts = {urlsplit(value).hostname for name, value in EXAMPLE.items() if name.endswith("_URL")}

    assert hosts == {"mysql-tuned", "redis"}
    assert all(profiles(host) & set(chosen) for host in hosts)


@each_of_ours
def test_services_get_only_variables_that_the_settings_read(name):
    read = re.findall(r'\benv\.\w+\(\s*"(\w+)"', Path("config/settings.py").read_text())

    assert OURS[name]["environment"].keys() <= set(read)


def _has_health_check(name):
    check = SERVICES[name].get("healthcheck")
    return not check.get("disable") if check else name in OURS and bool(instructions("HEALTHCHECK"))


def _all_dependencies(name):
    found = set(dependencies(name))
    return found.union(*map(_all_dependencies, found))
