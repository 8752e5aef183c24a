"""Rings and grids: their edges and radius; and a graph that one process holds alone."""

import numpy as np
import pytest
import torch

from shiftstate.graphs.lattices import grid, ring
from shiftstate.graphs.partitioned import Partitioned
from shiftstate.graphs.ranks import ALONE


class Halo:
    """Three rows of other processes."""

    size = 3


@pytest.mark.parametrize(("rows", "columns"), [(1, 2), (2, 1), (3, 4)])
def test_crossings_are_joined_with_those_beside_above_and_below(rows, columns):
    found = grid(rows, columns).to_dense().double().numpy()
    place = [(node // columns, node % columns) for node in range(rows * columns)]
    near = [[abs(a - c) + abs(b - d) == 1 for c, d in place] for a, b in place]
    assert np.array_equal(found != 0, np.array(near))
    assert np.abs(np.linalg.eigvalsh(found)).max() == pytest.approx(1, rel=1e-6)


def test_a_grid_has_two_nodes_or_more():
    with pytest.raises(ValueError, match="a grid of 1 × 1 has 1 node; expected at least two"):
        grid(1, 1)


def test_every_node_of_a_ring_takes_half_of_both_neighbours():
    found = ring(5).to_dense()
    assert torch.equal(found, (torch.eye(5).roll(1, 0) + torch.eye(5).roll(-1, 0)) / 2)


def test_columns_are_the_own_nodes_and_those_of_the_halo():
    half = (torch.tensor([0, 1, 2]), torch.tensor([1, 4]), torch.ones(2))
    nothing = type("Nothing", (), {"size": 0})()
    assert Partitioned.of((*half, *half), 0, Halo(), nothing).columns() == (5, 2)


def test_one_process_is_the_first_of_one():
    assert (ALONE.rank, ALONE.count) == (0, 1)
    assert ALONE.said("a") == ["a"]
