"""Peers that are written here, from their equations: stacked convolutions, GraphCON, SWAN, and no graph at all."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn


class Pointwise(nn.Module):
    """x ← relu(W x) at every node by itself: what can be known without the graph."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x: Tensor, shift: object) -> Tensor:
        """(…, c) → (…, c)."""
        return torch.relu(self.linear(x))


class Convs(nn.Module):
    """x ← relu(conv_l(x)), one convolution after the other; with ``residual`` x ← x + relu(conv_l(x))."""

    def __init__(self, convs: Sequence[nn.Module], residual: bool = False) -> None:
        super().__init__()
        self.convs, self.residual, self.depth = nn.ModuleList(convs), residual, len(convs)

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        """(nodes, c) → (nodes, c)."""
        for conv in self.convs[: self.depth]:
            y = torch.relu(conv(x, edges))
            x = x + y if self.residual else y
        return x


class GraphCON(nn.Module):
    """Coupled oscillators (Rusch et al., 2022): y ← y + Δt (relu(F(x)) − γ x − α y), x ← x + Δt y.

    One convolution F serves all steps, as in the authors' shared form; Δt = α = γ = 1 are theirs.
    """

    def __init__(self, conv: nn.Module, depth: int, dt: float = 1.0, alpha: float = 1.0, gamma: float = 1.0) -> None:
        super().__init__()
        self.conv, self.depth = conv, depth
        self.dt, self.alpha, self.gamma = dt, alpha, gamma

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        """(nodes, c) → (nodes, c); y starts at x."""
        y = x
        for _ in range(self.depth):
            y = y + self.dt * (torch.relu(self.conv(x, edges)) - self.gamma * x - self.alpha * y)
            x = x + self.dt * y
        return x


class SWAN(nn.Module):
    """Antisymmetric in space and in weights (Gravina et al., 2025), with one set of weights for all steps.

        x ← x + ε tanh((W − Wᵀ − γ I) x + ½(A + Aᵀ)(V − Vᵀ) x + β ½(A − Aᵀ)(Z + Zᵀ) x + b),   A = D⁻¹ times adjacency

    On a regular graph, such as a ring, A is symmetric, and the term with Z is zero.
    """

    def __init__(self, width: int, depth: int, epsilon: float = 0.1, gamma: float = 0.1, beta: float = 1.0) -> None:
        super().__init__()
        self.depth, self.epsilon, self.gamma, self.beta = depth, epsilon, gamma, beta
        self.W, self.V, self.Z = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        """(nodes, c) → (nodes, c)."""
        W = self.W.weight - self.W.weight.T - self.gamma * torch.eye(x.shape[-1], device=x.device, dtype=x.dtype)
        V, Z = self.V.weight - self.V.weight.T, self.Z.weight + self.Z.weight.T
        A = _row_normalized(edges, x)
        AT = A.t().coalesce()
        for _ in range(self.depth):
            Ax, ATx = torch.sparse.mm(A, x), torch.sparse.mm(AT, x)
            inside = x @ W.T + (Ax + ATx) / 2 @ V.T + self.beta * (Ax - ATx) / 2 @ Z.T + self.bias
            x = x + self.epsilon * torch.tanh(inside)
        return x


def _row_normalized(edges: Tensor, x: Tensor) -> Tensor:
    """D⁻¹ A with A[target, source] = 1."""
    source, target = edges
    degree = torch.bincount(target, minlength=len(x)).clamp(min=1).to(x)
    return torch.sparse_coo_tensor(torch.stack([target, source]), 1 / degree[target], (len(x), len(x))).coalesce()
