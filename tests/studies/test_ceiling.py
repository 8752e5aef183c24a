"""The ceiling of template matching: all where templates differ, chance where they have become one."""

import pytest
import torch

from shiftstate.graphs import BlockGraph
from shiftstate.studies.paper.ceiling import graph_ceiling
from shiftstate.studies.paper.source_localization import ceiling

COMPLETE = BlockGraph(torch.ones(6, 6) - torch.eye(6), torch.tensor([0, 0, 0, 1, 1, 1]))
SWAP = BlockGraph(torch.tensor([[0.0, 1.0], [1.0, 0.0]]), torch.tensor([0, 1]))


def test_templates_that_never_mix_are_always_matched():
    assert graph_ceiling(SWAP, max_time=30).exact == 1.0
    assert graph_ceiling(SWAP, max_time=30).shape == 1.0


def test_on_a_complete_graph_only_early_times_tell_and_the_rest_is_chance():
    """S^t δ_i = 1/6 + O(5^-t): distinct in float32 for small t, one and the same from t = 12 on."""
    assert graph_ceiling(COMPLETE, max_time=5).exact == 1.0
    late = graph_ceiling(COMPLETE, max_time=999)
    assert late.exact == pytest.approx(0.5, abs=0.01)
    assert late.shape == pytest.approx(0.5, abs=0.01)


def test_amplitudes_tell_what_shapes_no_longer_do():
    """Late signals on a star of unequal weights are v_1 times an amplitude that differs from leaf to leaf."""
    weights = torch.tensor([1.0, 2.0, 3.0, 4.0])
    adjacency = torch.zeros(5, 5)
    adjacency[0, 1:] = adjacency[1:, 0] = weights
    adjacency += torch.eye(5)  # a star alone is bipartite
    found = graph_ceiling(BlockGraph(adjacency, torch.tensor([0, 0, 0, 1, 1])), max_time=400)
    assert found.exact == 1.0
    assert found.shape < 0.7


def test_more_digits_raise_the_ceiling_of_shapes():
    single, double = (graph_ceiling(COMPLETE, 30, dtype).shape for dtype in ("float32", "float64"))
    assert double > single


def test_the_ceiling_of_some_settings_is_the_mean_over_their_graphs(trial):
    one = trial(max_time=25, block_sizes=(10,) * 5)
    each = [ceiling(one, graphs) for graphs in (1, 2)]
    assert each[1].shape != each[0].shape
    assert 0.2 < each[1].shape < each[1].exact <= 1.0
