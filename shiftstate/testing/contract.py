"""The contract that every layer keeps, the library's and a user's own.

`check_layer(MyFilter)` runs every check for every mixing; `CONTRACT` holds them one by one, for test
runners: ``for check in CONTRACT: check(MyFilter, mixing="dense")``. A check that fails raises an
`AssertionError` that names the check, the layer and the mixing.
"""

import functools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from shiftstate.graphs import Shift
from shiftstate.layers import Layer, Trace
from shiftstate.layers.base import INITS, MIXINGS
from shiftstate.network import Network
from shiftstate.testing.material import IN, OUT, graph, peak_bytes, run, seeded, signal

ORDER = 3
RTOL, ATOL = 1e-10, 1e-12  # float64 throughout: two orders of the same sums, nothing more


class Subject(NamedTuple):
    """The layer under test: its class and the options it is built with."""

    layer_class: type[Layer]
    options: dict[str, Any]

    def build(self, K: int = ORDER, seed: int = 0, **changes: Any) -> Layer:
        """A float64 layer with a state that lives, the same one for the same seed."""
        with seeded(seed):
            layer = self.layer_class(IN, OUT, K, **(self.options | changes)).double()
            layer.reset_parameters("alive")
        return layer


Check = Callable[..., None]


def _named(body: Callable[[Subject], None]) -> Check:
    """A check as users call it: ``check(layer_class, mixing=..., **options)``."""

    @functools.wraps(body)
    def check(layer_class: type[Layer], *, mixing: str = "bank", **options: Any) -> None:
        try:
            body(Subject(layer_class, {"mixing": mixing, **options}))
        except Exception as error:
            shown = "".join(f", {key}={value!r}" for key, value in options.items())
            raise AssertionError(
                f"{body.__name__} fails for {layer_class.__name__}(mixing={mixing!r}{shown}): {error}"
            ) from error

    return check


def check_layer(layer_class: type[Layer], **options: Any) -> None:
    """Run the whole contract on a layer class, for every mixing.

    Args:
        layer_class: a subclass of `Layer`.
        **options: keyword arguments the layer is built with; ``mixing`` restricts the run to one mixing.

    Example:
        >>> import shiftstate as ss
        >>> from shiftstate.testing import check_layer
        >>> check_layer(ss.GCNN, mixing="bank")
    """
    mixings = (options.pop("mixing"),) if "mixing" in options else MIXINGS
    for mixing in mixings:
        for check in CONTRACT:
            check(layer_class, mixing=mixing, **options)


def assert_alive(trace: Trace) -> None:
    """Refuse a comparison of nothing: each ‖w_k‖ has to lie between a thousandth and a thousandfold of ‖w_0‖."""
    norms = trace.states.flatten(1).norm(dim=1)
    assert bool(torch.isfinite(norms).all()), f"the state is not finite: {norms.tolist()}"
    ratio = norms / norms[0]
    assert bool(((ratio > 1e-3) & (ratio < 1e3)).all()), f"the state died or exploded, ‖w_k‖/‖w_0‖ = {ratio.tolist()}"


@_named
def state_is_alive(subject: Subject) -> None:
    """On a graph of spectral radius 1 the state neither dies nor explodes, and reaches the output."""
    layer, shift, x = subject.build(), graph(), signal()
    assert_alive(layer.trace(x, shift))
    y = layer(x, shift)
    assert y.shape == (*x.shape[:-1], OUT), f"the output has shape {tuple(y.shape)}"
    assert bool(y.std() > 1e-3), "the output is constant"


@_named
def permutation_equivariance(subject: Subject) -> None:
    """Renaming the nodes of graph and signal renames those of the output, and changes nothing else."""
    layer, shift, x = subject.build(), graph(), signal()
    with seeded(5):
        order = torch.randperm(shift.num_nodes)
    _same(layer(x[..., order, :], shift.permuted(order)), layer(x, shift)[..., order, :], "the renamed output")


@_named
def batch_equals_loop(subject: Subject) -> None:
    """Leading axes (), (B,) and (A, B) give what the signals give one by one."""
    layer, shift, x = subject.build(), graph(), signal(2, 3)
    one_by_one = torch.stack([torch.stack([layer(x[a, b], shift) for b in range(3)]) for a in range(2)])
    _same(layer(x, shift), one_by_one, "the output for leading axes (A, B)")
    _same(layer(x[0], shift), one_by_one[0], "the output for a leading axis (B,)")
    assert layer(x[:, :0], shift).shape == (2, 0, x.shape[-2], OUT), "an empty batch gives another shape"


@_named
def weights_carry_over(subject: Subject) -> None:
    """No parameter depends on N: two graphs of different sizes, apart or as one batch, give the same."""
    layer, small, large = subject.build(), graph(), graph(13)
    shapes = [tuple(parameter.shape) for parameter in layer.parameters()]
    x, z = signal(), signal(nodes=13)
    apart = torch.cat([layer(x, small), layer(z, large)], dim=-2)
    _same(layer(torch.cat([x, z], dim=-2), Shift.batch([small, large])), apart, "the output on both graphs at once")
    assert shapes == [tuple(parameter.shape) for parameter in layer.parameters()], "a call changed a parameter's shape"


@_named
def dense_equals_sparse(subject: Subject) -> None:
    """Both layouts of S give the same output and the same gradients."""
    layer = subject.build()
    _same(run(layer, graph(layout="dense")), run(layer, graph(layout="sparse")), "the sparse layout's")


@_named
def gradients_are_exact(subject: Subject) -> None:
    """Finite differences confirm the gradient of every parameter and of the input."""
    layer, shift = subject.build(K=2), graph(5)
    names = [name for name, _ in layer.named_parameters()]
    parameters = [parameter.detach().clone().requires_grad_() for parameter in layer.parameters()]

    def call(x: Tensor, *values: Tensor) -> Tensor:
        weights = dict(zip(names, values, strict=True))
        result: Tensor = torch.func.functional_call(layer, weights, (x, shift))
        return result

    x = signal(1, nodes=5)
    assert_alive(layer.trace(x, shift))
    torch.autograd.gradcheck(call, (x.clone().requires_grad_(), *parameters))
    silent = [name for name, gradient in run(layer, shift, x).items() if not gradient.any()]
    assert not silent, f"nothing reaches {', '.join(silent)}: a gradient of zeros proves nothing"


@_named
def order_zero(subject: Subject) -> None:
    """K = 0 is the output of w_0 alone: that of the first step of a longer filter, on any graph."""
    none, some, shift, x = subject.build(K=0), subject.build(), graph(), signal(2)
    with torch.no_grad():
        longer = dict(some.named_parameters())
        for name, parameter in none.named_parameters():
            same = longer[name].shape == parameter.shape
            parameter.copy_(longer[name] if same else longer[name][: parameter.shape[0]])
    y = none(x, shift)
    _same(y, _assemble(some, some.trace(x, shift).outputs[:1]), "the output at K = 0")
    _same(y, none(x, shift.T), "the output at K = 0 on another graph")
    assert none.trace(x, shift).states.shape[0] == 1, "the trace at K = 0 holds more than w_0"


@_named
def save_and_load(subject: Subject) -> None:
    """A network of two such layers comes back from its file with the same configuration and output."""
    options = subject.options
    with seeded(1):
        network = Network(subject.layer_class, [IN, OUT, OUT], ORDER, **options).double()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network.safetensors"
        if any(callable(value) for value in options.values()):
            _refuses_callables(network, path)
            return
        network.save(path)
        again = Network.load(path, filter=subject.layer_class)
    assert again.config() == network.config(), f"{again.config()} was read, {network.config()} written"
    _same(again(signal(2), graph()), network(signal(2), graph()), "the output of the network read back")


@_named
def trace_agrees_with_forward(subject: Subject) -> None:
    """Outputs of the trace add up to forward; shapes have k first; nothing about the layer changes."""
    shift, x = graph(), signal(2, 2)
    for training in (True, False):
        layer = subject.build().train(training)
        before = {name: value.clone() for name, value in layer.state_dict().items()}
        trace = layer.trace(x, shift)
        _same(_assemble(layer, trace.outputs), layer(x, shift), "forward")
        along = {"states": trace.states, "outputs": trace.outputs, **trace.gates}
        along |= {} if trace.memories is None else {"memories": trace.memories}
        for name, values in along.items():
            steps = ORDER if name in trace.gates else ORDER + 1
            shape = (steps, *x.shape[:-1], trace.states.shape[-1])
            assert values.shape == shape, f"{name} has shape {tuple(values.shape)}, expected {shape}"
            assert not values.requires_grad, f"{name} of the trace requires a gradient"
        _same(layer.state_dict(), before, "the layer after a trace")
        assert layer.training is training, "a trace changed the training mode"
        assert all(p.grad is None for p in layer.parameters()), "a trace left gradients behind"


@_named
def strides_do_not_matter(subject: Subject) -> None:
    """A view with gaps or exchanged axes gives what its contiguous copy gives."""
    layer, shift = subject.build(), graph()
    gaps = signal(2, channels=2 * IN)[..., ::2]
    turned = signal(2).transpose(-1, -2).contiguous().transpose(-1, -2)
    for x in (gaps, turned, signal().expand(3, -1, -1)):
        assert not x.is_contiguous()
        _same(run(layer, shift, x), run(layer, shift, x.contiguous()), "the contiguous copy's")


@_named
def checkpoints_change_nothing(subject: Subject) -> None:
    """Recomputing states in the backward gives the same output and the same gradients."""
    expected = run(subject.build(), graph())
    for checkpoint in (1, 2, "sqrt"):
        _same(run(subject.build(checkpoint=checkpoint), graph()), expected, f"checkpoint={checkpoint!r}:")


@_named
def nothing_is_kept_without_gradients(subject: Subject) -> None:
    """Under no_grad no state is kept: with K the peak of live memory grows by less than a quarter of a state a shift.

    What may grow are the weights, which a kernel lays out by column; the graph is large enough to make them small.
    """
    nodes, batch = 120, 4
    few, many = (peak_bytes(subject.build(K=K), graph(nodes), signal(batch, nodes=nodes)) for K in (8, 24))
    state = nodes * batch * OUT * signal().element_size()
    assert many - few < 16 * state / 4, f"8 shifts need {few} bytes and 24 need {many}: states are kept"


@_named
def draws_follow_the_seed(subject: Subject) -> None:
    """Every draw fills every parameter, and the same seed draws the same numbers."""
    layer = subject.build()
    for init in INITS:
        drawn = []
        for seed in (1, 1, 2):
            with seeded(seed), torch.no_grad():
                for parameter in layer.parameters():
                    parameter.fill_(torch.nan)
                layer.reset_parameters(init)
            drawn.append({name: parameter.detach().clone() for name, parameter in layer.named_parameters()})
        for name, values in drawn[0].items():
            assert bool(torch.isfinite(values).all()), f"init={init!r} leaves {name} undrawn"
        _same(drawn[1], drawn[0], f"init={init!r} with the same seed:")
        assert any(not torch.equal(drawn[2][name], drawn[0][name]) for name in drawn[0]), "the seed is ignored"


@_named
def compiles_whole(subject: Subject) -> None:
    """torch.compile takes the layer as one graph, both layouts, and gives the same output and gradients."""
    for layout in ("dense", "sparse"):
        layer, shift = subject.build(K=2), graph(layout=layout)
        expected = run(layer, shift)
        torch.compiler.reset()
        compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
        _same(run(layer, shift, call=compiled), expected, f"the compiled layer's ({layout})")


@_named
def exports(subject: Subject) -> None:
    """torch.export takes the layer with the shift as an input, both layouts, and gives the same output."""
    for layout in ("dense", "sparse"):
        layer, shift, x = subject.build(K=2), graph(layout=layout), signal(2)
        program = torch.export.export(layer, (x, shift))
        _same(program.module()(2 * x, shift), layer(2 * x, shift), f"the exported layer's ({layout})")


CONTRACT: tuple[Check, ...] = (
    state_is_alive,
    permutation_equivariance,
    batch_equals_loop,
    weights_carry_over,
    dense_equals_sparse,
    gradients_are_exact,
    order_zero,
    save_and_load,
    trace_agrees_with_forward,
    strides_do_not_matter,
    checkpoints_change_nothing,
    nothing_is_kept_without_gradients,
    draws_follow_the_seed,
    compiles_whole,
    exports,
)


def _assemble(layer: Layer, outputs: Tensor) -> Tensor:
    """finish(Σ_k y_k), summed over g, plus the bias: what forward makes of the outputs of a trace."""
    total = layer.finish(outputs.sum(0))
    y = total.reshape(*total.shape[:-1], OUT, -1).sum(-1)
    return y if layer.bias is None else y + layer.bias


def _same(got: Any, expected: Any, what: str) -> None:
    torch.testing.assert_close(got, expected, rtol=RTOL, atol=ATOL, msg=lambda text: f"{what} differs: {text}")


def _refuses_callables(network: Network, path: Path) -> None:
    try:
        network.save(path)
    except ValueError:
        assert not path.exists()
    else:
        raise AssertionError("an activation without a name was written to a file")
