"""Random splits of rows: rare classes are for training, all others are in every part."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from shiftstate.estimators.nodes import set_aside
from shiftstate.own_data.asking.settings import TrainSettings
from shiftstate.own_data.reading.splitting import RARE, split_rows

ASKED = {"task": "node-classification", "edges": Path("e"), "nodes": Path("n"), "out": Path("o"), "target": "class"}


def split(*sizes, seed=0):
    """How many rows of every class each part gets; class i has sizes[i] rows."""
    y = np.repeat([f"class {i}" for i in range(len(sizes))], sizes).astype(object)
    masks, _ = split_rows(None, TrainSettings(**ASKED, seed=seed), y)
    assert (np.sum(list(masks.values()), axis=0) == 1).all(), "every row is in one part"
    found = {name: Counter(y[mask].tolist()) for name, mask in masks.items()}
    return {name: [counts[f"class {i}"] for i in range(len(sizes))] for name, counts in found.items()}


@pytest.mark.parametrize("seed", range(5))
def test_a_class_of_fewer_rows_than_rare_is_for_training_and_one_of_as_many_is_split(seed):
    found = split(60, 40, RARE - 1, RARE, seed=seed)
    assert found["train"][2] == RARE - 1
    assert found["valid"][2] == found["test"][2] == 0
    assert found["train"][3] == 3
    assert found["valid"][3] == found["test"][3] == 1
    assert (found["train"][:2], found["valid"][:2], found["test"][:2]) == ([36, 24], [12, 8], [12, 8])


def test_where_all_classes_are_small_none_is_rare():
    """As many rows as there are classes times RARE, or fewer: else hardly a row would be left to judge by."""
    found = split(6, 4)
    assert sum(found["valid"]) + sum(found["test"]) == 4
    assert found["train"][1] < 4
    assert split(7, 4)["train"][1] == 4, "one row more, and the class of four is rare"


@pytest.mark.parametrize(
    ("sizes", "fraction", "aside"),
    [
        ((2, 18), 0.5, (1, 9)),  # two of a class: one on both sides
        ((10, 10, 10), 0.1, (1, 1, 1)),  # as many set aside as there are classes
        ((4, 4, 4), 0.75, (3, 3, 3)),  # as many left as there are classes
    ],
)
def test_classes_are_set_aside_in_equal_shares_as_soon_as_both_sides_can_have_each(sizes, fraction, aside):
    strata = np.repeat(np.arange(len(sizes)), sizes)
    for seed in range(10):
        learn, choose = set_aside(np.ones(len(strata), bool), fraction, strata, seed)
        assert tuple(np.bincount(strata[choose], minlength=len(sizes))) == aside
        assert (learn ^ choose).all()


@pytest.mark.parametrize(("sizes", "fraction"), [((1, 19), 0.5), ((10, 10, 10), 0.06), ((4, 4, 4), 0.84)])
def test_rows_are_set_aside_at_random_where_a_class_is_too_small(sizes, fraction):
    strata = np.repeat(np.arange(len(sizes)), sizes)
    learn, choose = set_aside(np.ones(len(strata), bool), fraction, strata, 0)
    assert choose.sum() == round(fraction * len(strata))
    assert (learn ^ choose).all()
