"""What a fused filter keeps for its backward is the least it can do with, and nothing without a backward."""

import math

import pytest
import torch
from torch.multiprocessing.reductions import StorageWeakRef

from shiftstate.filters.fused.memory import pool
from shiftstate.filters.fused.recurrences import matrix, scalar
from shiftstate.layers.options import MIXINGS
from shiftstate.testing.measure import peak_bytes
from tests.filters.fused.comparison import KINDS, RECURRENT, cycle, filter_arguments, pair, ragged, signal

N, B, G, F, K = 6, 5, 2, 3, 10
STATE = {"bank": N * B * F * G, "depthwise": N * B * F, "dense": N * B * F}


def kept_by(kind, mixing, keep=True, **options):
    layer, _ = pair(kind, G, F, K, mixing=mixing, **options)
    y, *kept = torch.ops.shiftstate.filter(**filter_arguments(layer, signal(N, B, G), ragged(N), keep))
    assert y.numel() == STATE[mixing]
    return kept


@pytest.mark.parametrize("mixing", MIXINGS)
def test_an_lssm_keeps_two_arrays_a_shift(mixing):
    kept = kept_by("lssm", mixing)
    assert [len(array) for array in kept] == [K, K + 1]  # S w_{k−1}, and c_k with c_0
    assert all(array[0].numel() == STATE[mixing] for array in kept)


@pytest.mark.parametrize("mixing", MIXINGS)
def test_an_rsn_keeps_one_array_a_shift(mixing):
    kept = kept_by("rsn", mixing)
    assert [len(array) for array in kept] == [K + 1]
    assert kept[0][0].numel() == STATE[mixing]


@pytest.mark.parametrize("mixing", MIXINGS)
def test_a_gsn_keeps_one_array_a_shift(mixing):
    kept = kept_by("gsn", mixing)
    assert [len(array) for array in kept] == [K]  # S w_{k−1}: gates and w_k are computed again
    assert kept[0][0].numel() == STATE[mixing]


@pytest.mark.parametrize("checkpoint", [1, 3, 4, 10, 100, "sqrt"])
@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("kind", RECURRENT)
def test_a_checkpoint_keeps_a_state_every_so_many_shifts(kind, mixing, checkpoint):
    kept = kept_by(kind, mixing, checkpoint=checkpoint)
    length = 4 if checkpoint == "sqrt" else checkpoint
    assert [len(array) for array in kept] == [math.ceil(K / length)]
    assert kept[0][0, 0].numel() == STATE[mixing]
    assert kept[0].shape[1] <= 2  # w, and c


@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("kind", RECURRENT)
def test_without_a_backward_nothing_is_kept(kind, mixing):
    assert kept_by(kind, mixing, keep=False) == []
    assert kept_by(kind, mixing, keep=False, checkpoint=2) == []


@pytest.mark.parametrize("checkpoint", [1, 3, 4, "sqrt"])
@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("kind", RECURRENT)
def test_the_backward_under_a_checkpoint_has_room_for_one_segment(kind, mixing, checkpoint, monkeypatch):
    alive, most = [], 0

    def counted(shape, dtype):
        nonlocal alive, most
        tensor = torch.empty(shape, dtype=dtype)
        alive = [entry for entry in alive if not entry[0].expired()]
        alive.append((StorageWeakRef(tensor.untyped_storage()), tensor.numel() if shape[-2:] == state else 0))
        most = max(most, sum(size for _, size in alive))
        return tensor

    layer, _ = pair(kind, G, F, K, mixing=mixing, checkpoint=checkpoint)
    state = (N * B, F) if mixing == "dense" else (N, STATE[mixing] // N)
    for module in (scalar, matrix):
        monkeypatch.setattr(module, "empty", counted)
    pool._idle.clear()  # these have their memory already
    layer(signal(B, N, G), ragged(N)).sum().backward()
    length = 4 if checkpoint == "sqrt" else checkpoint
    carried = 2 if layer.trace(signal(N, G), ragged(N)).memories is not None else 1
    starts, segment = math.ceil(K / length) * carried, carried * (length + 1) + 2
    assert starts < most / math.prod(state) <= starts + segment + 3 + 5 * carried


def saved(layer, x, shift):
    """Numbers that autograd holds on to between forward and backward, inputs and weights aside."""
    given = {tensor.untyped_storage().data_ptr() for tensor in (x, *layer.parameters(), *shift.operator)}
    sizes = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in given:
            sizes[storage.data_ptr()] = storage.nbytes() // tensor.element_size()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        y = layer(x, shift)
    return sum(sizes.values()), y


@pytest.mark.parametrize("checkpoint", [None, 1])
def test_a_gcnn_in_horners_order_keeps_no_state(checkpoint):
    shift = ragged(N)
    for K in (2, 20):
        depthwise, _ = pair("gcnn", 3, 3, K, mixing="depthwise", checkpoint=checkpoint)
        x = signal(B, N, 3)
        assert saved(depthwise, x, shift)[0] <= 2 * x.numel() + (K + 1) * B * 3  # x mixed; the weights by column
        bank, _ = pair("gcnn", 3, 2, K, checkpoint=checkpoint)
        assert saved(bank, x, shift)[0] <= 2 * x.numel()


def test_a_gcnn_that_keeps_its_powers_stops_under_a_checkpoint():
    shift, x = ragged(N), signal(B, N, 1)
    wide = {c: saved(pair("gcnn", 1, 4, 20, checkpoint=c)[0], x, shift)[0] for c in (None, 1)}
    assert wide[None] >= 20 * x.numel()
    assert wide[1] <= 2 * x.numel()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mixing", MIXINGS)
def test_under_no_grad_the_peak_does_not_grow_with_the_order(kind, mixing):
    shift, x = cycle(400), signal(5, 400, G)
    peaks = [peak_bytes(pair(kind, G, F, K, mixing=mixing)[0], shift, x) for K in (4, 16)]
    state = x.element_size() * 400 * 5 * F
    assert peaks[1] - peaks[0] < state  # twelve states less one; the weights by column grow a little
