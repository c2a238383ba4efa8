"""compose.yaml, its variables, and the Dockerfile, read from their files."""

import re
import shlex
from pathlib import Path

import yaml

FOLDER = Path("compose")
FILE = FOLDER / "compose.yaml"
DOCKERFILE = FOLDER / "Dockerfile"

PROJECT = yaml.safe_load(FILE.read_text())
SERVICES = PROJECT["services"]
OURS = {name: service for name, service in SERVICES.items() if service["image"] == "feed-fanout"}
WEB = ("app", "probes", "slow")
"""The app servers, which have the command of the image."""
COMMANDS = {name: shlex.split(it["command"]) for name, it in OURS.items() if "command" in it}

VARIABLE = re.compile(r"\$\{(\w+)(?::?([-?])([^}]*))?\}")
DEFAULTS = {
    name: default if operator == "-" else None
    for name, operator, default in VARIABLE.findall(FILE.read_text())
}
"""Default of every variable in compose.yaml; None if it has none."""
EXAMPLE_FILE = (FOLDER / ".env.example").read_text()
EXAMPLE = dict(re.findall(r"^(\w+)=(.*)$", EXAMPLE_FILE, re.MULTILINE))
SECRETS = [name for name, value in EXAMPLE.items() if name == "SECRET_KEY" or "PASS" in name]


def profiles(name):
    return set(SERVICES[name].get("profiles", ()))


def dependencies(name):
    """Return the services that a service waits for, with their conditions."""
    wanted = SERVICES[name].get("depends_on", {})
    return wanted if isinstance(wanted, dict) else {other: {} for other in wanted}


def environment(name):
    """Return a service's environment, with the other variables as in the example."""
    secret = dict.fromkeys(SECRETS, "a-key-for-the-tests-which-is-long-enough")
    given = DEFAULTS | EXAMPLE | secret
    given = {key: _interpolated(value or "", given) for key, value in given.items()}
    return {
        key: _interpolated(VARIABLE.sub(lambda match: given[match[1]], value), given)
        for key, value in OURS[name]["environment"].items()
    }


def _interpolated(value, given):
    return re.sub(r"\$(\w+)", lambda match: given[match[1]], value)


def instructions(keyword):
    """Return the arguments of one kind of instruction in the Dockerfile, in order."""
    text = DOCKERFILE.read_text().replace("\\\n", " ")
    return [line.split(maxsplit=1)[1] for line in text.splitlines() if line.startswith(keyword)]
