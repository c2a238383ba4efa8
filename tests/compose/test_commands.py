import pytest
from django.core.management import get_commands, load_command_class

from tests.commands import python
from tests.compose.project import COMMANDS, OURS, WEB, environment

ONLY_LOOK = {"locust": "--list"}
"""Makes a program parse its command line and exit."""


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

    done = python("-m", program, *options, ONLY_LOOK[program], **environment(name))

    assert done.returncode == 0, done.stderr
    # Some programs print help instead of an error.
    no_such = ("--no-such-option", ONLY_LOOK[program])
    wrong = python("-m", program, *options, *no_such, **environment(name))
    assert wrong.returncode != 0


def test_the_service_starts_with_the_settings_of_the_example():
    done = python("manage.py", "check", **environment("app"))

    assert done.returncode == 0, done.stderr
