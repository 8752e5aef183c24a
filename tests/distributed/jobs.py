"""What the processes of a world are asked to do. With count None a job is done by one process on the whole graph."""

import torch
from torch.autograd import gradcheck

import shiftstate as ss


class Whole:
    """The whole graph in one process, used as a partitioned shift is."""

    def __init__(self, shift):
        self.shift = shift

    def take(self, x, dim=None):
        return x.clone()

    def gather(self, y, dim=None):
        return y.detach()


def opened(count, graph, dtype):
    """What takes and gathers, and the shift."""
    if count is None:
        return Whole(graph), graph.to(dtype)
    shift = ss.distributed.load(graph).to(dtype)
    return shift, shift


def products(rank, count, graph, x):
    nodes, shift = opened(count, graph, x.dtype)
    return [nodes.gather(one @ nodes.take(x)) for one in (shift, shift.T)]


def layer_calls(rank, count, graph, calls):
    """Of every call (class, options, x, weight): y, dx and the gradients of all weights for the loss Σ y · weight."""
    return [_layer_call(count, graph, *call) for call in calls]


def _layer_call(count, graph, build, options, x, weight):
    nodes, shift = opened(count, graph, x.dtype)
    torch.manual_seed(0)
    layer = getattr(ss, build)(**options).to(x.dtype)
    own = nodes.take(x).requires_grad_()
    y = layer(own, shift)
    (y * nodes.take(weight)).sum().backward()
    grads = {name: parameter.grad for name, parameter in layer.named_parameters()}
    return nodes.gather(y), nodes.gather(own.grad), grads, layer.kernel_in_use(own.detach(), shift)[0]


def steps(rank, count, graph, x, y, kernel):
    """The losses of ten steps of Adam; each process adds up its own nodes' share of the mean."""
    nodes, shift = opened(count, graph, x.dtype)
    torch.manual_seed(0)
    net = ss.Network("lssm", channels=[2, 4, 4], K=3, readout=ss.NodeReadout(3), kernel=kernel).to(x.dtype)
    optimizer = torch.optim.Adam(net.parameters(), 0.01)
    own, targets, losses = nodes.take(x), nodes.take(y), []
    for _ in range(10):
        loss = torch.nn.functional.cross_entropy(net(own, shift), targets, reduction="sum") / len(y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(shift.ranks.total(loss.detach())))
    return losses


def pooled(rank, count, graph, x, how):
    """Outputs of a pool readout, and the gradients of all weights for a loss that every process counts its share of."""
    nodes, shift = opened(count, graph, x.dtype)
    torch.manual_seed(0)
    net = ss.Network("rsn", channels=[2, 4], K=2, readout=ss.PoolReadout(3, how)).to(x.dtype)
    outputs = net(nodes.take(x), shift)
    (outputs.square().sum() / shift.ranks.count).backward()
    return outputs.detach(), [parameter.grad for parameter in net.parameters()]


def scaled(rank, count, graph, x, kinds):
    """S x after every normalisation, and the spectral radius."""
    nodes, shift = opened(count, graph, x.dtype)
    return [nodes.gather(shift.normalized(kind) @ nodes.take(x)) for kind in kinds], shift.spectral_radius()


def exchange_is_differentiable(rank, count, graph, n):
    """gradcheck, twice differentiated too, of x → S x on the whole signal: every process has a copy of it."""
    shift = ss.distributed.load(graph).to(torch.float64)

    def whole(x):
        y = torch.zeros_like(x).index_copy(0, shift.nodes, shift @ x[shift.nodes])
        y = shift.ranks.total(y)  # the gradient of what all processes have counts once for each of them:
        return y / count + (y - y / count).detach()

    class Copied(torch.autograd.Function):
        generate_vmap_rule = False

        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, grad):
            return shift.ranks.total(grad)

    x = torch.randn(n, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).requires_grad_()
    return gradcheck(lambda x: whole(Copied.apply(x)), x)


def taken(rank, count, graph, x):
    """What take and gather give, and names."""
    shift = ss.distributed.load(graph)
    one = shift.take(x[..., 0, :, 0], dim=-1)
    same = torch.equal(shift.gather(shift.take(x)), x) and torch.equal(shift.gather(one, dim=-1), x[..., 0, :, 0])
    return same, shift.nodes.tolist(), shift.names, repr(shift)
