"""Edges as an operator: repeated ones, both directions, weights of either."""

from pathlib import Path

import numpy as np
import pytest

from shiftstate.tables.edges import assembled


def dense(ends, weights=None, directed=False, count=3):
    shift, said = assembled(Path("edges.csv"), np.array(ends), weights, count, directed)
    return shift.to_dense().tolist(), said


def test_repeated_edges_count_once_or_add_up():
    assert dense([[0, 0], [1, 1]], directed=True) == (
        [[0, 0, 0], [1, 0, 0], [0, 0, 0]],
        ["1 edges repeat others and count once"],
    )
    assert dense([[0, 0], [1, 1]], [2, 0.5], directed=True) == (
        [[0, 0, 0], [2.5, 0, 0], [0, 0, 0]],
        ["1 edges repeat others and add up"],
    )


BOTH = "edges count in both directions; --directed keeps them as they are"


@pytest.mark.parametrize(
    ("ends", "weights", "matrix", "told"),
    [
        ([[0, 1], [1, 2]], None, [[0, 1, 0], [1, 0, 1], [0, 1, 0]], BOTH),
        ([[0, 1], [1, 0]], None, [[0, 1, 0], [1, 0, 0], [0, 0, 0]], "every edge is there in both directions"),
        ([[0, 1, 1], [1, 0, 2]], None, [[0, 1, 0], [1, 0, 1], [0, 1, 0]], BOTH),
        ([[0, 1], [1, 2]], [2, -3], [[0, 2, 0], [2, 0, -3], [0, -3, 0]], BOTH),
        ([[0, 1], [1, 0]], [2, -3], [[0, -3, 0], [2, 0, 0], [0, 0, 0]], "every edge is there in both directions"),
        ([[0, 1, 1], [1, 0, 2]], [2, -3, 5], [[0, -3, 0], [2, 0, 5], [0, 5, 0]], BOTH),  # each keeps its own
        ([[0, 1], [0, 2]], [4, 1], [[4, 0, 0], [0, 0, 1], [0, 1, 0]], BOTH),  # a loop is one edge
    ],
)
def test_an_edge_that_is_listed_one_way_leads_both_ways(ends, weights, matrix, told):
    found, said = dense(ends, weights)
    assert found == matrix
    assert said == [told]
