"""The graph convolution as a linear state-space model."""

from torch import Tensor

from shiftstate.filters import Step, Taps
from shiftstate.filters.linear import linear
from shiftstate.layers.base import Layer


class GCNN(Layer):
    r"""The linear filter of a graph convolutional network.

        w_k = S w_{k−1},   y_k = h_k w_k,   y = Σ_{k=0..K} y_k,   w_0 = x

    Its state S^k x is set by the spectrum of S alone: it vanishes or explodes with |λ|^k.

    Parameters: ``h`` (K+1, F, G), that is (K+1)FG numbers (the paper counts KF²); with depthwise mixing
    ``h`` (K+1, F, 1) and ``mix`` (G, F). Dense mixing is the same as a bank.

    Takes the arguments of `Layer` but for ``output_activation``: a linear filter has none.

    Example:
        >>> import torch, shiftstate as ss
        >>> shift = ss.Shift.from_edges([[0, 1], [1, 2]])
        >>> ss.GCNN(1, 4, 2)(torch.ones(3, 1), shift).shape
        torch.Size([3, 4])
    """

    outputs = ()
    fused = "gcnn"

    h: Tensor

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        K: int,
        *,
        mixing: str = "bank",
        bias: bool = True,
        kernel: str = "auto",
        checkpoint: int | str | None = None,
        init: str = "paper",
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
        )

    def parameter_shapes(self) -> dict[str, tuple[int, ...]]:
        """One weight a shift and channel pair."""
        shapes: dict[str, tuple[int, ...]] = {
            "h": (self.K + 1, self.out_channels, 1 if self.mixing == "depthwise" else self.in_channels)
        }
        return {**shapes, "mix": (self.in_channels, self.out_channels)} if self.mixing == "depthwise" else shapes

    def output_weights(self) -> dict[str, Tensor]:
        """h."""
        return {"h": self.h}

    def dense_taps(self) -> bool:
        """A bank either way: Σ_g h^{fg} S^k x^g is the same inside and outside the sum over k."""
        return False

    def start(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The input as the recurrence sees it, and w_0; dense mixing is the bank's."""
        x = linear(x, self.mix).unsqueeze(-1) if self.mixing == "depthwise" else x.unsqueeze(-2)
        return x, x

    def update(self, h: Taps, Sw: Tensor, x: Tensor, c: Tensor) -> Step:
        """w_k = S w_{k−1}."""
        return Step(Sw)

    def output(self, h: Taps, w: Tensor, x: Tensor) -> Tensor:
        """y_k = h_k w_k."""
        return h.times("h", w)

    def states_per_channel(self) -> int:
        """S^k x is the same for every output channel."""
        return 1

    def options(self) -> dict[str, object]:
        """Without the output activation, which a linear filter does not have."""
        return {key: value for key, value in super().options().items() if key != "output_activation"}
