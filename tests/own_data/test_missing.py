"""Missing values: their place in the message, straight lines, masks, and what fills a mask."""

from pathlib import Path

import numpy as np
import pytest

from shiftstate.own_data.reading.missing import settled, without_gaps

NAN, FILE = np.nan, Path("t.csv")
VALUES = np.array([[NAN, 1.0], [2.0, NAN], [NAN, 0.0], [6.0, NAN]])


def test_a_missing_value_is_refused_with_its_row_and_column():
    with pytest.raises(
        ValueError,
        match=r"t.csv: row 3, column 'b' is empty, the first of 3 such values; expected numbers; or say what to do "
        r"with missing ones: --missing mask\|interpolate\|zero=missing",
    ):
        settled(VALUES[1:, ::-1], FILE, "refuse", ["b", "a"], 3)
    assert settled(VALUES[1:, :1][[0, 2]], FILE, "refuse", ["a"]).tolist() == [[2], [6]]


def test_an_infinite_value_is_refused_whatever_is_done_with_missing_ones():
    for missing in ("refuse", "mask", "interpolate", "zero=missing"):
        with pytest.raises(ValueError, match=r"t.csv: row 12, column 'b' is infinite"):
            settled(np.array([[0, 1.0], [1, 2], [2, -np.inf]]), FILE, missing, ["a", "b"], 10)


def test_straight_lines_lead_through_the_gaps_of_a_column():
    found = settled(VALUES, FILE, "interpolate", ["a", "b"])
    assert found.tolist() == [[2, 1], [2, 0.5], [4, 0], [6, 0]]
    deep = np.stack([VALUES, VALUES + 10], -1)
    assert np.array_equal(settled(deep, FILE, "interpolate", ["a", "b"]), np.stack([found, found + 10], -1))


def test_a_column_without_any_value_cannot_be_interpolated():
    with pytest.raises(ValueError, match="row 1, column 'b' is empty, the first of 4 such values; it has no value at"):
        settled(np.stack([VALUES[:, 0], np.full(4, NAN)], 1), FILE, "interpolate", ["a", "b"])


def test_masks_and_zeros_that_are_missing():
    assert np.array_equal(settled(VALUES, FILE, "mask", ["a", "b"]), VALUES, equal_nan=True)
    found = settled(VALUES, FILE, "zero=missing", ["a", "b"])
    assert np.array_equal(found, np.where(VALUES == 0, NAN, VALUES), equal_nan=True)


def test_a_masked_value_becomes_the_mean_of_the_training_rows():
    train = np.array([True, True, True, False])
    found = without_gaps(VALUES, train, 2, "standard")
    assert found.tolist() == [[2, 1], [2, 0.5], [2, 0], [6, 0.5]]
    assert without_gaps(VALUES, train, 2, "none").tolist() == [[0, 1], [2, 0], [0, 0], [6, 0]]
    assert without_gaps(found, train, 2, "standard") is found
    nothing = np.array([[NAN, 1.0], [NAN, 3.0]])
    assert without_gaps(nothing, np.array([True, True]), 2, "standard").tolist() == [[0, 1], [0, 3]]
