"""How far a layer or a network sees: the size of ∂y_i/∂x_j by the number of hops from j to i along the edges.

The dependence of y_i on x_j is ‖∂y_i/∂x_j‖²: if all inputs moved a little, each for itself and all alike, the variance
of the output would be the sum of these. The *reach* is the distance within which half of that sum lies.

Exact on small graphs: the whole Jacobian, by one backward of a batch that holds the same signal once for each output.
On large graphs by random probes: node i is drawn, and random signs r over its channels give g = Σ_f r_f ∂y_i^f/∂x,
whose ‖g_j‖² has the mean ‖∂y_i/∂x_j‖² (Hutchinson); the standard error over the nodes drawn is reported with it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path
from torch import Tensor, nn

from shiftstate.checks import check_seed
from shiftstate.graphs import Shift
from shiftstate.layers import Layer

EXACT_NODES = 200
"""Up to here the whole Jacobian is taken, unless probes are asked for."""
PROBES = 64
ENTRIES = 2**24
"""Numbers that all states of one batch of probes may have together."""


@dataclass(frozen=True)
class Reach:
    """Dependence by hop distance d = 0 … min(K, longest distance); for a network, K is the sum over its layers."""

    method: str
    """"exact", or "probes"."""
    probes: int
    """Output nodes looked at: N if exact."""
    hops: Tensor
    """d: (D)."""
    pairs: Tensor
    """Pairs (i, j) at this distance among the nodes looked at: (D)."""
    rms: Tensor
    """√ of the mean of ‖∂y_i/∂x_j‖² over those pairs: (D)."""
    error: Tensor
    """Standard error of ``rms``; 0 if exact: (D)."""
    share: Tensor
    """Share of the sum of all ‖∂y_i/∂x_j‖²: (D)."""
    beyond: float
    """The largest |∂y_i/∂x_j| between nodes more than K hops apart or unconnected: 0 for every filter over shifts."""

    @property
    def half(self) -> int:
        """The reach as one number: the hops within which half of the dependence lies.

        0 if half of it lies at the node itself, -1 if the output depends on no input at all. A filter whose output
        depends alike on all distances up to D has the reach D / 2.
        """
        return self.sees(0.5)

    @property
    def offered(self) -> int:
        """The hops that K and the graph offer: the largest distance up to K between nodes that were looked at."""
        return len(self.hops) - 1

    def sees(self, share: float = 0.99) -> int:
        """Hops within which this share of the dependence lies; -1 if the output depends on no input at all."""
        if not float(self.share.sum()) > 0:
            return -1
        return int(torch.searchsorted(self.share.cumsum(0), share - 1e-9).clamp(max=len(self.share) - 1))


def reach(
    model: nn.Module, x: Tensor, shift: Shift, probes: int | None = None, seed: int = 0, batch_axes: int = 1
) -> Reach:
    """The dependence of a layer's output, or of the last layer's in a network, on one signal x (N, G).

    Args:
        model: a layer, or a module called as ``model(x, shift)`` that calls layers. The kernels that it would choose
            are the ones that run.
        x: the signal.
        shift: the graph.
        probes: output nodes to draw; None for all of a graph of up to 200 nodes, and 64 of a larger one.
        seed: of the draw.
        batch_axes: axes before (N, G) that a module expects; a layer takes any.
    """
    call, layers = _traced(model, x, shift, batch_axes)
    N, F = shift.num_nodes, layers[-1].out_channels
    exact = probes is None and N <= EXACT_NODES
    if exact:
        nodes = np.arange(N)
        energy = np.zeros((N, N))
        largest = np.zeros((N, N))
        for f in range(F):
            cotangents = torch.zeros(F, N).index_fill(0, torch.tensor(f), 1.0)
            part = np.concatenate(list(_backward(call, layers, x, nodes, cotangents)))
            energy += np.square(part).sum(-1)
            largest = np.maximum(largest, np.abs(part).max(-1))
    else:
        generator = check_seed(seed)
        nodes = np.sort(generator.choice(N, min(PROBES if probes is None else probes, N), replace=False))
        signs = torch.from_numpy(generator.integers(0, 2, (F, len(nodes))) * 2.0 - 1)
        parts = [(np.square(part).sum(-1), np.abs(part).max(-1)) for part in _backward(call, layers, x, nodes, signs)]
        energy, largest = (np.concatenate(one) for one in zip(*parts, strict=True))
    K = sum(layer.K for layer in layers)
    return _by_hop(energy, largest, hop_distances(shift, nodes), K, N if not exact else None)


def hop_distances(shift: Shift, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Edges on the shortest way from every j to each of these nodes i: (nodes, N); infinite where there is none."""
    matrix = shift.to_scipy()
    matrix.eliminate_zeros()
    # Row i of S lists the in-neighbours of i, so ways from i in this reading are ways to i on the graph.
    ways = csr_array((np.ones_like(matrix.data), matrix.indices, matrix.indptr), shape=matrix.shape)
    distances: NDArray[np.float64] = shortest_path(ways, method="D", directed=True, unweighted=True, indices=nodes)
    return distances


Call = Callable[[Tensor], Tensor]
"""From signals (B, N, G) to the output of the last layer (B, N, F)."""


def _traced(model: nn.Module, x: Tensor, shift: Shift, batch_axes: int) -> tuple[Call, list[Layer]]:
    """The model up to its last layer, and the layers that a call of it goes through."""
    if isinstance(model, Layer):
        return (lambda batch: model(batch, shift)), [model]
    calls: list[tuple[Layer, Tensor]] = []

    def keep(layer: Any, _: Any, output: Tensor) -> None:
        calls.append((layer, output))

    def call(batch: Tensor) -> Tensor:
        if batch_axes == 0 and batch.dim() == 3:
            return torch.stack([call(one) for one in batch])
        calls.clear()
        handles = [part.register_forward_hook(keep) for part in model.modules() if isinstance(part, Layer)]
        try:
            model(batch.reshape(-1, *[1] * (batch_axes - 1), *x.shape) if batch_axes else batch, shift)
        finally:
            for handle in handles:
                handle.remove()
        y = calls[-1][1]
        return y.reshape(*batch.shape[:-1], y.shape[-1])

    with torch.no_grad():
        call(x.unsqueeze(0))
    return call, [layer for layer, _ in calls]


def _backward(
    call: Call, layers: list[Layer], x: Tensor, nodes: NDArray[np.int64], cotangents: Tensor
) -> Iterator[NDArray[np.float64]]:
    """Σ_f v_f ∂y_i^f/∂x for these nodes i and cotangents v (F, nodes), some nodes at a time: (some, N, G)."""
    states = x.shape[0] * sum(layer.out_channels * layer.in_channels * (layer.K + 1) for layer in layers)
    some = max(1, ENTRIES // states)
    for first in range(0, len(nodes), some):
        chosen = torch.from_numpy(nodes[first : first + some])
        batch = x.detach().expand(len(chosen), *x.shape).clone().requires_grad_()
        y = call(batch)  # (some, N, F)
        picked = y[torch.arange(len(chosen)), chosen]  # (some, F)
        v = cotangents[:, first : first + some].T.to(picked)
        (gradient,) = torch.autograd.grad(picked, batch, v, materialize_grads=True, allow_unused=True)
        yield gradient.double().cpu().numpy()


def _by_hop(
    energy: NDArray[np.float64],
    largest: NDArray[np.float64],
    distances: NDArray[np.float64],
    K: int,
    population: int | None,
) -> Reach:
    seen = distances <= K
    last = int(distances[seen].max(initial=0))
    hop = np.where(seen, distances, last + 1).astype(np.int64)
    m = len(energy)
    rows = np.repeat(np.arange(m), hop.shape[1])
    sums, counts = np.zeros((m, last + 2)), np.zeros((m, last + 2))
    np.add.at(sums, (rows, hop.ravel()), energy.ravel())
    np.add.at(counts, (rows, hop.ravel()), 1)
    sums, counts = sums[:, :-1], counts[:, :-1]
    pairs, total = counts.sum(0), sums.sum(0)
    mean = total / np.maximum(pairs, 1)
    rms = np.sqrt(mean)
    error = np.zeros_like(rms)
    if population is not None:
        error = _standard_error(sums, counts, mean, rms, population)
    with np.errstate(invalid="ignore"):
        share = total / total.sum() if total.sum() > 0 else np.zeros_like(total)
    outside = float(largest[~seen].max(initial=0.0))
    hops, pairs = np.arange(last + 1), pairs.astype(np.int64)
    return Reach(
        method="exact" if population is None else "probes",
        probes=m,
        hops=torch.from_numpy(hops),
        pairs=torch.from_numpy(pairs),
        rms=torch.from_numpy(rms),
        error=torch.from_numpy(error),
        share=torch.from_numpy(share),
        beyond=outside,
    )


def _standard_error(
    sums: NDArray[np.float64],
    counts: NDArray[np.float64],
    mean: NDArray[np.float64],
    rms: NDArray[np.float64],
    population: int,
) -> NDArray[np.float64]:
    """Of √(Σ sums / Σ counts) over the nodes drawn: the ratio's error to first order, then that of its root."""
    m = len(sums)
    if m < 2:
        return np.full_like(rms, np.nan)
    spread = np.sqrt(np.square(sums - mean * counts).sum(0) / (m - 1) / m)
    per_node = np.maximum(counts.mean(0), 1 / population)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(rms > 0, spread / per_node / (2 * rms), 0.0)
