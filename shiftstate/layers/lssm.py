"""The long short shift memory: the filter with gates."""

import torch
from torch import Tensor

from shiftstate.filters import Step, Taps
from shiftstate.layers.draws import FRONT, center, center_front, sigmoid
from shiftstate.layers.gated import GatedLayer

OPEN_GATE = 2.0  # sigmoid(2) = 0.88: where the forget and state gates start when they are to keep the state
GAIN = 1.05  # of one shift on a small state; what it has above 1 makes up for what the two tanh take from a larger one


class LSSM(GatedLayer):
    r"""The long short shift memory's filter: gates decide what each node keeps from shift to shift.

        c̃_k = tanh(h_kcw S w_{k−1} + h_kcx x)
        γ_fk, γ_uk, γ_wk = sigmoid(h_k·w S w_{k−1} + h_k·x x)        forget, update and state gate
        c_k = γ_fk ∘ c_{k−1} + γ_uk ∘ c̃_k,   w_k = γ_wk ∘ tanh(c_k),   c_0 = 0,  w_0 = x
        y_k = σ_y(h_kyw w_k + h_kyx x),   y = σ_y(Σ_{k=0..K} y_k)

    Parameters in a bank: ``h_cw h_cx h_fw h_fx h_uw h_ux h_ww h_wx`` (K, F, G) and ``h_yw h_yx`` (K+1, F, G),
    that is (10K+2)FG numbers (the paper counts 10(K+1)F²). With ``input="first"`` the weights on x are left out.

    Takes the arguments of `Layer`, and:

    Args:
        gate_bias: whether to add learned biases ``b_c b_f b_u b_w`` inside the tanh and the sigmoids, shaped
            like the input weights ((K, F) with dense mixing). Without them, as in the paper, every gate of
            a small signal is half open, and the state shrinks by about half with each shift until the
            weights have learned better; ``init="alive"`` starts where it does not.

    Example:
        >>> import torch, shiftstate as ss
        >>> shift = ss.Shift.from_edges([[0, 1], [1, 2]])
        >>> trace = ss.LSSM(1, 4, 8).trace(torch.ones(3, 1), shift)
        >>> trace.states.shape, trace.gates["forget"].shape
        (torch.Size([9, 3, 4]), torch.Size([8, 3, 4]))
    """

    updates = ("c", "f", "u", "w")
    fused = "lssm"

    h_cw: Tensor
    b_f: Tensor
    b_u: Tensor
    b_w: Tensor

    def update(self, h: Taps, Sw: Tensor, x: Tensor, c: Tensor) -> Step:
        """c_k = γ_f ∘ c_{k−1} + γ_u ∘ c̃_k and w_k = γ_w ∘ tanh(c_k)."""
        candidate = torch.tanh(h("c", Sw, x))
        forget = torch.sigmoid(h("f", Sw, x))
        update = torch.sigmoid(h("u", Sw, x))
        state = torch.sigmoid(h("w", Sw, x))
        c = forget * c + update * candidate
        return Step(state * torch.tanh(c), c, {"forget": forget, "update": update, "state": state})

    def keep_alive(self) -> None:
        """Open the gates where they have biases, and centre h_cw so that a small state keeps its size.

        A small state follows c_k ≈ (γ_f + γ_u h_cw γ_w λ) c_{k−1}; the h_cw below makes the factor GAIN at λ = 1.
        """
        bias = OPEN_GATE if self.gate_bias else 0.0
        if self.gate_bias:
            self.b_f += bias
            self.b_w += bias
        keep = sigmoid(bias)
        center(self, self.h_cw, (GAIN - keep) / (0.5 * keep))

    def see_far(self) -> None:
        """Centre h_cw so that a front, c_{k−1} = 0, keeps its size, and open gates on its way where they have biases.

        In Chebyshev's basis the forget gate is shut: the recurrence has its own memory, w_{k−2}.
        """
        state = OPEN_GATE if self.gate_bias else 0.0
        update = state if self.basis == "chebyshev" else 0.0
        if self.gate_bias:
            self.b_f -= update
            self.b_u += update
            self.b_w += state
        center_front(self, self.h_cw, FRONT[self.basis] / (sigmoid(update) * sigmoid(state)))
