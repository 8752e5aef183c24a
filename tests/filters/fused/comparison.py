"""Two layers with the same weights, one on each kernel; graphs that are awkward; outputs and gradients compared."""

import copy
from functools import partial

import torch

import shiftstate as ss
from shiftstate.filters import IMPLEMENTATIONS
from shiftstate.filters.fused.cell import FusedCell
from shiftstate.filters.fused.cells import CELLS
from shiftstate.filters.fused.spec import Spec
from shiftstate.layers import LAYERS
from tests import example_graphs

FAST = [name for name in IMPLEMENTATIONS if name != "reference"]
"""Every implementation that has to agree with the reference."""

# Of the largest value of each tensor: rounding of sums in another order, and in float32 the rational tanh. The most
# seen in these tests is 2.3e-5, in a gradient summed over 257 signals.
TOLERANCE = {torch.float64: 1e-10, torch.float32: 5e-5}

KINDS = list(LAYERS)
RECURRENT = [kind for kind in KINDS if isinstance(CELLS[LAYERS[kind].fused], FusedCell)]
"""Filters with a state of their own: all but the GCNN."""


def _variants(kind):
    """The defaults; where there are such options, smooth activations, and x as w_0 only: kernels compiled for each."""
    known = LAYERS[kind](1, 1, 0).options()
    smooth = {name: "tanh" for name in known if name.endswith("_activation")}
    smooth |= {"gate_bias": True} if "gate_bias" in known else {}
    first = {"input": "first"} if "input" in known else {}
    return [{}, *(options for options in (smooth, first) if options)]


VARIANTS = [(kind, options) for kind in KINDS for options in _variants(kind)]
CHEBYSHEV = [(kind, {"basis": "chebyshev"}) for kind in KINDS]
"""Apart, because on a directed graph T_k(S) explodes; what is compared after a few shifts has both lists."""


def label(value):
    """Ids that read well."""
    if isinstance(value, dict):
        return "-".join(map(str, value.values())) or "defaults"
    return str(value).removeprefix("torch.")


def pair(kind, G, F, K, dtype=torch.float64, kernel="fused", **options):
    """The same layer twice, alive and with nonzero gate biases: on the kernel under test, and on the reference."""
    with torch.random.fork_rng():
        torch.manual_seed(5)
        layer = LAYERS[kind](G, F, K, kernel=kernel, init="alive", **options).to(dtype)
        with torch.no_grad():
            for name, parameter in layer.named_parameters():
                if name.startswith("b"):
                    parameter += 0.3 * torch.randn_like(parameter)
    reference = copy.deepcopy(layer)
    reference.kernel = "reference"
    return layer, reference


def cycle(N, dtype=torch.float64, layout="sparse"):
    """A directed cycle, spectral radius 1: what it is given goes round and round."""
    return example_graphs.cycle(N, dtype=dtype, layout=layout)


def ragged(N, dtype=torch.float64, layout="sparse", seed=0):
    """Directed, signed, with self-loops, isolated nodes, sources and sinks, and one node that gathers from many."""
    generator = torch.Generator().manual_seed(seed)
    S = torch.randn(N, N, generator=generator, dtype=torch.float64)
    S *= torch.rand(N, N, generator=generator) < min(1.0, 3 / N)
    S[0] = torch.randn(N, generator=generator, dtype=torch.float64) / N
    S[1::5] = 0
    S[:, 1::4] = 0
    S /= max(1.0, float(torch.linalg.eigvals(S).abs().max()))
    return ss.Shift.from_matrix(S, layout=layout).to(dtype)


signal = partial(example_graphs.signal, seed=7)


def results(layer, x, shift, cotangent=None):
    """The output, and the gradients of x and of every parameter."""
    x = x.detach().requires_grad_()
    y = layer(x, shift)
    cotangent = signal(*y.shape, dtype=y.dtype, seed=11) if cotangent is None else cotangent
    names, parameters = zip(*layer.named_parameters(), strict=True)
    gradients = torch.autograd.grad(y, (x, *parameters), cotangent, allow_unused=True, materialize_grads=True)
    return {"output": y.detach()} | dict(zip(("x", *names), gradients, strict=True))


def deviation(found, expected):
    """The largest difference, relative to the largest value."""
    if expected.numel() == 0:
        return 0.0
    return float((found - expected).abs().max() / expected.abs().max().clamp_min(1e-6))


def assert_same(found, expected, tolerance=None):
    """Every output and gradient alike, in shape, dtype and value."""
    assert found.keys() == expected.keys()
    for name, wanted in expected.items():
        got = found[name]
        assert got.shape == wanted.shape, name
        assert got.dtype == wanted.dtype, name
        worst = deviation(got, wanted)
        allowed = TOLERANCE[wanted.dtype] if tolerance is None else tolerance
        assert worst <= allowed, f"{name} differs by {worst:.1e} of its largest value"


def assert_identical(found, expected):
    """Every output and gradient alike to the last bit."""
    assert found.keys() == expected.keys()
    for name, wanted in expected.items():
        assert torch.equal(found[name], wanted), name


def cell_of(layer):
    """The kernels of a layer that has a state of its own."""
    cell = CELLS[layer.fused]
    return cell.in_chebyshev() if layer.basis == "chebyshev" else cell


def filter_arguments(layer, x, shift, keep=True):
    """What `torch.ops.shiftstate.filter` takes for this layer and x (N, B, G), by name."""
    weights = layer.update_weights() | layer.output_weights()
    cell = cell_of(layer)
    spec = Spec(
        cell,
        dense=layer.dense_taps(),
        input="h_yx" in weights,
        gate_bias="b_" + cell.maps[0] in weights,
        activations=tuple(getattr(layer, name) for name in cell.activations),
        checkpoint=layer._checkpoint_length() or 0,
        chebyshev=layer.basis == "chebyshev",
    )
    signals, w = layer.start(x)
    return {
        "spec": spec.pack(),
        "keep": keep,
        "x": signals.detach(),
        "w": w.detach(),
        "weights": [weights[name].detach() for name in spec.names()],
        "operator": list(shift.operator),
    }
