"""Memory that is used again: never by two at once, and never more of it than was agreed."""

import pytest
import torch

from shiftstate.filters.fused.memory import buffers
from shiftstate.filters.fused.memory.buffers import HELD, SMALL, empty


@pytest.fixture(autouse=True)
def _nothing_held():
    buffers._free.clear()
    yield
    buffers._free.clear()


def held():
    return sum(raw.nbytes for raw in buffers._free)


def test_memory_that_is_alive_is_never_handed_out_again():
    generator = torch.Generator().manual_seed(0)
    alive = {}
    for number in range(300):
        rows = int(torch.randint(60, 64, (), generator=generator))
        alive[number] = empty((rows, 600), torch.float64).fill_(number)
        if number % 3:
            del alive[list(alive)[int(torch.randint(len(alive), (), generator=generator))]]
        assert all(bool((array == value).all()) for value, array in alive.items())
    assert len(alive) == 100


def test_a_view_keeps_the_memory():
    array = empty((8, 10_000), torch.float64).fill_(1.0)
    view = array[3].view(100, 100).T
    del array
    assert held() == 0
    other = empty((8, 10_000), torch.float64).fill_(2.0)
    assert bool((view == 1).all())
    del view
    assert held() == 8 * 10_000 * 8
    del other


def test_dropped_memory_is_used_again():
    first = empty((50, 1000), torch.float64)
    address = first.data_ptr()
    del first
    again = empty((100, 1000), torch.float32)  # as many bytes
    assert again.data_ptr() == address
    assert held() == 0


def test_no_more_is_held_than_agreed():
    arrays = [empty((HELD // 4 // 5,), torch.float32).fill_(k) for k in range(8)]
    assert [float(array[-1]) for array in arrays] == list(range(8))
    del arrays
    assert HELD * 3 // 5 <= held() <= HELD


@pytest.mark.parametrize("size", [SMALL - 8, HELD + 8])
def test_small_and_very_large_arrays_are_the_allocators(size):
    array = empty((size // 8,), torch.float64)
    array[-1] = 1.0
    del array
    assert held() == 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,), (2, 3), (5, 300, 40), (2, 64, 1000)])
def test_shape_and_dtype_are_what_was_asked_for(shape, dtype):
    array = empty(shape, dtype)
    assert array.shape == shape
    assert array.dtype == dtype
    assert array.is_contiguous()
    assert not array.requires_grad
    assert array.data_ptr() % 16 == 0
    assert array.numpy().flags.writeable
