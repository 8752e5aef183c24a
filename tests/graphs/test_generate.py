"""The stochastic block model against its definition."""

import numpy as np
import pytest
import torch
from scipy.sparse.csgraph import connected_components

from shiftstate.graphs import BlockGraph, stochastic_block_model


def components(graph: BlockGraph) -> int:
    return connected_components(graph.adjacency.numpy(), directed=False, return_labels=False)


def test_adjacency_is_undirected_unweighted_and_without_self_loops():
    graph = stochastic_block_model([7, 3, 12], 0.7, 0.3, seed=0)
    assert graph.adjacency.shape == (22, 22)
    assert graph.adjacency.dtype == torch.float64
    assert torch.equal(graph.adjacency, graph.adjacency.T)
    assert set(graph.adjacency.unique().tolist()) == {0.0, 1.0}
    assert graph.adjacency.diagonal().count_nonzero() == 0


def test_blocks_have_the_sizes_asked_for_in_order():
    graph = stochastic_block_model([7, 3, 12], 0.7, 0.3, seed=0)
    assert graph.blocks.dtype == torch.int64
    assert graph.blocks.tolist() == [0] * 7 + [1] * 3 + [2] * 12
    assert (graph.num_nodes, graph.num_blocks) == (22, 3)


def test_p_one_and_q_zero_gives_exactly_the_complete_blocks():
    graph = stochastic_block_model([3, 4], 1, 0, seed=0, connected=False)
    same = graph.blocks[:, None] == graph.blocks
    assert torch.equal(graph.adjacency, (same & ~torch.eye(7, dtype=torch.bool)).double())


def test_edge_frequencies_within_and_between_blocks_are_p_and_q():
    graph = stochastic_block_model([200, 200], 0.8, 0.2, seed=1)
    same = (graph.blocks[:, None] == graph.blocks).triu(1)
    other = (graph.blocks[:, None] != graph.blocks).triu(1)
    for pairs, probability in ((same, 0.8), (other, 0.2)):
        four_sigma = 4 * (probability * (1 - probability) / int(pairs.sum())) ** 0.5
        assert graph.adjacency[pairs].mean().item() == pytest.approx(probability, abs=four_sigma)


def test_sparse_graphs_are_redrawn_until_connected():
    # About a third of these draws are connected, so twenty seeds cannot all be by luck.
    free = [components(stochastic_block_model([10, 10], 0.3, 0.05, seed, connected=False)) for seed in range(20)]
    kept = [components(stochastic_block_model([10, 10], 0.3, 0.05, seed)) for seed in range(20)]
    assert max(free) > 1
    assert set(kept) == {1}


def test_a_graph_that_cannot_be_connected_is_refused():
    with pytest.raises(ValueError, match=r"none of 1000 draws was connected \(p = 0.5, q = 0.0, 6 nodes\)"):
        stochastic_block_model([3, 3], 0.5, 0, seed=0)


def test_one_node_is_a_connected_graph():
    assert stochastic_block_model([1], 0.5, 0.5, seed=0).adjacency.tolist() == [[0.0]]


def test_same_seed_same_graph_and_another_seed_another():
    first, again, other = (stochastic_block_model([10] * 5, 0.8, 0.2, seed) for seed in (3, 3, 4))
    assert torch.equal(first.adjacency, again.adjacency)
    assert not torch.equal(first.adjacency, other.adjacency)


def test_a_generator_is_drawn_from_where_it_stands():
    generator = np.random.default_rng(3)
    first = stochastic_block_model([10] * 5, 0.8, 0.2, generator)
    second = stochastic_block_model([10] * 5, 0.8, 0.2, generator)
    assert torch.equal(first.adjacency, stochastic_block_model([10] * 5, 0.8, 0.2, 3).adjacency)
    assert not torch.equal(first.adjacency, second.adjacency)


def test_a_graph_that_does_not_fit_is_refused_before_it_is_drawn():
    with pytest.raises(
        ValueError, match=r"^a graph of 10,000,000 nodes needs 1,600,000,000,000,000 bytes while it is dra"
    ):
        stochastic_block_model([10**6] * 10, 0.8, 0.2, seed=0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], 0.5, 0.5, 0), "block_sizes is empty"),
        (([3, 0], 0.5, 0.5, 0), "block size is 0; expected a whole number of at least 1"),
        (([3, 2.5], 0.5, 0.5, 0), "block size is 2.5"),
        (([3], 1.5, 0.5, 0), "p is 1.5; expected a probability"),
        (([3], 0.5, -0.1, 0), "q is -0.1; expected a probability"),
        (([3], float("nan"), 0.5, 0), "p is nan; expected a probability"),
        (([3], "0.5", 0.5, 0), "p is '0.5'; expected a probability"),
        (([3], 0.5, 0.5, None), "seed is None; expected a whole number"),
        (([3], 0.5, 0.5, -1), "seed is -1; expected a whole number"),
    ],
)
def test_bad_arguments_are_refused_by_name(arguments, message):
    with pytest.raises(ValueError, match=message):
        stochastic_block_model(*arguments)


@pytest.mark.parametrize(
    ("adjacency", "blocks", "message"),
    [
        (torch.zeros(2, 3), torch.tensor([0, 0]), r"adjacency has shape \(2, 3\)"),
        (torch.zeros(2, 2), torch.tensor([0, 0, 0]), r"blocks has shape \(3,\)"),
        (torch.zeros(2, 2), torch.tensor([0.0, 1.0]), "dtype torch.float32"),
        (torch.zeros(2, 2), torch.tensor([0, 2]), r"blocks holds \[0, 2\]; expected 0 to C − 1"),
        (torch.zeros(2, 2), torch.tensor([-1, 0]), r"blocks holds \[-1, 0\]"),
        (torch.zeros(0, 0), torch.zeros(0, dtype=torch.int64), r"adjacency has shape \(0, 0\)"),
        (torch.zeros(()), torch.tensor([0]), r"adjacency has shape \(\)"),
    ],
)
def test_a_block_graph_with_wrong_shapes_or_blocks_is_refused(adjacency, blocks, message):
    with pytest.raises(ValueError, match=message):
        BlockGraph(adjacency, blocks)
