"""A shift is made of ordinary tensors, also under inference mode: it outlives the call."""

import pytest
import torch

import shiftstate as ss
from shiftstate.distributed.exchange import RowExchange

EDGES, WEIGHT = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]]), torch.tensor([1.0, 2.0, 3.0, 4.0])
WAYS = {
    "as made": lambda shift: shift,
    "T": lambda shift: shift.T,
    "to": lambda shift: shift.to(torch.float64).to(torch.float32),
    "normalized": lambda shift: shift.normalized("symmetric"),
    "spectral": lambda shift: shift.normalized(),
    "laplacian": lambda shift: shift.laplacian(),
    "permuted": lambda shift: shift.permuted([3, 2, 1, 0]),
    "batch": lambda shift: ss.Shift.batch([shift, shift]),
}


def is_ordinary(shift):
    return not any(tensor.is_inference() for tensor in (*shift.operator, shift.ptr))


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("way", WAYS)
def test_a_shift_of_inference_mode_takes_gradients_later(way, layout):
    with torch.inference_mode():
        shift = WAYS[way](ss.Shift.from_edges(EDGES.clone(), WEIGHT.clone(), 4, layout))
    assert is_ordinary(shift)
    x = torch.ones(shift.num_nodes, 1, requires_grad=True)
    (shift @ x).sum().backward()
    assert torch.isfinite(x.grad).all()


def test_weights_of_inference_mode_are_copied_and_others_are_not():
    ordered = EDGES[:, EDGES[1].argsort()]  # as S has them: nothing is sorted, so nothing is copied on the way
    with torch.inference_mode():
        weight = WEIGHT.clone()
    assert is_ordinary(ss.Shift.from_edges(ordered, weight, layout="sparse"))
    assert ss.Shift.from_edges(ordered, WEIGHT, layout="sparse").operator.values is WEIGHT


def test_the_room_of_an_exchange_is_ordinary():
    exchange = RowExchange(None, torch.tensor([0]), [1], [1])
    with torch.inference_mode():
        rooms = exchange._room(torch.ones(2, 3))
    assert not any(room.is_inference() for room in rooms)
