"""What cannot fit raises in one line before memory is taken, much memory warns, and nothing else does either."""

import pytest
import torch

import shiftstate as ss
from shiftstate import memory
from shiftstate.layers import LAYERS, size
from shiftstate.layers.options import MIXINGS
from shiftstate.layers.size import LargeBankWarning

PAIR = ss.Shift.from_edges([[0, 1], [1, 0]])
HALF = 2**29


def wide(layer_class=ss.LSSM, signals=512, **options):
    """A call whose states take (K + 1)·F·G·N·B·4 bytes = 34 · 2^24: about half a gigabyte."""
    with torch.device("meta"):
        layer = layer_class(64, 64, 33, **options)
    return layer, torch.empty(signals, 2, 64, device="meta")


@pytest.fixture
def free(monkeypatch):
    def set_free(count):
        monkeypatch.setattr(memory, "SMALL", 0)
        monkeypatch.setattr(size, "SMALL", 0)
        monkeypatch.setattr(memory, "available_bytes", lambda device: count)

    return set_free


@pytest.mark.parametrize("layer_class", [ss.RSN, ss.LSSM])
def test_states_that_do_not_fit_are_refused_with_the_bytes_and_the_remedy(free, layer_class):
    free(HALF)
    layer, x = wide(layer_class)
    needed = 34 * 64 * x.numel() * 4
    with pytest.raises(ValueError, match=rf'need {needed:,} bytes .* and {HALF:,} are free; .* mixing="depthwise"$'):
        size.check_states(layer, x)


def test_states_that_fit_are_not_refused(free):
    layer, x = wide()
    free(34 * 64 * x.numel() * 4)
    size.check_states(layer, x)


def test_the_guard_is_part_of_the_call(free):
    layers = {mixing: ss.RSN(2, 2, 2, mixing=mixing) for mixing in MIXINGS}
    free(10)
    bank = layers.pop("bank")
    for call in (bank, bank.trace):
        with pytest.raises(ValueError, match=r"^the states of this bank need"):
            call(torch.ones(2, 2), PAIR)
    for layer in layers.values():
        layer(torch.ones(2, 2), PAIR)


@pytest.mark.parametrize("save", ["checkpoint", "no_grad"])
def test_what_keeps_few_states_is_counted_so(free, save):
    layer, x = wide(checkpoint="sqrt" if save == "checkpoint" else None)
    few = 3 * 64 * x.numel() * 4
    with torch.set_grad_enabled(save == "checkpoint"):
        free(few)
        size.check_states(layer, x)
        free(few - 1)
        with pytest.raises(ValueError, match=rf"need {few:,} bytes"):
            size.check_states(layer, x)


@pytest.mark.parametrize(("F", "fewer"), [(64, 64), (4, 4), (256, 64)])
def test_a_gcnn_has_one_state_for_all_outputs_keeps_none_and_does_not_warn(free, F, fewer):
    with torch.device("meta"):
        layer, x = ss.GCNN(64, F, 33), torch.empty(2**22, 2, 64)
    needed = 3 * fewer * 2**23 * 4
    free(needed)
    size.check_states(layer, x)
    free(needed - 1)
    message = rf"need {needed:,} bytes \(3 states of {fewer} channels.*; expected smaller batches$"
    with pytest.raises(ValueError, match=message):
        size.check_states(layer, x)


def test_one_input_channel_has_another_remedy(free):
    free(HALF)
    with torch.device("meta"):
        layer = ss.RSN(1, 64, 33)
    with pytest.raises(ValueError, match=r'expected a smaller layer: use checkpoint="sqrt" or smaller batches$'):
        size.check_states(layer, torch.empty(2**17, 2, 1, device="meta"))


def test_small_calls_do_not_look_at_the_system(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda device: pytest.fail("the system was asked"))
    ss.LSSM(2, 2, 2)(torch.ones(2, 2), PAIR)


def test_an_unknown_amount_refuses_nothing(free):
    free(None)
    size.check_states(*wide())


@pytest.mark.parametrize("name", LAYERS)
def test_parameters_that_do_not_fit_are_refused_before_they_are_made(free, monkeypatch, name):
    monkeypatch.setattr(torch.nn.Module, "register_parameter", lambda *_: pytest.fail("a parameter was made"))
    free(HALF)
    message = rf'^the parameters of this layer need .* and {HALF:,} are free; .*: use mixing="depthwise"$'
    with pytest.raises(ValueError, match=message):
        LAYERS[name](1433, 512, 1000)
    with pytest.raises(ValueError, match=r"which no machine has; expected a smaller layer: use a smaller K$"):
        LAYERS[name](1, 512, 10**18, mixing="depthwise")


@pytest.mark.parametrize("mixing", MIXINGS)
def test_a_layer_that_takes_no_memory_may_be_of_any_size(mixing):
    with torch.device("meta"):
        assert ss.LSSM(14330, 5120, 1000, mixing=mixing).bias.is_meta


def test_parameters_over_a_gigabyte_warn_and_name_the_remedy(monkeypatch):
    monkeypatch.setattr(size, "LARGE", 2 * 3 * (10 * 4 + 2) * 4 - 1)
    with pytest.warns(LargeBankWarning, match=r'^the parameters of this bank of 3 × 2 filters .* mixing="depthwise"'):
        ss.LSSM(2, 3, 4)
    monkeypatch.setattr(size, "LARGE", 2 * 3 * (10 * 4 + 2) * 4)
    ss.LSSM(2, 3, 4)


def test_states_over_a_gigabyte_warn_and_name_the_remedy():
    layer, x = wide(signals=1024)
    with pytest.warns(
        LargeBankWarning, match=r'^the states of this bank of 64 × 64 .* take 1.1 GB; mixing="depthwise"'
    ):
        size.check_states(layer, x)
    with torch.no_grad():
        size.check_states(layer, x)  # three states at a time


def test_only_a_bank_that_depthwise_mixing_would_shrink_warns(free, monkeypatch):
    free(None)
    monkeypatch.setattr(size, "LARGE", 0)
    with pytest.warns(LargeBankWarning, match=r"^the parameters"):
        bank = ss.LSSM(2, 3, 4)
    with pytest.warns(LargeBankWarning, match=r"^the states"):
        bank(torch.ones(2, 2), PAIR)
    for mixing in ("dense", "depthwise"):
        ss.LSSM(2, 3, 4, mixing=mixing)(torch.ones(2, 2), PAIR)
    ss.LSSM(1, 3, 4)(torch.ones(2, 1), PAIR)
