"""The memory guard refuses what cannot fit, in one line, and nothing else."""

import pytest
import torch

import shiftstate as ss
from shiftstate.layers import memory

PAIR = ss.Shift.from_edges([[0, 1], [1, 0]])
GIGABYTE = 2**30


def wide(layer_class=ss.LSSM, **options):
    """A call whose states take (K + 1)·F·G·N·B·4 bytes = 34 · 2^25: about a gigabyte."""
    with torch.device("meta"):
        layer = layer_class(64, 64, 33, **options)
    return layer, torch.empty(1024, 2, 64, device="meta")


@pytest.fixture
def free(monkeypatch):
    def set_free(count):
        monkeypatch.setattr(memory, "SMALL", 0)
        monkeypatch.setattr(memory, "available_bytes", lambda device: count)

    return set_free


@pytest.mark.parametrize("layer_class", [ss.RSN, ss.LSSM])
def test_states_that_do_not_fit_are_refused_with_the_bytes_and_the_remedy(free, layer_class):
    free(GIGABYTE)
    layer, x = wide(layer_class)
    needed = 34 * 64 * x.numel() * 4
    with pytest.raises(
        ValueError, match=rf'need {needed:,} bytes .* and {GIGABYTE:,} are free; .* mixing="depthwise"$'
    ):
        memory.check_bank_fits(layer, x)


def test_states_that_fit_are_not_refused(free):
    layer, x = wide()
    free(34 * 64 * x.numel() * 4)
    memory.check_bank_fits(layer, x)


def test_the_guard_is_part_of_the_call(free):
    free(10)
    for call in (ss.RSN(2, 2, 2), ss.RSN(2, 2, 2).trace):
        with pytest.raises(ValueError, match=r"^the states of this bank need"):
            call(torch.ones(2, 2), PAIR)
    for mixing in ("dense", "depthwise"):
        ss.RSN(2, 2, 2, mixing=mixing)(torch.ones(2, 2), PAIR)


@pytest.mark.parametrize("save", ["checkpoint", "no_grad"])
def test_what_keeps_few_states_is_counted_so(free, save):
    layer, x = wide(checkpoint="sqrt" if save == "checkpoint" else None)
    few = 3 * 64 * x.numel() * 4
    with torch.set_grad_enabled(save == "checkpoint"):
        free(few)
        memory.check_bank_fits(layer, x)
        free(few - 1)
        with pytest.raises(ValueError, match=rf"need {few:,} bytes"):
            memory.check_bank_fits(layer, x)


def test_a_gcnn_keeps_one_state_for_all_outputs(free):
    layer, x = wide(ss.GCNN)
    free(34 * x.numel() * 4)
    memory.check_bank_fits(layer, x)


def test_one_input_channel_has_another_remedy(free):
    free(GIGABYTE)
    with torch.device("meta"):
        layer = ss.RSN(1, 64, 33)
    with pytest.raises(ValueError, match=r'expected a smaller layer: use checkpoint="sqrt" or smaller batches$'):
        memory.check_bank_fits(layer, torch.empty(2**17, 2, 1, device="meta"))


def test_small_calls_do_not_look_at_the_system(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda device: pytest.fail("the system was asked"))
    ss.LSSM(2, 2, 2)(torch.ones(2, 2), PAIR)


def test_an_unknown_amount_refuses_nothing(free):
    free(None)
    memory.check_bank_fits(*wide())


def test_the_amount_is_that_of_the_system():
    free_bytes = memory.available_bytes(torch.device("cpu"))
    assert free_bytes is None or free_bytes > 2**20


def test_a_system_that_does_not_tell_gives_none(monkeypatch):
    def unreadable(self):
        raise OSError

    monkeypatch.setattr("pathlib.Path.read_text", unreadable)
    assert memory.available_bytes(torch.device("cpu")) is None
    monkeypatch.setattr("pathlib.Path.read_text", lambda self: "MemTotal: 1 kB\n")
    assert memory.available_bytes(torch.device("cpu")) is None
