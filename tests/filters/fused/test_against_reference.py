"""Every fast implementation against the reference: outputs, states and all gradients, where the state is alive."""

import copy

import pytest
import torch

import shiftstate as ss
from shiftstate.filters.activations import ACTIVATIONS
from shiftstate.filters.fused.cells import CELLS
from shiftstate.layers import LAYERS
from shiftstate.layers.options import MIXINGS
from shiftstate.testing import assert_alive
from shiftstate.testing.inputs import graph
from tests.filters.fused.comparison import (
    CHEBYSHEV,
    FAST,
    KINDS,
    RECURRENT,
    VARIANTS,
    assert_identical,
    assert_same,
    cycle,
    filter_arguments,
    label,
    pair,
    ragged,
    results,
    signal,
)

DTYPES = [torch.float64, torch.float32]
LAYOUTS = ["dense", "sparse"]


def compare(kind, G, F, K, shift, x, **options):
    layer, reference = pair(kind, G, F, K, x.dtype, **options)
    assert_same(results(layer, x, shift), results(reference, x, shift))


def test_there_is_something_to_compare():
    assert "fused" in FAST


@pytest.mark.parametrize("dtype", DTYPES, ids=label)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize(("kind", "options"), VARIANTS + CHEBYSHEV, ids=label)
@pytest.mark.parametrize("kernel", FAST)
def test_every_filter_mixing_layout_and_dtype(kernel, kind, options, mixing, layout, dtype):
    shift, x = graph(layout=layout).to(dtype), signal(2, 8, 2, dtype=dtype)
    for K in (0, 1, 5):
        layer, reference = pair(kind, 2, 3, K, dtype, kernel, mixing=mixing, **options)
        assert_alive(reference.trace(x, shift))
        assert layer.kernel_in_use(x, shift)[0] == kernel
        assert_same(results(layer, x, shift), results(reference, x, shift))


@pytest.mark.parametrize("dtype", DTYPES, ids=label)
@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize(("kind", "options"), VARIANTS, ids=label)
@pytest.mark.parametrize("kernel", FAST)
def test_at_the_edge_of_stability(kernel, kind, options, mixing, dtype):
    shift, x = cycle(9, dtype), signal(3, 9, 2, dtype=dtype)
    layer, reference = pair(kind, 2, 2, 32, dtype, kernel, mixing=mixing, **options)
    assert_alive(reference.trace(x, shift))
    assert_same(results(layer, x, shift), results(reference, x, shift))


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("mixing", ["bank", "dense"])
def test_every_named_activation(activation, mixing):
    shift, x = graph(layout="dense"), signal(2, 8, 2)
    smooth = activation in ("tanh", "sigmoid")  # with gate biases, as above: fewer kernels to compile
    for kind in RECURRENT:
        known = LAYERS[kind](1, 1, 0).options()
        options = {"gate_bias": smooth} if "gate_bias" in known else {}
        for name in CELLS[LAYERS[kind].fused].activations:
            compare(kind, 2, 3, 4, shift, x, mixing=mixing, **{name: activation}, **options)


@pytest.mark.parametrize("dtype", DTYPES, ids=label)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("N", "B", "G", "F"),
    [
        (1, 1, 1, 1),
        (1, 3, 2, 2),
        (2, 1, 3, 1),
        (7, 3, 2, 3),
        (7, 257, 1, 2),  # 514 columns: more than a tile
        (70, 171, 1, 3),  # two blocks of rows, the second a short one, on two tiles
        (1201, 1, 5, 8),  # 40 columns, several blocks
    ],
)
@pytest.mark.parametrize(("kind", "mixing"), [("gcnn", "depthwise"), *((kind, "bank") for kind in RECURRENT)])
def test_odd_sizes(kind, mixing, N, B, G, F, layout, dtype):
    compare(kind, G, F, 2, ragged(N, dtype, layout), signal(B, N, G, dtype=dtype), mixing=mixing)


@pytest.mark.parametrize(("N", "B", "G", "F"), [(1, 1, 1, 1), (7, 3, 2, 3), (83, 61, 2, 9)])  # 5063 rows of 9
@pytest.mark.parametrize("kind", KINDS)
def test_odd_sizes_of_dense_mixing(kind, N, B, G, F):
    compare(kind, G, F, 2, ragged(N), signal(B, N, G), mixing="dense")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mixing", MIXINGS)
def test_a_graph_without_edges(kind, mixing):
    shift = ss.Shift.from_edges(torch.empty(2, 0, dtype=torch.int64), num_nodes=4, layout="sparse").to(torch.float64)
    compare(kind, 2, 3, 3, shift, signal(2, 4, 2), mixing=mixing)


@pytest.mark.parametrize("checkpoint", [1, 2, "sqrt", 5, 100])
@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_checkpoint_changes_no_bit_of_the_fused_result(kind, mixing, checkpoint):
    shift, x = ragged(8), signal(2, 8, 3)
    for K in (0, 1, 5):
        layer, reference = pair(kind, 3, 2, K, mixing=mixing)
        without = results(layer, x, shift)
        layer.checkpoint = reference.checkpoint = checkpoint
        assert_identical(results(layer, x, shift), without)
        assert_same(without, results(reference, x, shift))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mixing", MIXINGS)
def test_inputs_that_are_not_contiguous(kind, mixing):
    layer, reference = pair(kind, 2, 3, 3, mixing=mixing)
    for side in (layer, reference):
        for name, parameter in list(side.named_parameters()):
            setattr(side, name, torch.nn.Parameter(parameter.detach().movedim(0, -1).contiguous().movedim(-1, 0)))
    strided = signal(4, 16, 4)[::2, ::2, ::2]
    turned = signal(2, 8, 3).permute(2, 1, 0)
    for shift in (graph(layout="dense").T, graph(layout="sparse").T):
        for x in (strided, turned, signal(1, 8, 2).expand(3, 8, 2)):
            cotangent = torch.ones((), dtype=x.dtype).expand(*x.shape[:-1], 3)
            assert_same(results(layer, x, shift, cotangent), results(reference, x, shift, cotangent))


@pytest.mark.parametrize("batch", [(), (1,), (4,), (2, 3), (2, 1, 2)])
@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_any_leading_axes(kind, mixing, batch):
    compare(kind, 2, 3, 3, graph(layout="dense"), signal(*batch, 8, 2), mixing=mixing)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mixing", MIXINGS)
def test_only_the_gradients_that_are_asked_for(kind, mixing):
    shift, x = graph(layout="dense"), signal(2, 8, 2)
    layer, reference = pair(kind, 2, 3, 3, mixing=mixing)
    expected = results(reference, x, shift)
    layer(x, shift).backward(signal(2, 8, 3, seed=11))
    assert_same(
        {name: p.grad for name, p in layer.named_parameters()}, {n: expected[n] for n in dict(layer.named_parameters())}
    )
    frozen = layer.requires_grad_(False)(x.requires_grad_(), shift)
    assert_same({"x": torch.autograd.grad(frozen, x, signal(2, 8, 3, seed=11))[0]}, {"x": expected["x"]})
    with torch.no_grad():
        assert_same({"output": layer(x, shift)}, {"output": expected["output"]})
    with torch.inference_mode():
        assert_same({"output": layer(x, shift)}, {"output": expected["output"]})


@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("kind", RECURRENT)
def test_a_second_backward_through_a_kept_graph_gives_the_same(kind, mixing):
    layer, _ = pair(kind, 2, 3, 3, mixing=mixing)
    y, parameters = layer(signal(2, 8, 2), graph()), list(layer.parameters())
    first = torch.autograd.grad(y.sum(), parameters, retain_graph=True)
    again = torch.autograd.grad(y.sum(), parameters)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("kind", RECURRENT)
def test_the_states_of_every_shift(kind, mixing, layout):
    layer, _ = pair(kind, 2, 3, 5, mixing=mixing)
    shift, x = graph(layout=layout), signal(4, 8, 2)
    trace = layer.trace(x, shift)
    assert_alive(trace)

    def nodes_first(signals):  # (k, B, N, C) as the kernels have it
        return signals.transpose(1, 2).reshape(len(signals), *kept[0].shape[1:])

    _, *kept = torch.ops.shiftstate.filter(**filter_arguments(layer, x.movedim(-2, 0), shift))
    along = {"Sw": torch.stack([shift @ w for w in trace.states[:-1]]), "c": trace.memories, "w": trace.states}
    expected = {name: nodes_first(along[name]) for name in CELLS[layer.fused].keeps}
    assert_same(dict(zip(expected, kept, strict=True)), expected)


def test_every_layer_with_a_fused_kernel_is_in_the_registry_and_compared_here():
    assert {layer_class.fused for layer_class in LAYERS.values()} == CELLS.keys()
    assert {kind for kind, _ in VARIANTS} == LAYERS.keys()
    for kind in RECURRENT:
        assert CELLS[LAYERS[kind].fused].maps == LAYERS[kind].updates


@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize(("kind", "options"), VARIANTS + CHEBYSHEV, ids=label)
def test_weights_that_no_shift_uses_have_no_gradient_on_either_kernel(kind, options, mixing):
    sides = pair(kind, 2, 3, 0, mixing=mixing, **options)
    for side in sides:
        side(signal(2, 8, 2), graph()).sum().backward()
    unused = [{name for name, p in side.named_parameters() if p.grad is None} for side in sides]
    assert unused[0] == unused[1] == set(sides[0].update_weights())


class Biased(ss.RSN):
    """A gate bias where the library's filter has none: `Taps` adds it, and so do the kernels."""

    def parameter_shapes(self):
        shapes = super().parameter_shapes()
        return shapes | {"b_w": shapes["h_wx"][:2] if self.mixing == "dense" else shapes["h_wx"]}


@pytest.mark.parametrize("mixing", MIXINGS)
def test_a_bias_that_a_subclass_adds_is_added(mixing):
    layer = Biased(2, 3, 3, mixing=mixing, kernel="fused").double()
    with torch.no_grad():
        layer.b_w.normal_(generator=torch.Generator().manual_seed(3))
    reference = copy.deepcopy(layer)
    reference.kernel = "reference"
    assert_same(results(layer, signal(2, 8, 2), graph()), results(reference, signal(2, 8, 2), graph()))


class HalfBiased(ss.LSSM):
    """A bias in one gate of four, which the kernels do not know."""

    def parameter_shapes(self):
        shapes = super().parameter_shapes()
        return shapes | {"b_f": shapes["h_fx"]}


def test_weights_that_the_kernels_do_not_know_are_not_passed_over():
    with pytest.raises(ValueError, match=r"weights .*'b_f'.* were given; expected .* for a fused lssm filter"):
        HalfBiased(2, 3, 3)(signal(8, 2).float(), graph().to(torch.float32))
