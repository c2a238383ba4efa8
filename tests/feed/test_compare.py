"""What every audit calls right: each kind of wrong is found, and nothing else."""

import pytest

from feed.compare import compare


@pytest.mark.parametrize(
    ("due", "shown", "missing", "duplicated", "unexpected"),
    [
        ([], [], [], [], []),
        ([3, 1], [3, 1], [], [], []),
        ([1, 2, 3], [3], [1, 2], [], []),
        ([1], [1, 1, 1], [], [1, 1], []),
        ([1], [1, 9, 9], [], [9], [9]),
        ([2**46], [2**46 + 1], [2**46], [], [2**46 + 1]),
    ],
)
def test_each_kind_of_wrong_is_found(due, shown, missing, duplicated, unexpected):
    found = compare(due, shown, allowed=())

    assert [ids.tolist() for ids in found] == [missing, duplicated, unexpected]
    assert found.ok == (not missing + duplicated + unexpected)


def test_what_is_allowed_may_be_shown_or_not():
    assert compare([1], [1, 5], allowed=[5, 6]).ok
    assert compare([1], [1], allowed=[5]).ok
    assert compare([1], [1, 7], allowed=[5]).unexpected.tolist() == [7]


def test_anything_may_be_shown_beside_what_is_due_unless_told():
    assert compare({1}, [1, 7]).ok
