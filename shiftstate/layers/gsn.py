"""The gated shift network: the filter of a gated recurrent unit, with shifts for time steps."""

import torch
from torch import Tensor

from shiftstate.filters import Step, Taps
from shiftstate.layers.draws import FRONT, center, center_front, sigmoid
from shiftstate.layers.gated import GatedLayer

SHUT_GATE = -2.0  # sigmoid(−2) = 0.12: where the update gate starts when it is to leave the state as it is
OPEN_RESET = 1.0  # sigmoid(1) = 0.73: the candidate sees most of the state
GAIN = 1.05  # of one shift on a small state; what it has above 1 makes up for what the tanh takes from a larger one


class GSN(GatedLayer):
    r"""The gated shift network's filter: a gate decides how much of its state each node replaces at every shift.

        z_k, r_k = sigmoid(h_k·w S w_{k−1} + h_k·x x)                       update and reset gate
        c̃_k = tanh(r_k ∘ (h_kcw S w_{k−1}) + h_kcx x)
        w_k = (1 − z_k) ∘ S w_{k−1} + z_k ∘ c̃_k,   w_0 = x
        y_k = σ_y(h_kyw w_k + h_kyx x),   y = σ_y(Σ_{k=0..K} y_k)

    These are the gates of a GRU. The reset gate acts after the product, so one shift of the state serves all three
    maps. With z_k shut the state is S w_{k−1} itself, the GCNN's: what the gate leaves alone goes on unchanged.

    Parameters in a bank: ``h_cw h_cx h_zw h_zx h_rw h_rx`` (K, F, G) and ``h_yw h_yx`` (K+1, F, G), that is
    (8K+2)FG numbers. With ``input="first"`` the weights on x are left out.

    Takes the arguments of `Layer`, and:

    Args:
        gate_bias: whether to add learned biases ``b_c b_z b_r`` inside the tanh and the sigmoids, shaped
            like the input weights ((K, F) with dense mixing).

    Example:
        >>> import torch, shiftstate as ss
        >>> from shiftstate.layers import GSN
        >>> shift = ss.Shift.from_edges([[0, 1], [1, 2]])
        >>> trace = GSN(1, 4, 8).trace(torch.ones(3, 1), shift)
        >>> trace.states.shape, sorted(trace.gates)
        (torch.Size([9, 3, 4]), ['reset', 'update'])
    """

    updates = ("c", "z", "r")
    fused = "gsn"

    h_cw: Tensor
    b_z: Tensor
    b_r: Tensor

    def update(self, h: Taps, Sw: Tensor, x: Tensor, c: Tensor) -> Step:
        """w_k = (1 − z) ∘ S w_{k−1} + z ∘ tanh(r ∘ (h_kcw S w_{k−1}) + h_kcx x)."""
        update = torch.sigmoid(h("z", Sw, x))
        reset = torch.sigmoid(h("r", Sw, x))
        candidate = torch.tanh(h("c", Sw, x, gate=reset))
        return Step((1 - update) * Sw + update * candidate, gates={"update": update, "reset": reset})

    def keep_alive(self) -> None:
        """Nearly shut the update gate where it has a bias, and centre h_cw so that a small state keeps its size.

        A small state follows w_k ≈ (1 − z + z r h_cw) S w_{k−1}; the h_cw below makes the factor GAIN at λ = 1.
        """
        bias = SHUT_GATE if self.gate_bias else 0.0
        if self.gate_bias:
            self.b_z += bias
        update = sigmoid(bias)
        center(self, self.h_cw, (GAIN - 1 + update) / (0.5 * update))

    def see_far(self) -> None:
        """Centre h_cw so that the factor of `keep_alive` is FRONT, and open the reset gate where it has a bias.

        In Chebyshev's basis the update gate is nearly shut besides: what goes through it alone loses nothing.
        """
        reset = OPEN_RESET if self.gate_bias else 0.0
        update = SHUT_GATE if self.gate_bias and self.basis == "chebyshev" else 0.0
        if self.gate_bias:
            self.b_r += reset
            self.b_z += update
        z = sigmoid(update)
        center_front(self, self.h_cw, (FRONT[self.basis] - 1 + z) / (z * sigmoid(reset)))
