"""Rows for training, validation and testing: their shares, rare classes, groups, and the order of time."""

from pathlib import Path

import numpy as np
import pytest

from shiftstate.own_data.asking.settings import TrainSettings
from shiftstate.own_data.reading.splitting import RARE, split_rows, split_times
from shiftstate.tables import read_table
from tests.own_data.towns import table


def settings(**more):
    given = {"task": "node-classification", "edges": Path("e.csv"), "out": Path("run"), "nodes": Path("n.csv")}
    return TrainSettings(**{**given, "target": "y", **more})


def split(tmp_path, y, column=None, **more):
    """The rows of each part as lists, and how they came about."""
    rows = [(i, one) for i, one in enumerate(column if column is not None else y)]
    masks, how = split_rows(read_table(table(tmp_path / "t.csv", ["name", "c"], rows)), settings(**more), y)
    assert sum(mask.astype(int) for mask in masks.values()).max() == 1, "no row in two parts"
    return [np.flatnonzero(mask).tolist() for mask in masks.values()], how


def test_classes_come_in_equal_shares(tmp_path):
    y = np.array(["a"] * 40 + ["b"] * 20, dtype=object)
    parts, how = split(tmp_path, y)
    assert how == "at random, classes in equal shares"
    assert [(sum(row < 40 for row in part), sum(row >= 40 for row in part)) for part in parts] == [
        (24, 12),
        (8, 4),
        (8, 4),
    ]


@pytest.mark.parametrize("fewer", [0, 1])
def test_a_class_is_for_training_alone_if_it_has_fewer_rows_than_five(tmp_path, fewer):
    size = RARE - fewer
    y = np.array(["a"] * 40 + ["b"] * size, dtype=object)
    parts, _ = split(tmp_path, y)
    rare = [sum(row >= 40 for row in part) for part in parts]
    assert rare == ([size, 0, 0] if fewer else [3, 1, 1])
    assert sum(map(len, parts)) == 40 + size


def test_where_every_class_is_rare_none_is_kept_for_training(tmp_path):
    y = np.array(list("abcdef") * 4, dtype=object)  # 24 rows of 6 classes: not more than five each
    parts, _ = split(tmp_path, y)
    assert [len(part) for part in parts] == [14, 5, 5]


def test_rows_without_a_target_are_in_no_part(tmp_path):
    y = np.arange(20.0)
    y[[3, 7]] = np.nan
    parts, how = split(tmp_path, y, fractions=(0.5, 0.25, 0.25))
    assert how == "at random"
    assert [len(part) for part in parts] == [9, 4, 5]
    assert not {3, 7} & {row for part in parts for row in part}


def test_groups_stay_together_in_the_shares_that_were_asked_for(tmp_path):
    groups = [f"g{i // 3}" for i in range(60)]
    parts, how = split(tmp_path, np.arange(60.0), groups, groups="c", fractions=(0.5, 0.2, 0.3))
    assert how == "by 20 groups of 'c'"
    assert [len(part) for part in parts] == [30, 12, 18]
    assert all(len(part) == 3 * len({row // 3 for row in part}) for part in parts)


def test_three_groups_are_one_for_each_part_and_two_are_too_few(tmp_path):
    parts, _ = split(tmp_path, np.arange(9.0), list("aaabbbccc"), groups="c", fractions=(0.8, 0.1, 0.1))
    assert [len(part) for part in parts] == [3, 3, 3]
    with pytest.raises(ValueError, match="column 'c' has 2 groups; expected at least three"):
        split(tmp_path, np.arange(4.0), list("aabb"), groups="c")


def test_too_few_rows_are_named(tmp_path):
    with pytest.raises(ValueError, match="1 rows with a target cannot be split"):
        split(tmp_path, np.array([1.0]))


def test_times_are_split_in_their_order_and_no_time_is_lost():
    masks, how = split_times(None, settings(fractions=(0.5, 0.2, 0.3)), 101)
    assert how == "by time"
    assert [np.flatnonzero(mask)[[0, -1]].tolist() for mask in masks.values()] == [[0, 50], [51, 70], [71, 100]]
    assert sum(mask.sum() for mask in masks.values()) == 101


@pytest.mark.parametrize(
    ("words", "is_good"),
    [
        ("train train valid test test", True),
        ("train valid train test test", False),  # mixed
        ("valid train train test test", False),  # not first
        ("train train test valid valid", False),
        ("train train valid test  ", False),  # the last time has no part
        (" train train valid test", False),
        ("train train  valid test", False),
    ],
)
def test_a_column_of_times_has_to_be_in_order_without_a_gap(tmp_path, words, is_good):
    column = words.split(" ")[:5]
    times = read_table(table(tmp_path / "t.csv", ["hour", "part"], list(enumerate(column))))
    if is_good:
        masks, how = split_times(times, settings(split=("part",)), 5)
        assert (how, masks["valid"].tolist()) == ("by column 'part'", [False, False, True, False, False])
    else:
        with pytest.raises(ValueError, match="column 'part' is not in the order of time"):
            split_times(times, settings(split=("part",)), 5)
