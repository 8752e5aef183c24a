"""Memory is asked for before it is taken."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shiftstate import memory
from shiftstate.memory import check_fits

CPU = torch.device("cpu")


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


def test_devices_that_take_or_tell_nothing_have_no_amount():
    assert memory.available_bytes(torch.device("meta")) is None


@given(st.integers(0, 2**70), st.integers(0, 2**40) | st.none())
def test_only_what_is_known_not_to_fit_raises_and_says_both_numbers(size, free):
    fits = size <= max(memory.SMALL, memory.LARGEST if free is None else min(free, memory.LARGEST))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "available_bytes", lambda device: free)
        if fits:
            check_fits(size, CPU, "the states need {} bytes", "fewer")
            return
        with pytest.raises(ValueError, match=rf"^the states need {size:,} bytes.*; expected fewer$") as caught:
            check_fits(size, CPU, "the states need {} bytes", "fewer")
    assert ("which no machine has" in str(caught.value)) == (size > memory.LARGEST)
