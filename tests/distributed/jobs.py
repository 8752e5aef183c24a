"""What the processes of a world are asked to do. With count None a job is done by one process on the whole graph."""

import os
import signal
from contextlib import nullcontext
from types import SimpleNamespace
from unittest import mock

import torch
from torch.autograd import gradcheck

import shiftstate as ss
from shiftstate.training import Checkpoints


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


def fitted(rank, count, graph, data, file=None, epochs=6, resume=False):
    """Losses, validation scores, test scores and weights of a training on masked nodes with balanced classes."""
    nodes, shift = opened(count, graph, torch.float64)
    own = SimpleNamespace(**{name: nodes.take(value) for name, value in data.items()})
    torch.manual_seed(0)
    net = ss.Network("lssm", channels=[2, 4], K=2, readout=ss.NodeReadout(3)).double()
    found = ss.fit(
        net,
        shift,
        own,
        task=ss.NodeClassification(class_weights="balanced", smoothing=0.1),
        epochs=epochs,
        learning_rate=0.02,
        keep_best=True,
        checkpoints=None if file is None else Checkpoints(file, minutes=0, resume=resume),
    )
    return found.losses, found.valid_scores, dict(found.best), [weight.detach() for weight in net.parameters()]


def pooled_fit(rank, count, graph, x, y):
    """Losses of a training on whole signals, pooled over all nodes."""
    nodes, shift = opened(count, graph, torch.float64)
    split = SimpleNamespace(x=nodes.take(x), y=y)
    torch.manual_seed(0)
    net = ss.Network("rsn", channels=[2, 4], K=2, readout=ss.PoolReadout(2)).double()
    data = SimpleNamespace(train=split, valid=split, test=split)
    return ss.fit(net, shift, data, epochs=4, batch_size=5, learning_rate=0.02).losses


def normalised(rank, count, graph, x):
    """Outputs of a batch normalisation in and after training, and all gradients."""
    nodes, shift = opened(count, graph, torch.float64)
    norm = ss.distributed.BatchNorm(2).double()
    own = nodes.take(x).requires_grad_()
    y = norm(own, shift)
    (y**3).sum().backward()
    later = norm.eval()(nodes.take(x), shift)
    return [nodes.gather(one) for one in (y, later, own.grad)] + [norm.weight.grad, norm.bias.grad]


def read(rank, count, graph, path):
    shift = ss.distributed.load(graph)
    return shift.gather(ss.distributed.read_rows(shift, path))


def flattened(rank, count, graph):
    shift = ss.distributed.load(graph)
    net = ss.Network("gcnn", channels=[1, 2], K=1, readout=ss.FlattenReadout(90, 2)).double()
    net(torch.zeros(shift.num_nodes, 1, dtype=torch.float64), shift)


def one_differs(rank, count, graph, how):
    """Rank 1 does something else."""
    other = rank == 1
    if how == "version" and other:
        metadata = SimpleNamespace(version=lambda name: "9.9.9")
        with mock.patch("shiftstate.distributed.loading.metadata", metadata):
            return ss.distributed.load(graph[0])
    shift = ss.distributed.load(graph[other and how == "graph"])
    torch.manual_seed(other and how == "weights")
    layer = ss.LSSM(1, 2, 4 if other and how == "K" else 3).double()
    return layer(torch.zeros(shift.num_nodes, 1, dtype=torch.float64), shift)


def full_disk(rank, count, graph, data, file):
    failure = OSError(28, "No space left on device")
    with mock.patch("shiftstate.files.os.fsync", side_effect=failure) if rank == 0 else nullcontext():
        fitted(rank, count, graph, data, file)


def killed(rank, count, graph):
    """Rank 1 ends in the middle of a call."""
    shift = ss.distributed.load(graph)
    torch.manual_seed(0)
    layer = ss.LSSM(1, 2, 3, kernel="reference").double()
    x = torch.zeros(shift.num_nodes, 1, dtype=torch.float64)
    layer(x, shift)
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    layer(x, shift)
