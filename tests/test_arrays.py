"""Arrays from many hands: masks are kept or refused, and every dtype of torch is read."""

import numpy as np
import pytest
import torch

import shiftstate as ss
from shiftstate.arrays import as_numpy
from shiftstate.tasks.targets import as_numbers

MASKED = np.ma.array([1, 2, 3], mask=[False, True, False])


def test_masked_numbers_become_nan_and_masked_labels_none():
    np.testing.assert_array_equal(as_numpy("y", MASKED, "nan"), [1.0, np.nan, 3.0])
    assert as_numpy("y", MASKED, "none").tolist() == [1, None, 3]
    assert as_numpy("y", np.ma.array(["a", "b"], mask=[True, False]), "none").tolist() == [None, "b"]
    assert as_numpy("y", np.ma.array([True, False], mask=[True, False]), "none").tolist() == [None, False]


def test_a_mask_that_hides_nothing_changes_nothing():
    found = as_numpy("y", np.ma.array([1, 2], mask=False))
    assert found.tolist() == [1, 2]
    assert type(found) is np.ndarray


@pytest.mark.parametrize(
    "call",
    [
        lambda: as_numpy("weight", MASKED),
        lambda: as_numbers(MASKED, "weight"),
        lambda: ss.Shift.from_edges([[0, 1, 2], [1, 2, 0]], weight=MASKED),
    ],
)
def test_masked_values_are_refused_where_every_value_counts(call):
    with pytest.raises(ValueError, match="weight is an array with a masked value; expected none"):
        call()


def test_graphs_with_masked_edges_or_entries_are_refused():
    with pytest.raises(ValueError, match="edge_index is an array with a masked value"):
        ss.Shift.from_edges(np.ma.array([[0, 1], [1, 0]], mask=[[0, 1], [0, 0]]))
    with pytest.raises(ValueError, match="matrix is an array with 3 masked values"):
        ss.Shift.from_matrix(np.ma.array(np.eye(3), mask=np.eye(3) > 0))


def test_masked_arrays_in_a_list_are_refused_since_numpy_drops_their_masks():
    with pytest.raises(ValueError, match="X is a list of masked arrays; expected a single one"):
        as_numpy("X", [MASKED, MASKED], "nan")


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn, torch.float16, torch.float64, torch.int8])
def test_tensors_of_every_dtype_are_read(dtype):
    assert as_numpy("X", torch.tensor([1, 2, 0.5 if dtype.is_floating_point else 3]).to(dtype)).tolist()[:2] == [1, 2]


def test_rows_of_several_lengths_and_tensors_without_values_are_named():
    with pytest.raises(ValueError, match="X is a list that makes no array"):
        as_numpy("X", [[1], [1, 2]])
    with pytest.raises(ValueError, match="X is on the meta device"):
        as_numpy("X", torch.empty(2, device="meta"))
