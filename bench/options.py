"""The options of the bench's commands."""

from argparse import ArgumentParser, ArgumentTypeError


def numbers(text: str) -> list[int]:
    """Read numbers above 0, separated by commas."""
    found = [int(number) for number in text.split(",")]
    if min(found) < 1:
        raise ArgumentTypeError(f"{min(found)} is less than 1")
    return found


def add_graphs(parser: ArgumentParser) -> None:
    parser.add_argument("--people", type=numbers, default=[1000])
    parser.add_argument("--friends", type=numbers, default=[500], help="of each who posts")


def add_grid(parser: ArgumentParser) -> None:
    add_graphs(parser)
    parser.add_argument("--batch", type=numbers, default=[25, 500], help="posts per batch")
