"""Source-localization data against its definition."""

import numpy as np
import pytest
import torch

from shiftstate.datasets import SourceLocalization
from shiftstate.datasets.source_localization import find_clusters, recovered
from shiftstate.graphs import BlockGraph, stochastic_block_model

GRAPH = stochastic_block_model([10] * 5, 0.8, 0.2, seed=0)


def generate(graph: BlockGraph = GRAPH, **options) -> SourceLocalization:
    return SourceLocalization.generate(graph, **{"num_samples": (2000, 100, 50), "seed": 1, **options})


def powers(graph: BlockGraph, max_time: int) -> np.ndarray:
    """S^t by an independent route, through the eigenvectors of A: (t, N, N)."""
    values, vectors = np.linalg.eigh(graph.adjacency.numpy())
    scaled = values / values.max()
    return np.stack([(vectors * scaled**t) @ vectors.T for t in range(max_time + 1)])


def hubs(graph: BlockGraph) -> list[int]:
    degree, blocks = graph.adjacency.sum(1).tolist(), graph.blocks.tolist()
    return [
        max((node for node in range(len(blocks)) if blocks[node] == block), key=lambda node: (degree[node], -node))
        for block in range(max(blocks) + 1)
    ]


def test_shapes_and_dtypes_are_those_of_a_classification_of_graph_signals():
    data = generate()
    for samples, count in ((data.train, 2000), (data.valid, 100), (data.test, 50)):
        assert samples.x.shape == (count, 50, 1)
        assert samples.x.dtype == torch.float32
        assert samples.y.shape == (count,)
        assert samples.y.dtype == torch.int64


def test_shift_is_the_adjacency_over_its_largest_eigenvalue():
    data = generate(dtype=torch.float64)
    adjacency = GRAPH.adjacency.numpy()
    np.testing.assert_allclose(data.shift.to_dense(), adjacency / np.linalg.eigvalsh(adjacency).max(), rtol=1e-12)
    assert generate().shift.dtype == torch.float32


@pytest.mark.parametrize("source", ["hub", "any"])
def test_every_sample_is_a_diffused_delta_from_a_source_of_its_block(source):
    data = generate(source=source, max_time=6, num_samples=(6000, 1, 1), dtype=torch.float64)
    table = powers(GRAPH, 6).transpose(0, 2, 1)  # (t, source, N)
    allowed = hubs(GRAPH) if source == "hub" else range(50)
    found = set()
    for x, y in zip(data.train.x.squeeze(-1).numpy(), data.train.y.tolist(), strict=True):
        distance = np.abs(table - x).max(-1)
        time, node = np.unravel_index(distance.argmin(), distance.shape)
        assert distance[time, node] < 1e-13
        assert GRAPH.blocks[node] == y
        assert node in allowed
        found.add((int(time), int(node)))
    assert found == {(time, node) for time in range(7) for node in allowed}


def test_powers_are_taken_in_float64_and_cast_once():
    exact, cast = generate(dtype=torch.float64), generate()
    assert torch.equal(exact.train.x.float(), cast.train.x)


def test_times_are_uniform_and_include_both_ends():
    # At t = 0 one node holds everything, so the share of pure deltas is 1 / (max_time + 1).
    data = generate(num_samples=(20_000, 1, 1), max_time=4)
    delta = (data.train.x.squeeze(-1).count_nonzero(-1) == 1).double().mean().item()
    assert delta == pytest.approx(1 / 5, abs=4 * (0.2 * 0.8 / 20_000) ** 0.5)


def test_labels_are_balanced():
    counts = generate(num_samples=(20_000, 1, 1)).train.y.bincount(minlength=5)
    assert (counts - 4000).abs().max() < 4 * (20_000 * 0.2 * 0.8) ** 0.5


def test_any_source_is_uniform_within_a_block_of_any_size():
    graph = stochastic_block_model([2, 8], 0.9, 0.5, seed=0)
    data = generate(graph, source="any", max_time=0, num_samples=(20_000, 1, 1))
    share = data.train.x.squeeze(-1).double().mean(0)  # deltas only, as max_time is 0
    expected = torch.tensor([1 / 4] * 2 + [1 / 16] * 8)
    assert (share - expected).abs().max() < 4 * (0.25 * 0.75 / 20_000) ** 0.5


def test_hub_ties_go_to_the_lowest_id():
    ring = torch.roll(torch.eye(6, dtype=torch.float64), 1, 0)
    graph = BlockGraph(ring + ring.T, torch.tensor([1, 1, 1, 0, 0, 0]))
    data = generate(graph, max_time=0)
    sources = data.train.x.squeeze(-1).argmax(-1)
    assert set(sources[data.train.y == 0].tolist()) == {3}
    assert set(sources[data.train.y == 1].tolist()) == {0}


def test_standardized_training_signals_have_mean_zero_and_deviation_one_at_every_node():
    raw, data = (generate(source="any", standardize=flag, dtype=torch.float64) for flag in (False, True))
    assert data.train.x.mean(0).abs().max() < 1e-12
    assert (data.train.x.std(0, correction=0) - 1).abs().max() < 1e-12
    mean, deviation = raw.train.x.mean(0), raw.train.x.std(0, correction=0)
    assert torch.equal(data.test.y, raw.test.y)
    torch.testing.assert_close(data.test.x, (raw.test.x - mean) / deviation, rtol=1e-12, atol=1e-12)


def test_standardizing_a_node_that_never_varies_only_centres_it():
    data = generate(max_time=0, standardize=True)
    silent = [node for node in range(50) if node not in hubs(GRAPH)]
    assert data.train.x[:, silent].count_nonzero() == 0
    graph = BlockGraph(torch.tensor([[0.0, 3.0], [3.0, 0.0]]), torch.tensor([0, 0]))
    alone = generate(graph, max_time=0, standardize=True)
    assert alone.train.x.count_nonzero() == 0


def test_same_seed_same_data_and_another_seed_another():
    first, again, other = generate(), generate(seed=np.random.default_rng(1)), generate(seed=2)
    for name in ("train", "valid", "test"):
        for ours, same in zip(getattr(first, name), getattr(again, name), strict=True):
            assert torch.equal(ours, same)
    assert not torch.equal(first.train.y, other.train.y)


def test_splits_are_drawn_independently():
    data = generate(num_samples=(100, 100, 100))
    assert not torch.equal(data.train.y, data.valid.y)
    assert not torch.equal(data.valid.y, data.test.y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"source": "hubs"}, "unknown source 'hubs'; expected one of 'hub', 'any', .*; did you mean 'hub'"),
        ({"max_time": -1}, "max_time is -1; expected a whole number of at least 0"),
        ({"num_samples": (10, 10)}, r"num_samples is \(10, 10\); expected three"),
        ({"num_samples": (10, 0, 10)}, "num_samples is 0; expected a whole number of at least 1"),
        ({"seed": None}, "seed is None; expected a whole number"),
        ({"dtype": torch.int64}, "expected a floating dtype"),
    ],
)
def test_bad_arguments_are_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        generate(**options)


def test_a_graph_without_edges_is_refused():
    graph = BlockGraph(torch.zeros(2, 2), torch.tensor([0, 1]))
    with pytest.raises(ValueError, match="spectral radius 0"):
        generate(graph)


def test_clusters_are_the_blocks_where_the_graph_has_clear_ones():
    graph = stochastic_block_model([8, 12, 5], p=1.0, q=0.05, seed=3)
    mixed = torch.randperm(25, generator=torch.Generator().manual_seed(1))
    blocks = graph.blocks[mixed]
    firsts = [int((blocks == block).nonzero()[0]) for block in range(3)]
    order = torch.tensor(firsts).argsort().argsort()  # blocks numbered by their first node
    shuffled = BlockGraph(graph.adjacency[mixed][:, mixed], order[blocks])
    assert torch.equal(find_clusters(shuffled), shuffled.blocks)
    ours, hub = (generate(shuffled, source=source) for source in ("clusters", "hub"))
    assert torch.equal(ours.train.x, hub.train.x)
    assert torch.equal(ours.train.y, hub.train.y)
    assert recovered(shuffled) == (True, True)


def test_clusters_that_are_not_the_blocks_may_have_their_sources_or_not():
    leaf = torch.zeros(7, 7)
    for i, j in [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (0, 3), (5, 6)]:
        leaf[i, j] = leaf[j, i] = 1
    moved = BlockGraph(leaf, torch.tensor([0, 0, 0, 1, 1, 1, 0]))  # node 6 hangs on the other block
    assert recovered(moved) == (False, True)
    swapped = BlockGraph(leaf, torch.tensor([0, 1, 0, 0, 1, 1, 1]))
    assert recovered(swapped) == (False, False)


def test_one_source_is_a_node_of_the_block_the_same_for_all_samples():
    seen = set()
    for seed in range(5):
        data = generate(source="one", max_time=0, seed=seed)
        nodes = [split.x.squeeze(-1).argmax(1) for split in (data.train, data.valid, data.test)]
        for split, found in zip((data.train, data.valid, data.test), nodes, strict=True):
            assert torch.equal(GRAPH.blocks[found], split.y)
        assert len(set(torch.cat(nodes).tolist())) == GRAPH.num_blocks
        seen.add(tuple(sorted(set(nodes[0].tolist()))))
    assert len(seen) == 5  # another seed, other nodes
