"""What a dying process left of a person is finished by a drainer, in the tables of replays too."""

from tests.feed.test_people import at_once, test_what_a_dead_process_left_is_finished_by_a_drainer
from tests.replays.test_people import all_tables

__all__ = ["all_tables", "at_once", "test_what_a_dead_process_left_is_finished_by_a_drainer"]
