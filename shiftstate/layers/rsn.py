"""The recursive shift network: the filter with a nonlinear, parametric state."""

from typing import Any

from torch import Tensor

from shiftstate.filters import Step, Taps
from shiftstate.filters.activations import Activation, activation
from shiftstate.layers.base import Layer
from shiftstate.layers.draws import FRONT, center, center_front


class RSN(Layer):
    r"""The recursive shift network's filter: a nonlinear state that sees the input at every shift.

        w_k = σ_w(h_kww S w_{k−1} + h_kwx x),   w_0 = x
        y_k = σ_y(h_kyw w_k + h_kyx x),   y = σ_y(Σ_{k=0..K} y_k)

    With identity nonlinearities, h_kww = 1 and h_kwx = h_kyx = 0 it is the GCNN with h_k = h_kyw.

    Parameters in a bank: ``h_ww``, ``h_wx`` (K, F, G) and ``h_yw``, ``h_yx`` (K+1, F, G), that is (4K+2)FG
    numbers (the paper counts 4KF²). With ``input="first"`` the weights on x are left out.

    Takes the arguments of `Layer`, and:

    Args:
        state_activation: σ_w, by name or as a callable.

    Example:
        >>> import torch, shiftstate as ss
        >>> shift = ss.Shift.from_edges([[0, 1], [1, 2]])
        >>> ss.RSN(1, 4, 8, state_activation="tanh")(torch.ones(5, 3, 1), shift).shape
        torch.Size([5, 3, 4])
    """

    updates = ("w",)
    fused = "rsn"

    h_ww: Tensor

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        K: int,
        *,
        state_activation: str | Activation = "relu",
        **options: Any,
    ) -> None:
        super().__init__(in_channels, out_channels, K, **options)
        activation(state_activation)
        self.state_activation = state_activation

    def update(self, h: Taps, Sw: Tensor, x: Tensor, c: Tensor) -> Step:
        """w_k = σ_w(h_kww S w_{k−1} + h_kwx x)."""
        return Step(activation(self.state_activation)(h("w", Sw, x)))

    def keep_alive(self) -> None:
        """Centre h_ww on 1: the state of a GCNN, with the input and the nonlinearity to learn."""
        center(self, self.h_ww, 1.0)

    def see_far(self) -> None:
        """Centre h_ww on FRONT: for a bounded ``state_activation``, such as "tanh"; under a ReLU the state explodes."""
        center_front(self, self.h_ww, FRONT[self.basis])
