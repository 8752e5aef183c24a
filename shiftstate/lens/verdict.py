"""The verdict in plain words: what happens to the state along the shifts, from which k on, and what to do about it.

Every rule asks from which k on something holds up to the last shift:

- exploding: ‖w_k‖ ≥ 100 ‖w_0‖, or a number that is not finite;
- dead: nine units in ten are 0 for every signal, in the state or in the output;
- saturated: half of all values are at an end of the activation's range;
- vanishing: ‖w_k‖ ≤ ‖w_0‖ / 1000;
- short-sighted: none of these, so the state is alive, but half of what the output depends on lies within two hops (the
  reach, `Reach.half`) although K and the graph offer at least eight;
- alive: none of these.

Where several hold, the first of this list is the verdict.

Why short-sighted is a word of its own: a state may keep its size only because the input enters again at every shift.
Untrained filters with K = 8, 16 and 32 have these reaches (medians of six draws, banks 1 → 8). On a directed cycle of
80 nodes, where S only moves a signal on: the GCNN 4, 8 and 15.5. On an undirected ring of 80 nodes, where S also
spreads it: the GCNN 0, 0.5 and 1; on a grid of 12 × 15: 0. RSN and LSSM: 0 on all three graphs, drawn by "paper" or by
"alive". All their states are alive. The longest reach of the two that was seen is 3, of an RSN with dense mixing
8 → 8, drawn by "alive", on the cycle with K = 32.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from shiftstate.layers import GCNN, LSSM, RSN, Layer
from shiftstate.lens.graph import Spectrum
from shiftstate.lens.reach import Reach

if TYPE_CHECKING:
    from shiftstate.lens.examination import LayerLens

EXPLODED = 100.0
VANISHED = 1e-3
DEAD = 0.9
SATURATED = 0.5
FAINT = 1e-3
"""A weight whose gradient is below this share of the largest hardly learns."""
STEADY = 1.25
"""A factor by shift between 1/1.25 and 1.25 is worth no remark."""

NEAR = 2
"""A reach of so many hops is short …"""
OFFERED = 8
"""… if at least so many are offered."""

WORDS = ("exploding", "dead", "saturated", "vanishing", "short-sighted", "alive")
"""The worst first."""


@dataclass(frozen=True)
class Verdict:
    """What happens to the state of a layer along the shifts."""

    word: str
    """exploding, dead, saturated, vanishing, short-sighted or alive."""
    since: int | None
    """The k from which it holds on; None if alive or short-sighted."""
    sentence: str
    notes: tuple[str, ...] = ()
    """What else is worth knowing: growth, gates, gradients, reach."""
    advice: tuple[str, ...] = ()
    rate: float = math.nan
    """The factor by which the state grows with each shift, over the last half of them."""

    def __str__(self) -> str:
        return " ".join([self.sentence, *self.notes, *self.advice])


def judge(lens: "LayerLens", layer: Layer, spectrum: Spectrum) -> Verdict:
    """The verdict on one layer."""
    word, since = _word(lens)
    rate = growth(lens.states.norm)
    return Verdict(word, since, _sentence(word, since, lens), _notes(lens, rate), _advice(word, layer, spectrum), rate)


def since_when(holds: Tensor) -> int | None:
    """The first k from which on it holds up to the last; None if it does not hold at the last."""
    if len(holds) == 0 or not bool(holds[-1]):
        return None
    last_not = (~holds).nonzero()
    return int(last_not[-1]) + 1 if len(last_not) else 0


def growth(norm: Tensor) -> float:
    """The geometric mean of ‖w_k‖ / ‖w_{k−1}‖ over the last half of the shifts."""
    K = len(norm) - 1
    half = K // 2
    if K == 0 or not norm[half] > 0:
        return math.nan
    return float((norm[K] / norm[half]) ** (1 / (K - half)))


def _word(lens: "LayerLens") -> tuple[str, int | None]:
    norm, start = lens.states.norm, lens.states.norm[0]
    broken = ~(torch.isfinite(norm) & torch.isfinite(lens.outputs.norm))
    # Every rule counts from k = 1: w_0 is the input, which may be large, sparse or zero for reasons of its own.
    late = {
        "exploding": (norm >= EXPLODED * start) & (norm > 0) | broken,
        "dead": lens.states.dead >= DEAD,
        "saturated": lens.states.saturated >= SATURATED,
        "vanishing": (norm <= VANISHED * start) & (start > 0),
    }
    for word, holds in late.items():
        since = since_when(holds[1:])
        if since is not None:
            return word, since + 1
        if word == "dead" and bool((lens.outputs.dead >= DEAD).all()):
            return "dead", 0
    return "short-sighted" if lens.reach is not None and short_sighted(lens.reach) else "alive", None


def short_sighted(reach: Reach) -> bool:
    """Whether half of the dependence lies within one or two hops although many more are offered."""
    return 0 <= reach.half <= NEAR and reach.offered >= OFFERED


def within(reach: Reach) -> str:
    """The reach in words."""
    if reach.half < 0:
        return "The output does not depend on the input at all."
    half = f"within {_hops(reach.half)}" if reach.half else "at the node itself"
    return f"Half of what the output depends on lies {half}, 99 % within {_hops(reach.sees())}."


def _sentence(word: str, since: int | None, lens: "LayerLens") -> str:
    K, norm = lens.K, lens.states.norm
    ratio = f"‖w_{K}‖ is {_times(float(norm[K] / norm[0]))} ‖w_0‖" if norm[0] > 0 else "the input is zero"
    if word == "exploding":
        return f"The state explodes from k = {since} on: {ratio}."
    if word == "dead" and since == 0:
        return "The output is dead: at every shift at least nine units in ten are 0 for every signal."
    if word == "dead":
        return f"The state is dead from k = {since} on: {lens.states.dead[K]:.0%} of its units are 0 for every signal."
    if word == "saturated":
        return (
            f"The state is saturated from k = {since} on: {lens.states.saturated[K]:.0%} of its values are at an end."
        )
    if word == "vanishing":
        return f"The state vanishes from k = {since} on: {ratio}."
    if K == 0:
        return "There are no shifts: K = 0."
    but = ", but short-sighted" if word == "short-sighted" else ""
    return f"The state is alive through all {K} shifts{but}: {ratio}."


def _notes(lens: "LayerLens", rate: float) -> tuple[str, ...]:
    notes = []
    if rate == rate and rate > 0 and not 1 / STEADY < rate < STEADY:
        notes.append(f"Over the last half of the shifts it {'grows' if rate > 1 else 'shrinks'} "
                     f"{_times(rate if rate > 1 else 1 / rate)} with each.")  # fmt: skip
    forget = lens.gates.get("forget")
    if forget is not None and len(forget.mean):
        mean = float(forget.mean.mean())
        if 0 < mean < 1:
            notes.append(f"The forget gate is {mean:.2f} open: a memory halves in {math.log(0.5) / math.log(mean):.1f} "
                         "shifts.")  # fmt: skip
    faint = _faint(lens)
    if faint:
        names = ", ".join(f"{name} from k = {k}" for name, k in faint.items())
        notes.append(f"Weights with less than a thousandth of the largest gradient of their kind: {names}.")
    if lens.reach is not None:
        notes.append(within(lens.reach))
    return tuple(notes)


def _faint(lens: "LayerLens") -> dict[str, int]:
    """From which k on the weights of each kind hardly learn."""
    result = {}
    for name, norms in lens.gradients.parameters.items():
        largest = norms.max() if len(norms) else norms.new_zeros(())
        since = since_when(norms < FAINT * largest) if largest > 0 else None
        if since is not None:
            result[name] = since + lens.K + 1 - len(norms)
    return result


def _advice(word: str, layer: Layer, spectrum: Spectrum) -> tuple[str, ...]:
    if word == "exploding":
        return _against_growth(layer, spectrum)
    if word == "vanishing":
        return _against_decay(layer, spectrum)
    if word == "dead":
        return ("Try an activation with a slope below 0 (leaky_relu, tanh), init='alive', or a smaller learning rate.",)
    if word == "saturated":
        return ("Smaller weights or inputs bring the units back: standardise x, scale S by normalized('spectral'), "
                "or use weight decay.",)  # fmt: skip
    if word == "short-sighted":
        return ("Examine it again after training: if the reach is still as short, a smaller K does the same.",)
    return ()


def _against_growth(layer: Layer, spectrum: Spectrum) -> tuple[str, ...]:
    advice = []
    if spectrum.radius > 1.001:
        advice.append(f"ρ(S) is {spectrum.radius:.4g}: scale S by shift.normalized('spectral').")
    elif spectrum.norm > 1.001:
        advice.append(
            f"ρ(S) is {spectrum.radius:.4g} but ‖S‖₂ is {spectrum.norm:.4g}: S is far from normal, and states rise "
            "before they fall; shift.normalized('symmetric') narrows the gap."
        )
    if layer.basis == "chebyshev" and not spectrum.real:
        advice.append("T_k(S) grows where eigenvalues are not real: take basis='powers', or an undirected graph.")
    if isinstance(layer, GCNN):
        advice.append("A GCNN cannot steer its state: fewer shifts, or an RSN or LSSM.")
    elif isinstance(layer, RSN) and layer.state_activation != "tanh":
        advice.append("state_activation='tanh' bounds the state; weight decay holds h_ww down.")
    return tuple(advice)


def _against_decay(layer: Layer, spectrum: Spectrum) -> tuple[str, ...]:
    if spectrum.radius < 0.999:
        first = f"ρ(S) is {spectrum.radius:.4g}: "
        first += "no way leads round a cycle." if spectrum.radius == 0 else "scale S by shift.normalized('spectral')."
        scale: tuple[str, ...] = (first,)
    else:
        scale = ()
    if isinstance(layer, GCNN):
        return (*scale, "A GCNN cannot steer its state: fewer shifts, or an RSN or LSSM.")
    if isinstance(layer, LSSM) and not layer.gate_bias:
        return (*scale, "gate_bias=True with init='alive' starts with open forget and state gates.")
    return (*scale, "init='alive' starts where the state keeps its size.") if layer.init != "alive" else scale


def _hops(count: int) -> str:
    return f"{count} hop{'s' if count != 1 else ''}"


def _times(factor: float) -> str:
    return f"{factor:.3g} times"
