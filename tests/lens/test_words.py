"""The numbers in the words of a verdict are those that were measured."""

from types import SimpleNamespace

import pytest
import torch

import shiftstate as ss
from shiftstate.lens.graph import Spectrum
from shiftstate.lens.verdict import _advice, _notes, _sentence, within


def spectrum(radius, norm=None, real=True):
    values = torch.tensor([radius + 0j if real else 1j * radius])
    return Spectrum(radius, radius if norm is None else norm, radius, False, False, values)


def lens(sizes=(2.0, 4.0, 8.0), forget=None, reach=None, gradients=None):
    gates = {} if forget is None else {"forget": SimpleNamespace(mean=torch.tensor(forget))}
    states = SimpleNamespace(norm=torch.tensor(sizes), dead=torch.full((3,), 0.95), saturated=torch.full((3,), 0.97))
    parameters = {name: torch.tensor(norms) for name, norms in (gradients or {}).items()}
    flow = SimpleNamespace(parameters=parameters)
    return SimpleNamespace(K=len(sizes) - 1, states=states, gates=gates, reach=reach, gradients=flow)


@pytest.mark.parametrize(
    ("rate", "told"),
    [
        (3.0, "it grows 3 times with each"),
        (1.5, "it grows 1.5 times with each"),
        (0.25, "it shrinks 4 times with each"),
        (1.0, None),
        (float("nan"), None),
    ],
)
def test_growth_and_decay_are_told_as_factors(rate, told):
    notes = _notes(lens(), rate)
    assert notes == (() if told is None else (f"Over the last half of the shifts {told}.",))


@pytest.mark.parametrize(
    ("word", "since", "told"),
    [
        ("exploding", 2, "The state explodes from k = 2 on: ‖w_2‖ is 4 times ‖w_0‖."),
        ("vanishing", 1, "The state vanishes from k = 1 on: ‖w_2‖ is 4 times ‖w_0‖."),
        ("dead", 0, "The output is dead: at every shift at least nine units in ten are 0 for every signal."),
        ("dead", 1, "The state is dead from k = 1 on: 95% of its units are 0 for every signal."),
        ("saturated", 1, "The state is saturated from k = 1 on: 97% of its values are at an end."),
        ("alive", None, "The state is alive through all 2 shifts: ‖w_2‖ is 4 times ‖w_0‖."),
        ("short-sighted", None, "The state is alive through all 2 shifts, but short-sighted: ‖w_2‖ is 4 times ‖w_0‖."),
    ],
)
def test_a_sentence_for_every_word(word, since, told):
    assert _sentence(word, since, lens()) == told


def test_sentences_without_shifts_or_input():
    assert _sentence("alive", None, lens((1.0,))) == "There are no shifts: K = 0."
    assert _sentence("alive", None, lens((0.0, 0.0))).endswith("all 1 shifts: the input is zero.")


@pytest.mark.parametrize(("forget", "told"), [([0.5, 0.5], "0.50 open: a memory halves in 1.0"), ([0.7, 0.8], "2.4")])
def test_the_forget_gate_is_told_as_a_half_life(forget, told):
    (note,) = _notes(lens(forget=forget), 1.0)
    assert told in note
    assert _notes(lens(forget=[1.0, 1.0]), 1.0) == _notes(lens(forget=[0.0]), 1.0) == ()


def test_weights_that_hardly_learn_are_named_from_the_right_k():
    gradients = {"h": [1.0, 1e-4, 1e-5], "h_ww": [1.0, 1e-4], "bias": [1.0, 1.0], "mix": [0.0, 0.0]}
    (note,) = _notes(lens(gradients=gradients), 1.0)
    assert note.endswith("of the largest gradient of their kind: h from k = 1, h_ww from k = 2.")


@pytest.mark.parametrize(
    ("half", "sees", "told"),
    [
        (-1, -1, "The output does not depend on the input at all."),
        (0, 1, "Half of what the output depends on lies at the node itself, 99 % within 1 hop."),
        (1, 4, "Half of what the output depends on lies within 1 hop, 99 % within 4 hops."),
    ],
)
def test_the_reach_in_words(half, sees, told):
    reach = SimpleNamespace(half=half, sees=lambda: sees)
    assert within(reach) == told
    assert _notes(lens(reach=reach), 1.0) == (told,)


def test_advice_against_growth_names_the_cause():
    gcnn, rsn, tanh = (
        ss.GCNN(1, 1, 2),
        ss.RSN(1, 1, 2, state_activation="relu"),
        ss.RSN(1, 1, 2, state_activation="tanh"),
    )
    assert _advice("exploding", gcnn, spectrum(2.0))[0] == "ρ(S) is 2: scale S by shift.normalized('spectral')."
    assert "‖S‖₂ is 3: S is far from normal" in _advice("exploding", gcnn, spectrum(1.0, 3.0))[0]
    assert _advice("exploding", gcnn, spectrum(1.0)) == (
        "A GCNN cannot steer its state: fewer shifts, or an RSN or LSSM.",
    )
    assert "state_activation='tanh' bounds the state" in _advice("exploding", rsn, spectrum(1.0))[0]
    assert _advice("exploding", tanh, spectrum(1.0)) == ()
    chebyshev = ss.RSN(1, 1, 2, state_activation="tanh", basis="chebyshev")
    assert _advice("exploding", chebyshev, spectrum(1.0)) == ()
    assert (
        "T_k(S) grows where eigenvalues are not real" in _advice("exploding", chebyshev, spectrum(1.0, real=False))[0]
    )


def test_advice_against_decay_names_the_cause():
    gcnn, lssm = ss.GCNN(1, 1, 2), ss.LSSM(1, 1, 2)
    assert _advice("vanishing", gcnn, spectrum(0.0))[0] == "ρ(S) is 0: no way leads round a cycle."
    assert _advice("vanishing", gcnn, spectrum(0.5))[0] == "ρ(S) is 0.5: scale S by shift.normalized('spectral')."
    assert len(_advice("vanishing", gcnn, spectrum(1.0))) == 1
    assert "gate_bias=True" in _advice("vanishing", lssm, spectrum(1.0))[0]
    assert _advice("vanishing", ss.LSSM(1, 1, 2, gate_bias=True, init="alive"), spectrum(1.0)) == ()
    assert "init='alive'" in _advice("vanishing", ss.RSN(1, 1, 2, init="paper"), spectrum(1.0))[0]
    assert _advice("alive", gcnn, spectrum(0.5)) == ()
