"""Which kernel runs, and why: "auto" falls back where it has to and says so, "fused" refuses."""

import pytest
import torch

import shiftstate as ss
from shiftstate.layers import LAYERS
from shiftstate.layers.options import MIXINGS
from tests.example_filters import GRU
from tests.filters.fused.comparison import KINDS, assert_same, cycle, pair, results, signal

N = 5


class Renamed(ss.LSSM):
    """Adds a method and a default, and changes no equation."""

    def __init__(self, *args, gate_bias=True, **options):
        super().__init__(*args, gate_bias=gate_bias, **options)

    def half(self):
        return self.K // 2


class Rewritten(ss.RSN):
    """Another equation under the same name."""

    def update(self, h, Sw, x, c):
        return ss.Step(torch.sin(h("w", Sw, x)))


class Restarted(ss.LSSM):
    """Another w_0."""

    def start(self, x):
        x, w = super().start(x)
        return x, 2 * w


class Finished(ss.RSN):
    """Another end."""

    def finish(self, total):
        return total


class RewrittenAndRenamed(Rewritten):
    """The changed equation is inherited."""


def trainable():
    weight = torch.ones(N, dtype=torch.float64, requires_grad=True)
    return ss.Shift.from_edges(torch.stack([torch.arange(N), torch.arange(N).roll(1)]), weight, layout="sparse")


def case(layer_class=ss.LSSM, x=None, shift=None, **options):
    return layer_class, options, signal(2, N, 1) if x is None else x, cycle(N) if shift is None else shift


OBSTACLES = {
    "output_activation is a callable": case(output_activation=torch.sin),
    "state_activation is a callable": case(ss.RSN, state_activation=torch.sin),
    "the signals are torch.bfloat16": case(x=signal(N, 1, dtype=torch.bfloat16), shift=cycle(N, torch.bfloat16)),
    "the edge weights require gradients": case(shift=trainable()),
    "the batch is empty": case(x=signal(0, N, 1)),
    "GRU has no fused kernel": case(GRU),
    "Rewritten has no fused kernel": case(Rewritten),
    "RewrittenAndRenamed has no fused kernel": case(RewrittenAndRenamed),
    "Restarted has no fused kernel": case(Restarted),
    "Finished has no fused kernel": case(Finished),
}


@pytest.mark.parametrize("why", OBSTACLES)
def test_auto_falls_back_and_says_why(why):
    layer_class, options, x, shift = OBSTACLES[why]
    layer = layer_class(1, 2, 2, **options).to(x.dtype)
    assert layer.kernel_in_use(x, shift) == ("reference", why)
    expected = layer_class(1, 2, 2, kernel="reference", **options).to(x.dtype)
    expected.load_state_dict(layer.state_dict())
    assert torch.equal(layer(x, shift), expected(x, shift))


@pytest.mark.parametrize("why", OBSTACLES)
def test_fused_refuses_and_says_why_and_what_to_do(why):
    layer_class, options, x, shift = OBSTACLES[why]
    layer = layer_class(1, 2, 2, kernel="fused", **options).to(x.dtype)
    message = f'^kernel="fused" cannot run this call: {why}; use kernel="auto" or "reference"$'
    with pytest.raises(ValueError, match=message):
        layer(x, shift)
    with pytest.raises(ValueError, match=message):
        layer.kernel_in_use(x, shift)


def test_signals_elsewhere_are_the_references():
    layer, shift = ss.RSN(1, 2, 2).to("meta"), cycle(N, torch.float32).to("meta")
    assert layer.kernel_in_use(torch.empty(N, 1, device="meta"), shift) == ("reference", "the signals are on meta")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("layer_class", [*LAYERS.values(), Renamed])
def test_auto_is_fused_wherever_it_can(layer_class, mixing, layout, dtype):
    layer = layer_class(1, 2, 2, mixing=mixing).to(dtype)
    shift = cycle(N, dtype, layout)
    for batch in ((), (1,), (2, 3)):
        x = torch.zeros(*batch, N, 1, dtype=dtype)
        assert layer.kernel_in_use(x, shift) == ("fused", "the fused kernels support this call")


def test_what_was_asked_for_is_what_runs(monkeypatch):
    from shiftstate import filters

    ran = []
    for name, run in list(filters.IMPLEMENTATIONS.items()):
        monkeypatch.setitem(filters.IMPLEMENTATIONS, name, lambda *a, name=name, run=run: ran.append(name) or run(*a))
    for kernel in ("reference", "fused", "auto"):
        ss.LSSM(1, 2, 2, kernel=kernel).double()(signal(N, 1), cycle(N))
    assert ran == ["reference", "fused", "fused"]
    layer = ss.LSSM(1, 2, 2, kernel="reference").double()
    assert layer.kernel_in_use(signal(N, 1), cycle(N)) == ("reference", 'kernel="reference" was asked for')


def test_a_subclass_that_only_adds_methods_gets_the_same_numbers():
    options = {"gate_bias": True, "output_activation": "tanh"}
    ours, theirs = Renamed(1, 2, 3, **options).double(), ss.LSSM(1, 2, 3, kernel="reference", **options).double()
    theirs.load_state_dict(ours.state_dict())
    assert_same(results(ours, signal(2, N, 1), cycle(N)), results(theirs, signal(2, N, 1), cycle(N)))


@pytest.mark.parametrize("kind", KINDS)
def test_under_a_transform_of_torch_func_auto_falls_back(kind):
    layer, reference = pair(kind, 1, 2, 2, kernel="auto")
    shift, x = cycle(N, layout="dense"), signal(N, 1)

    def jacobian(layer):
        return torch.func.jacrev(lambda x: layer(x, shift))(x)

    torch.testing.assert_close(jacobian(layer), jacobian(reference))
    mapped = torch.func.vmap(lambda x: layer(x, shift))(signal(3, N, 1))
    torch.testing.assert_close(mapped, layer(signal(3, N, 1), shift))
    assert layer.kernel_in_use(x, shift)[0] == "fused"
    with pytest.raises(ValueError, match=r"a torch\.func transform is active; use kernel="):
        jacobian(pair(kind, 1, 2, 2)[0])


def test_gradients_of_edge_weights_arrive_under_auto():
    edges = torch.stack([torch.arange(N), torch.arange(N).roll(1)])
    weight = torch.ones(N, dtype=torch.float64, requires_grad=True)
    layer, _ = pair("lssm", 1, 2, 2, kernel="auto")
    layer(signal(N, 1), ss.Shift.from_edges(edges, weight, layout="sparse")).sum().backward()
    assert weight.grad.all()


def test_half_precision_under_autocast_keeps_the_kernel():
    layer, shift, x = ss.LSSM(1, 2, 2), cycle(N, torch.float32), signal(N, 1, dtype=torch.float32)
    plain = layer(x, shift)
    with torch.autocast("cpu", torch.bfloat16):
        assert layer.kernel_in_use(x.bfloat16(), shift)[0] == "fused"
        assert torch.equal(layer(x, shift), plain)
