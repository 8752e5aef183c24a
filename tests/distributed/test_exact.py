"""Many processes give the bits of one: outputs and gradients of signals exactly, those of weights to rounding."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import shiftstate as ss
from shiftstate.filters.fused.compiling.blocks import rows_per_block
from tests.distributed import jobs
from tests.distributed.worlds import world
from tests.strategies import graphs, seeds

COUNTS = (1, 2, 3, 4)
EPS = {torch.float32: 2e-6, torch.float64: 1e-12}

# Torch's float32 sigmoid rounds differently at the end of an array, so in the reference kernel only arrays whose rows
# fill whole vectors have the same bits everywhere; B·F = 32 does.
CALLS = [
    *(
        (name, {"mixing": mixing, "kernel": kernel, "checkpoint": checkpoint}, dtype)
        for name in ("GCNN", "RSN", "LSSM", "GSN")
        for mixing, kernel, checkpoint, dtype in (
            ("depthwise", "fused", None, torch.float32),
            ("depthwise", "fused", 2, torch.float64),
            ("bank", "fused", None, torch.float64),
            ("dense", "fused", 2, torch.float32),
            ("bank", "reference", 2, torch.float64),
            ("dense", "reference", None, torch.float64),
            ("depthwise", "reference", None, torch.float32),
        )
    ),
    ("LSSM", {"mixing": "depthwise", "kernel": "fused", "gate_bias": True}, torch.float64),
    *(
        (name, {"mixing": mixing, "kernel": "fused", "checkpoint": checkpoint, "basis": "chebyshev"}, torch.float64)
        for name in ("GCNN", "RSN", "LSSM", "GSN")
        for mixing, checkpoint in (("depthwise", None), ("dense", 2))
    ),
]


def random_graph(n=90, seed=0):
    """Directed, weighted, disconnected, with isolated nodes; and two halves that hardly know each other."""
    generator = torch.Generator().manual_seed(seed)
    S = torch.randn(n, n, generator=generator, dtype=torch.float64)
    S *= torch.rand(n, n, generator=generator) < 0.06
    S[: n // 2, n // 2 :] *= torch.rand(n // 2, n - n // 2, generator=generator) < 0.1
    S[5], S[:, 5], S[80:] = 0, 0, 0
    S[:, 80:] = 0
    return ss.Shift.from_matrix(S / S.abs().sum(1).clamp(min=1)[:, None], layout="sparse")


def calls_on(n):
    generator = torch.Generator().manual_seed(2)
    for name, options, dtype in CALLS:
        x = torch.randn(4, n, 2, generator=generator, dtype=dtype)
        weight = torch.randn(4, n, 8, generator=generator, dtype=dtype)
        yield name, {"in_channels": 2, "out_channels": 8, "K": 4, **options}, x, weight


@pytest.mark.parametrize("count", COUNTS)
def test_every_layer_gives_the_bits_of_one_process(tmp_path, count):
    shift = random_graph()
    ss.distributed.partition(shift, tmp_path, count, "metis" if count % 2 else "blocks")
    calls = list(calls_on(shift.num_nodes))
    expected = jobs.layer_calls(0, None, shift, calls)
    for answers in world(count).run(jobs.layer_calls, tmp_path, calls):
        for (name, options, x, _), (y, dx, grads, kernel), found in zip(calls, expected, answers, strict=True):
            assert kernel == found[3] == options["kernel"]
            assert torch.equal(found[0], y), (name, options)
            assert torch.equal(found[1], dx), (name, options)
            assert min(y.abs().max(), dx.abs().max()) > 1e-2  # zeros agree with anything
            for weight, grad in grads.items():
                size = grad.abs().max()
                assert (found[2][weight] - grad).abs().max() <= EPS[x.dtype] * size, (name, options, weight)


def test_kernels_that_begin_with_interior_rows_give_the_same_bits(tmp_path):
    """Long parts: whole blocks of rows are done before the boundary rows arrive, there and back."""
    n = 1700
    place = np.arange(n - 1)
    ends = np.stack([np.r_[place, place + 1, 5], np.r_[place + 1, place, n - 1]])  # a path, and one edge across it
    weight = np.random.default_rng(0).normal(size=ends.shape[1]) / 2
    shift = ss.Shift.from_edges(ends, weight, layout="sparse")
    made = ss.distributed.partition(shift, tmp_path, 2, np.arange(n) * 2 // n)
    assert min(part.interior for part in made.parts) > rows_per_block(n, 8 * 8)
    generator = torch.Generator().manual_seed(8)
    x = torch.randn(8, n, 2, generator=generator)
    weight = torch.randn(8, n, 8, generator=generator)
    calls = [
        (name, {"in_channels": 2, "out_channels": 8, "K": 3, "kernel": "fused", "mixing": mixing}, x, weight)
        for name, mixing in (("LSSM", "depthwise"), ("RSN", "depthwise"), ("GCNN", "depthwise"), ("GSN", "dense"))
    ]
    calls += [(name, {**options, "basis": "chebyshev"}, *rest) for name, options, *rest in calls]
    expected = jobs.layer_calls(0, None, shift.to(torch.float32), calls)
    for answers in world(2).run(jobs.layer_calls, tmp_path, calls):
        for (y, dx, *_), found in zip(expected, answers, strict=True):
            assert torch.equal(found[0], y)
            assert torch.equal(found[1], dx)


@pytest.mark.parametrize("kernel", ["fused", "reference"])
def test_ten_steps_of_training_give_the_same_losses_on_one_to_four_processes(tmp_path, kernel):
    shift = random_graph()
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(shift.num_nodes, 2, generator=generator, dtype=torch.float64)
    y = torch.randint(3, (shift.num_nodes,), generator=generator)
    expected = torch.tensor(jobs.steps(0, None, shift, x, y, kernel))
    assert expected[-1] < expected[0]
    for count in COUNTS:
        ss.distributed.partition(shift, tmp_path / str(count), count)
        for losses in world(count).run(jobs.steps, tmp_path / str(count), x, y, kernel):
            assert (torch.tensor(losses) - expected).abs().max() <= 1e-10


@given(data=st.data(), seed=seeds)
@settings(max_examples=25)
def test_any_graph_and_any_partition(tmp_path_factory, data, seed):
    """Empty parts, isolated nodes, parts without neighbours and more parts than nodes among them."""
    graph = data.draw(graphs(max_nodes=9, max_edges=25))
    count = data.draw(st.sampled_from(COUNTS))
    part = data.draw(st.lists(st.integers(0, count - 1), min_size=graph.num_nodes, max_size=graph.num_nodes))
    shift = graph.shift("sparse")
    folder = tmp_path_factory.mktemp("any")
    manifest = ss.distributed.partition(shift, folder, count, torch.tensor(part).numpy())
    assert [one.nodes for one in manifest.parts] == [part.count(p) for p in range(count)]
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(2, graph.num_nodes, 2, generator=generator, dtype=torch.float64)
    weight = torch.randn(2, graph.num_nodes, 2, generator=generator, dtype=torch.float64)
    kinds = (("LSSM", "fused", "depthwise"), ("GCNN", "fused", "bank"), ("RSN", "auto", "dense"))
    calls = [
        (name, {"in_channels": 2, "out_channels": 2, "K": 2, "kernel": kernel, "mixing": mixing}, x, weight)
        for name, kernel, mixing in kinds
    ]
    products, expected = jobs.products(0, None, shift, x), jobs.layer_calls(0, None, shift, calls)
    for found in world(count).run(jobs.products, folder, x):
        assert all(torch.equal(one, other) for one, other in zip(found, products, strict=True))
    for answers in world(count).run(jobs.layer_calls, folder, calls):
        for (y, dx, grads, _), found in zip(expected, answers, strict=True):
            assert torch.equal(found[0], y)
            assert torch.equal(found[1], dx)
            for name, grad in grads.items():
                assert (found[2][name] - grad).abs().max() <= 1e-12 * max(1, grad.abs().max())


@pytest.mark.parametrize("how", ["mean", "sum"])
def test_a_pool_readout_is_that_of_the_whole_graph(tmp_path, how):
    shift = random_graph()
    x = torch.randn(3, shift.num_nodes, 2, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    expected, grads = jobs.pooled(0, None, shift, x, how)
    ss.distributed.partition(shift, tmp_path, 3)
    for outputs, found in world(3).run(jobs.pooled, tmp_path, x, how):
        torch.testing.assert_close(outputs, expected, rtol=1e-12, atol=1e-12)
        for one, other in zip(found, grads, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


def test_normalisations_are_exact_and_the_spectral_radius_agrees(tmp_path):
    shift, kinds = random_graph(), ("row", "column", "symmetric")
    x = torch.randn(shift.num_nodes, 2, dtype=torch.float64)
    expected, radius = jobs.scaled(0, None, shift, x, kinds)
    ss.distributed.partition(shift, tmp_path, 4)
    for found, other in world(4).run(jobs.scaled, tmp_path, x, kinds):
        assert all(torch.equal(one, same) for one, same in zip(found, expected, strict=True))
        assert other == pytest.approx(radius, rel=1e-9)


@pytest.mark.parametrize(
    ("edges", "weight"),
    [
        ([[0, 1, 2, 3, 4], [1, 2, 3, 4, 0]], None),  # a directed cycle: five eigenvalues of one magnitude
        ([[0, 1, 1, 2], [1, 0, 2, 1]], None),  # bipartite: ±√2
        ([[0, 1, 1, 2, 3, 3], [1, 0, 2, 3, 2, 3]], [1.0, -2.0, 1.0, 0.5, 0.5, -1.5]),  # signed
        ([[0, 1, 2, 3], [1, 2, 3, 4]], None),  # acyclic: zero
    ],
)
def test_the_spectral_radius_of_awkward_graphs(tmp_path, edges, weight):
    shift = ss.Shift.from_edges(edges, weight, num_nodes=6, layout="sparse").to(torch.float64)
    ss.distributed.partition(shift, tmp_path, 2, "blocks")
    expected = shift.spectral_radius()
    for _, radius in world(2).run(jobs.scaled, tmp_path, torch.ones(6, 1, dtype=torch.float64), ()):
        assert radius == pytest.approx(expected, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("count", [2, 3])
def test_the_exchange_passes_gradcheck(tmp_path, count):
    shift = random_graph(12)
    ss.distributed.partition(shift, tmp_path, count, "blocks")
    assert all(world(count).run(jobs.exchange_is_differentiable, tmp_path, 12))


def test_nodes_go_by_their_numbers_and_names(tmp_path):
    shift = random_graph()
    names = [f"Ñ{i}" for i in range(shift.num_nodes)]
    ss.distributed.partition(shift, tmp_path, 3, names=names)
    x = torch.randn(2, 3, shift.num_nodes, 4)
    answers = world(3).run(jobs.taken, tmp_path, x)
    assert all(same for same, *_ in answers)
    assert sorted(node for _, nodes, *_ in answers for node in nodes) == list(range(shift.num_nodes))
    for _, nodes, found, _ in answers:
        assert found == [names[node] for node in nodes]
    assert answers[1][3].startswith(f"PartitionedShift(part 1 of 3: {len(answers[1][1])} of 90 nodes, ")
