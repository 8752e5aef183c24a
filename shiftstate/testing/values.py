"""What a layer computes: symmetries, special cases, gradients, and two ways to the same numbers."""

import torch
from torch import Tensor

from shiftstate.graphs import Shift
from shiftstate.layers import Layer
from shiftstate.testing.inputs import IN, OUT, graph, seeded, signal
from shiftstate.testing.measure import results
from shiftstate.testing.subject import ORDER, Subject, assert_alive, assert_same, named


@named
def state_is_alive(subject: Subject) -> None:
    """On a graph of spectral radius 1 the state neither dies nor explodes, and reaches the output."""
    layer, shift, x = subject.build(), graph(), signal()
    assert_alive(layer.trace(x, shift))
    y = layer(x, shift)
    assert y.shape == (*x.shape[:-1], OUT), f"the output has shape {tuple(y.shape)}"
    assert bool(y.std() > 1e-3), "the output is constant"


@named
def permutation_equivariance(subject: Subject) -> None:
    """Renaming the nodes of graph and signal renames those of the output, and changes nothing else."""
    layer, shift, x = subject.build(), graph(), signal()
    with seeded(5):
        order = torch.randperm(shift.num_nodes)
    assert_same(layer(x[..., order, :], shift.permuted(order)), layer(x, shift)[..., order, :], "the renamed output")


@named
def batch_equals_loop(subject: Subject) -> None:
    """Leading axes (), (B,) and (A, B) give what the signals give one by one."""
    layer, shift, x = subject.build(), graph(), signal(2, 3)
    one_by_one = torch.stack([torch.stack([layer(x[a, b], shift) for b in range(3)]) for a in range(2)])
    assert_same(layer(x, shift), one_by_one, "the output for leading axes (A, B)")
    assert_same(layer(x[0], shift), one_by_one[0], "the output for a leading axis (B,)")
    assert layer(x[:, :0], shift).shape == (2, 0, x.shape[-2], OUT), "an empty batch gives another shape"


@named
def weights_carry_over(subject: Subject) -> None:
    """No parameter depends on N: two graphs of different sizes, apart or as one batch, give the same."""
    layer, small, large = subject.build(), graph(), graph(13)
    shapes = [tuple(parameter.shape) for parameter in layer.parameters()]
    x, z = signal(), signal(nodes=13)
    apart = torch.cat([layer(x, small), layer(z, large)], dim=-2)
    assert_same(
        layer(torch.cat([x, z], dim=-2), Shift.batch([small, large])), apart, "the output on both graphs at once"
    )
    assert shapes == [tuple(parameter.shape) for parameter in layer.parameters()], "a call changed a parameter's shape"


@named
def dense_equals_sparse(subject: Subject) -> None:
    """Both layouts of S give the same output and the same gradients."""
    layer = subject.build()
    assert_same(results(layer, graph(layout="dense")), results(layer, graph(layout="sparse")), "the sparse layout's")


@named
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
    silent = [name for name, gradient in results(layer, shift, x).items() if not gradient.any()]
    assert not silent, f"nothing reaches {', '.join(silent)}: a gradient of zeros proves nothing"


@named
def order_zero(subject: Subject) -> None:
    """K = 0 is the output of w_0 alone: that of the first step of a longer filter, on any graph.

    A filter with tied weights has one output, the last: there a longer filter is cut to K = 0.
    """
    none, some, shift, x = subject.build(K=0), subject.build(), graph(), signal(2)
    with torch.no_grad():
        longer = dict(some.named_parameters())
        for name, parameter in none.named_parameters():
            same = longer[name].shape == parameter.shape
            parameter.copy_(longer[name] if same else longer[name][: parameter.shape[0]])
    y = none(x, shift)
    if some.tied:
        some.K = 0
    assert_same(y, assemble(some, some.trace(x, shift).outputs[:1]), "the output at K = 0")
    assert_same(y, none(x, shift.T), "the output at K = 0 on another graph")
    assert none.trace(x, shift).states.shape[0] == 1, "the trace at K = 0 holds more than w_0"


@named
def trace_agrees_with_forward(subject: Subject) -> None:
    """Outputs of the trace add up to forward; shapes have k first; nothing about the layer changes."""
    shift, x = graph(), signal(2, 2)
    for training in (True, False):
        layer = subject.build().train(training)
        before = {name: value.clone() for name, value in layer.state_dict().items()}
        trace = layer.trace(x, shift)
        assert_same(assemble(layer, trace.outputs), layer(x, shift), "forward")
        along = {"states": trace.states, "outputs": trace.outputs, **trace.gates}
        along |= {} if trace.memories is None else {"memories": trace.memories}
        for name, values in along.items():
            steps = ORDER if name in trace.gates else ORDER + 1
            shape = (steps, *x.shape[:-1], trace.states.shape[-1])
            assert values.shape == shape, f"{name} has shape {tuple(values.shape)}, expected {shape}"
            assert not values.requires_grad, f"{name} of the trace requires a gradient"
        assert_same(layer.state_dict(), before, "the layer after a trace")
        assert layer.training is training, "a trace changed the training mode"
        assert all(p.grad is None for p in layer.parameters()), "a trace left gradients behind"


@named
def strides_do_not_matter(subject: Subject) -> None:
    """A view with gaps or exchanged axes gives what its contiguous copy gives."""
    layer, shift = subject.build(), graph()
    gaps = signal(2, channels=2 * IN)[..., ::2]
    turned = signal(2).transpose(-1, -2).contiguous().transpose(-1, -2)
    for x in (gaps, turned, signal().expand(3, -1, -1)):
        assert not x.is_contiguous()
        assert_same(results(layer, shift, x), results(layer, shift, x.contiguous()), "the contiguous copy's")


@named
def checkpoints_change_nothing(subject: Subject) -> None:
    """Recomputing states in the backward gives the same output and the same gradients."""
    expected = results(subject.build(), graph())
    for checkpoint in (1, 2, "sqrt"):
        assert_same(results(subject.build(checkpoint=checkpoint), graph()), expected, f"checkpoint={checkpoint!r}:")


def assemble(layer: Layer, outputs: Tensor) -> Tensor:
    """finish(Σ_k y_k), summed over g, plus the bias: what forward makes of the outputs of a trace."""
    total = layer.finish(outputs.sum(0))
    y = total.reshape(*total.shape[:-1], OUT, -1).sum(-1)
    return y if layer.bias is None else y + layer.bias
