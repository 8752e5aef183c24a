"""Filters a user might write: a right one, and wrong ones that the contract has to catch."""

import torch

import shiftstate as ss


class GRU(ss.Layer):
    """w_k = (1 − z) ∘ S w_{k−1} + z ∘ tanh(h_c (r ∘ S w_{k−1}) + h_cx x), with gates z and r."""

    updates = ("z", "r", "c")

    def update(self, h, Sw, x, c):
        z, r = torch.sigmoid(h("z", Sw, x)), torch.sigmoid(h("r", Sw, x))
        candidate = torch.tanh(h("c", r * Sw, x))
        return ss.Step((1 - z) * Sw + z * candidate, gates={"update": z, "reset": r})


class SeesNodeOrder(GRU):
    """Wrong: nodes are told apart by their place."""

    def update(self, h, Sw, x, c):
        place = torch.arange(Sw.shape[0], dtype=Sw.dtype).reshape(-1, *[1] * (Sw.dim() - 1))
        return super().update(h, Sw + 0.01 * place, x, c)


class MixesTheBatch(GRU):
    """Wrong: signals of one batch see each other."""

    def update(self, h, Sw, x, c):
        return super().update(h, Sw - 0.1 * Sw.mean(1, keepdim=True), x, c)


class DropsTheGradient(GRU):
    """Wrong: the backward does not see the state."""

    def update(self, h, Sw, x, c):
        return super().update(h, Sw.detach(), x, c)


class ForgetsItsOption(GRU):
    """Wrong: an option is kept under another name, so a file cannot hold it."""

    def __init__(self, *args, gain=1.0, **options):
        super().__init__(*args, **options)
        self.factor = gain

    def update(self, h, Sw, x, c):
        return super().update(h, self.factor * Sw, x, c)


class Explodes(GRU):
    """Wrong: the state grows a hundredfold with each shift."""

    def update(self, h, Sw, x, c):
        return ss.Step(100 * super().update(h, Sw, x, c).w)


class Remembers(GRU):
    """Wrong: every state is kept in the layer."""

    def update(self, h, Sw, x, c):
        step = super().update(h, Sw, x, c)
        self.kept = [*getattr(self, "kept", []), step.w]
        return step


class BranchesOnData(GRU):
    """Wrong for torch.compile: the values decide which code runs."""

    def update(self, h, Sw, x, c):
        return super().update(h, Sw if bool(Sw.sum() > 0) else 2 * Sw, x, c)


class AveragesTheGraph(GRU):
    """Wrong across graphs: a mean over all nodes leaks from one graph of a batch to another."""

    def update(self, h, Sw, x, c):
        return super().update(h, Sw - 0.1 * Sw.mean(0, keepdim=True), x, c)


class LeavesWeightsUndrawn(GRU):
    """Wrong: the draw forgets the bias."""

    def reset_parameters(self, init=None):
        before = self.bias.detach().clone()
        super().reset_parameters(init)
        with torch.no_grad():
            self.bias.copy_(before)
