from argparse import ArgumentParser
from typing import Any

from accounts.seeding import seed_people
from bench.graphs import add_graphs, fillers, graphs, seed_friends
from db.seed_command import SeedCommand


class Command(SeedCommand):
    help = "Write the people of the bench and their friends into an empty database."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_graphs(parser)

    def handle(self, *args: Any, people: list[int], friends: list[int], **options: Any) -> None:
        seeded = fillers(max(people))
        everyone = seeded[-1].author_id
        self.write(
            "people",
            seed_people(people=everyone, friends=0, graph="ring", seed=0, password=None),
        )
        self.write("friends", seed_friends(graphs(people, friends), seeded))
