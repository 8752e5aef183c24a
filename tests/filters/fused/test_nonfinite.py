"""NaN and infinity come out where the reference has them: a run that diverges never looks healthy."""

import copy
import math

import pytest
import torch

import shiftstate as ss
from shiftstate.layers import LAYERS
from shiftstate.layers.options import MIXINGS
from shiftstate.testing.inputs import graph
from tests.filters.fused.comparison import KINDS, RECURRENT, deviation, label, pair, results, signal

BAD = (math.nan, math.inf, -math.inf)
CASES = [("bank", torch.float32), ("dense", torch.float32), ("depthwise", torch.float64)]
GATED = [kind for kind in RECURRENT if "gate_bias" in LAYERS[kind].option_names()]
ACTIVATIONS = [
    ("rsn", {"state_activation": "relu", "output_activation": "relu"}),
    ("rsn", {"state_activation": "leaky_relu", "output_activation": "identity"}),
    ("rsn", {"state_activation": "identity", "output_activation": "leaky_relu"}),
    ("rsn", {"state_activation": "tanh", "output_activation": "sigmoid"}),
    *((kind, {"output_activation": name}) for kind in GATED for name in ("relu", "leaky_relu", "identity")),
    *((kind, {"output_activation": name, "gate_bias": True}) for kind in GATED for name in ("tanh", "sigmoid")),
]


def kinds(values):
    """0 where finite, 1 where NaN, 2 and 3 where +∞ and −∞."""
    return values.isnan() + 2 * values.isposinf() + 3 * values.isneginf()


def connected(layout):
    """Every node gathers, and is gathered from: an infinity has an edge to travel on."""
    return ss.Shift.from_matrix(graph(9).to_dense()[:8, :8], layout=layout)


def spoiled(layer, reference, x):
    """The layers and the signal with one NaN or infinity in them: in x, at one of two nodes, or in a weight."""
    for bad in BAD:
        for node in (3, 7):
            signals = x.clone()
            signals[1, node, 0] = bad
            yield f"{bad} in x at node {node}", layer, reference, signals
        for name, parameter in list(layer.named_parameters())[::3]:
            sides = copy.deepcopy(layer), copy.deepcopy(reference)
            for side in sides:
                side.get_parameter(name).data.view(-1)[parameter.numel() // 2] = bad
            yield f"{bad} in {name}", *sides, x


def outputs(layer, x, shift):
    """Without the gradients."""
    with torch.no_grad():
        return {"output": layer(x, shift)}


def compared(kind, mixing, shift, x, same, run=results, **options):
    """Every result of the fused kernel and of the reference, one spoiled number at a time, handed to ``same``."""
    layer, reference = pair(kind, 2, 3, 3, x.dtype, mixing=mixing, **options)
    seen = 0
    for what, fused, plain, signals in spoiled(layer, reference, x):
        found, expected = run(fused, signals, shift), run(plain, signals, shift)
        seen += sum(int((~value.isfinite()).sum()) for value in expected.values())
        wrong = [name for name in expected if not same(found[name], expected[name])]
        assert not wrong, f"{what}: {', '.join(wrong)}"
    assert seen > 50


def alike(found, expected):
    return torch.equal(kinds(found), kinds(expected))


def non_finite_alike(found, expected):
    return torch.equal(found.isfinite(), expected.isfinite())


def nothing_hidden(found, expected):
    return not bool((found.isfinite() & ~expected.isfinite()).any())


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize(("mixing", "dtype"), CASES, ids=label)
@pytest.mark.parametrize(("kind", "options"), ACTIVATIONS, ids=label)
def test_an_output_is_nan_or_infinite_exactly_where_the_references_is(kind, options, mixing, layout, dtype):
    def same(found, expected):
        finite = expected.isfinite()
        return alike(found, expected) and deviation(found[finite], expected[finite]) < 1e-4

    compared(kind, mixing, graph(layout=layout).to(dtype), signal(2, 8, 2, dtype=dtype), same, outputs, **options)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("mixing", ["bank", "dense"])
@pytest.mark.parametrize("output", ["relu", "identity", "tanh", "sigmoid"])
@pytest.mark.parametrize("kind", GATED)
def test_gradients_behind_gates_in_float64_are_nan_or_infinite_exactly_where_the_references_are(
    kind, output, mixing, layout
):
    compared(
        kind,
        mixing,
        graph(layout=layout),
        signal(2, 8, 2),
        alike,
        output_activation=output,
        gate_bias=output in ("tanh", "sigmoid"),
    )


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize(("mixing", "dtype"), CASES, ids=label)
@pytest.mark.parametrize(("kind", "options"), [("gcnn", {}), *ACTIVATIONS], ids=label)
def test_gradients_are_non_finite_where_the_references_are(kind, options, mixing, layout, dtype):
    # NaN and infinity may change places: sums are taken in another order, and ∞ − ∞ is NaN. Where a relu is shut, the
    # reference drops a NaN that comes from above and 0 · NaN keeps it.
    shut = options.get("state_activation") == "relu"
    shift, x = connected(layout).to(dtype), signal(2, 8, 2, dtype=dtype)
    compared(kind, mixing, shift, x, nothing_hidden if shut else non_finite_alike, **options)


def test_a_shut_relu_stops_a_nan_as_in_the_reference():
    compared("rsn", "bank", connected("sparse"), signal(2, 8, 2), non_finite_alike)


@pytest.mark.xfail(
    strict=True, reason="the rational tanh ends at 0.9999996, whose slope times ∞ is ∞; the exact is NaN"
)
def test_a_saturated_gate_in_float32_makes_nan_of_infinity_as_in_the_reference():
    shift, x = connected("sparse").to(torch.float32), signal(2, 8, 2, dtype=torch.float32)
    compared("lssm", "bank", shift, x, alike)


@pytest.mark.xfail(strict=True, reason="Σ a (S w) is taken as Σ (Sᵀ a) w, and h_k S^k x as S^k h_k x: 0 · NaN moves")
@pytest.mark.parametrize(("kind", "mixing"), [("gcnn", "depthwise"), ("rsn", "bank"), ("rsn", "dense")])
def test_an_isolated_node_hides_and_spreads_nothing(kind, mixing):
    options = {} if kind == "gcnn" else {"state_activation": "identity"}
    compared(kind, mixing, graph(layout="sparse"), signal(2, 8, 2), non_finite_alike, **options)


def test_the_gradients_beside_a_nan_are_the_references():
    shift, x = connected("sparse"), signal(2, 8, 2)
    layer, reference = pair("lssm", 2, 3, 3, mixing="depthwise", output_activation="leaky_relu")
    x[1, 3, 0] = math.nan
    found, expected = results(layer, x, shift), results(reference, x, shift)
    for name in ("output", "x"):  # the other signal of the batch, and what surrounds the NaN
        finite = expected[name].isfinite()
        assert finite.any()
        assert deviation(found[name][finite], expected[name][finite]) < 1e-10


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=label)
@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("state", ["relu", "identity", "leaky_relu"])
def test_a_state_that_explodes_looks_the_same(state, mixing, dtype):
    layer, reference = pair("rsn", 2, 2, 12, dtype, mixing=mixing, state_activation=state, output_activation="identity")
    for side in (layer, reference):
        side.h_ww.data *= 1e30
    for layout in ("dense", "sparse"):
        shift, x = connected(layout).to(dtype), signal(2, 8, 2, dtype=dtype)
        assert not reference.trace(x, shift).states[-1].isfinite().all()
        found, expected = results(layer, x, shift), results(reference, x, shift)
        # A product of matrices that overflows on its way is infinite or NaN by whether the processor rounds in between.
        seen = torch.isfinite if mixing == "dense" else kinds
        assert torch.equal(seen(found["output"]), seen(expected["output"]))
        assert all(nothing_hidden(found[name], expected[name]) for name in expected)


@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_gradient_that_comes_in_as_nan_goes_on_as_nan(kind, mixing):
    options = {} if kind == "gcnn" else {"output_activation": "identity"}
    layer, reference = pair(kind, 2, 3, 3, mixing=mixing, **options)
    for layout in ("dense", "sparse"):
        shift, x, cotangent = connected(layout), signal(2, 8, 2), signal(2, 8, 3, seed=11)
        cotangent[1, 4, 2] = math.nan
        found, expected = results(layer, x, shift, cotangent), results(reference, x, shift, cotangent)
        assert expected["x"].isnan().any()
        assert all(nothing_hidden(found[name], expected[name]) for name in expected)
