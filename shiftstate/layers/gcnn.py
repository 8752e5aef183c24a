"""The graph convolution as a linear state-space model."""

from typing import Literal

from torch import Tensor

from shiftstate.filters import Step, Taps
from shiftstate.layers.base import Layer
from shiftstate.layers.options import Basis, Init, Kernel, Mixing


class GCNN(Layer):
    r"""The linear filter of a graph convolutional network.

        w_k = S w_{k−1},   y_k = h_k w_k,   y = Σ_{k=0..K} y_k,   w_0 = x

    Its state S^k x is set by the spectrum of S alone: it vanishes or explodes with |λ|^k. With
    ``basis="chebyshev"`` the state is T_k(S) x, which for a symmetric S of spectral norm 1 does neither.

    Parameters: ``h`` (K+1, F, G), that is (K+1)FG numbers (the paper counts KF²); with depthwise mixing
    ``h`` (K+1, F, 1) and ``mix`` (G, F). Dense mixing is the same as a bank.

    Takes the arguments of `Layer` except ``output_activation``, ``input`` and ``tied``: it has no activation,
    x enters as w_0 only, and only its outputs have weights.

    Example:
        >>> import torch, shiftstate as ss
        >>> shift = ss.Shift.from_edges([[0, 1], [1, 2]])
        >>> ss.GCNN(1, 4, 2)(torch.ones(3, 1), shift).shape
        torch.Size([3, 4])
    """

    outputs = ()
    output_taps = ("h",)
    dense_is_bank = True  # Σ_g h_k^{fg} S^k x^g is the same inside and outside the sum over k
    fused = "gcnn"

    h: Tensor

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        K: int,
        *,
        mixing: Mixing = "bank",
        bias: bool = True,
        kernel: Kernel = "auto",
        checkpoint: int | Literal["sqrt"] | None = None,
        init: Init = "paper",
        basis: Basis = "powers",
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            K,
            mixing=mixing,
            bias=bias,
            output_activation="identity",
            kernel=kernel,
            checkpoint=checkpoint,
            init=init,
            basis=basis,
        )

    def update(self, h: Taps, Sw: Tensor, x: Tensor, c: Tensor) -> Step:
        """w_k = S w_{k−1}."""
        return Step(Sw)

    def output(self, h: Taps, w: Tensor, x: Tensor) -> Tensor:
        """y_k = h_k w_k."""
        return h.times("h", w)
