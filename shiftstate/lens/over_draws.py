"""How much of an output depends on what lies d hops away, over many draws of the weights."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from shiftstate.checks import check_whole
from shiftstate.graphs import Shift
from shiftstate.lens.reach import reach


@dataclass(frozen=True)
class Dependence:
    """Shares of the dependence by hop distance, one row per draw."""

    hops: Tensor
    """d = 0 … D: (D + 1)."""
    share: Tensor
    """Σ ‖∂y_i/∂x_j‖² over pairs d hops apart, over that of all pairs: (draws, D + 1); rows of 0 depend on nothing."""
    half: Tensor
    """The reach of every draw, as `Reach.half`: (draws)."""

    def quantile(self, q: float) -> Tensor:
        """The share that a part q of the draws stays below, for every d: (D + 1)."""
        return self.share.quantile(q, dim=0)


def dependence(
    make: Callable[[], nn.Module],
    x: Tensor,
    shift: Shift,
    *,
    draws: int = 20,
    probes: int | None = None,
    seed: int = 0,
) -> Dependence:
    """Take the reach of several models that differ in the draw of their weights alone.

    Args:
        make: makes a new model: a layer, or a module called as ``model(x, shift)`` that calls layers.
        x: the signal (N, G) at which derivatives are taken.
        shift: the graph, with distances as long as the question: see `shiftstate.graphs.lattices`.
        draws: models to make.
        probes: output nodes to draw, as in `examine`.
        seed: of the weights, and of the probes. The global random state is left as it was.

    Example:
        >>> import torch, shiftstate as ss
        >>> from shiftstate.graphs.lattices import ring
        >>> from shiftstate.lens import dependence
        >>> found = dependence(lambda: ss.LSSM(1, 1, 16), torch.ones(40, 1), ring(40), draws=3)
        >>> found.share.shape
        torch.Size([3, 17])
    """
    check_whole("draws", draws, 1)
    check_whole("seed", seed, 0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        models = [make() for _ in range(draws)]
    seen = [reach(model, x, shift, probes, seed) for model in models]
    return Dependence(seen[0].hops, torch.stack([one.share for one in seen]), torch.tensor([one.half for one in seen]))
