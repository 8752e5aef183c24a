"""The frequency response of a graph convolution: h^{fg}(λ) = Σ_k h_k^{fg} λ^k, complex on directed graphs.

In Chebyshev's basis T_k(λ) stands for λ^k.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from shiftstate.layers import GCNN

POINTS = 129


@dataclass(frozen=True)
class Response:
    """h(λ) of every filter of a bank, (F, G, places); a component of x at λ leaves the filter multiplied by it."""

    eigenvalues: Tensor | None
    """λ of S, largest magnitude first; None on graphs too large for all of them."""
    at_eigenvalues: Tensor | None
    grid: Tensor
    """Real λ from −ρ(S) to ρ(S): (129)."""
    on_grid: Tensor
    circle: Tensor | None
    """λ = ρ(S) e^{iθ}, θ from 0 to 2π: (129); None if S is symmetric."""
    on_circle: Tensor | None


def taps(layer: GCNN) -> Tensor:
    """h (K + 1, F, G) in float64, with the channels mixed already where the layer mixes them first."""
    h = layer.h.detach().double().cpu()
    return h * layer.mix.detach().double().cpu().T if layer.mixing == "depthwise" else h


def evaluate(h: Tensor, places: Tensor, chebyshev: bool = False) -> Tensor:
    """Σ_k h_k λ^k by Horner's rule, or Σ_k h_k T_k(λ) by Clenshaw's: (F, G, places)."""
    value = before = torch.zeros(*h.shape[1:], len(places), dtype=places.dtype)
    for k, tap in reversed(list(enumerate(h))):
        if chebyshev:
            value, before = (2 if k else 1) * value * places - before + tap.unsqueeze(-1), value
        else:
            value = value * places + tap.unsqueeze(-1)
    return value


def response(layer: GCNN, radius: float, eigenvalues: Tensor | None) -> Response:
    """The response of a GCNN on a graph of this spectral radius and these eigenvalues."""
    h, chebyshev = taps(layer), layer.basis == "chebyshev"
    grid = torch.linspace(-radius, radius, POINTS, dtype=torch.float64)
    directed = eigenvalues is None or eigenvalues.is_complex()
    circle = torch.from_numpy(radius * np.exp(1j * np.linspace(0, 2 * np.pi, POINTS))) if directed else None
    return Response(
        eigenvalues,
        None if eigenvalues is None else evaluate(h, eigenvalues, chebyshev),
        grid,
        evaluate(h, grid, chebyshev),
        circle,
        None if circle is None else evaluate(h, circle, chebyshev),
    )
