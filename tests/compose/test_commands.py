import os
import subprocess
import sys

import pytest
from django.core.management import get_commands, load_command_class

from tests.compose.project import COMMANDS, OURS, WEB, environment

ONLY_LOOK = {"locust": "--list"}
"""Makes a program parse its command line and exit."""


def run(argv, name):
    return subprocess.run(
        [sys.executable, *argv],
        env={**os.environ, **environment(name)},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_every_command_of_the_image_is_tested():
    assert COMMANDS.keys() == OURS.keys() - {*WEB}
    assert {command[0] for command in COMMANDS.values()} == {"python", *ONLY_LOOK}


@pytest.mark.parametrize("name", [name for name, argv in COMMANDS.items() if argv[0] == "python"])
def test_management_commands_accept_their_options(name):
    python, manage, command, *options = COMMANDS[name]
    assert (python, manage) == ("python", "manage.py")

    it = load_command_class(get_commands()[command], command)

    it.create_parser(manage, command).parse_args(options)  # raises CommandError


@pytest.mark.parametrize("name", [name for name, argv in COMMANDS.items() if argv[0] in ONLY_LOOK])
def test_programs_accept_their_options(name):
    program, *options = COMMANDS[name]

    done = run(["-m", program, *options, ONLY_LOOK[program]], name)

    assert done.returncode == 0, done.stderr
    # Some programs print help instead of an error.
    wrong = run(["-m", program, *options, "--no-such-option", ONLY_LOOK[program]], name)
    assert wrong.returncode != 0


def test_the_service_starts_with_the_settings_of_the_example():
    done = run(["manage.py", "check"], "app")

    assert done.returncode == 0, done.stderr
