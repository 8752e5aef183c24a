"""No kernel reads memory before it has written it: filled with NaN instead of leftovers, nothing changes."""

import importlib
import pkgutil
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from shiftstate.filters import fused
from shiftstate.filters.fused.cells.gcnn import bank, depthwise
from shiftstate.filters.fused.memory import buffers, pool
from shiftstate.filters.fused.products import matrices, shifts
from shiftstate.filters.fused.recurrences import matrix, scalar
from shiftstate.layers.options import MIXINGS
from tests.filters.fused.comparison import (
    CHEBYSHEV,
    VARIANTS,
    assert_identical,
    label,
    pair,
    ragged,
    results,
    signal,
)

MODULES = (bank, depthwise, matrix, shifts, scalar)


def poisoned(shape, dtype):
    return torch.full(tuple(shape), torch.nan, dtype=dtype)


@pytest.fixture
def poison(monkeypatch):
    """Call it to fill all scratch memory with NaN from then on; kernels have to be compiled by then."""

    def fill():
        arrays = SimpleNamespace(**{**vars(np), "empty": lambda *args: np.full(args[0], np.nan, *args[1:])})
        for module in (*MODULES, matrices):  # whose partial sums are NumPy's
            for name, memory in (("empty", poisoned), ("np", arrays)):
                if hasattr(module, name):
                    monkeypatch.setattr(module, name, memory)
        pool._idle.clear()  # these have their memory already

    return fill


def test_every_module_that_asks_for_memory_is_poisoned():
    names = [info.name for info in pkgutil.walk_packages(fused.__path__, f"{fused.__name__}.")]
    modules = [importlib.import_module(name) for name in names]
    assert {m for m in modules if getattr(m, "empty", None) is buffers.empty} - {buffers} == set(MODULES)


@pytest.mark.parametrize(("layout", "checkpoint"), [("dense", None), ("sparse", None), ("sparse", 2)])
@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize(("kind", "options"), VARIANTS + CHEBYSHEV, ids=label)
def test_poisoned_memory_changes_no_bit(kind, options, mixing, layout, checkpoint, poison):
    # 60 nodes of 600 columns: two tiles, two blocks of rows, the partial sums of each in scratch memory
    sizes = [(ragged(60, layout=layout), signal(200, 60, 2)), (ragged(7, layout=layout), signal(7, 2))]
    layers = [pair(kind, 2, 3, K, mixing=mixing, checkpoint=checkpoint, **options)[0] for K in (0, 1, 3)]
    clean = [results(layer, x, shift) for layer in layers for shift, x in sizes]
    poison()
    for expected, found in zip(
        clean, [results(layer, x, shift) for layer in layers for shift, x in sizes], strict=True
    ):
        assert all(torch.isfinite(value).all() for value in expected.values())
        assert_identical(found, expected)


@pytest.mark.parametrize(("layout", "checkpoint"), [("dense", None), ("sparse", None), ("sparse", 2)])
@pytest.mark.parametrize("mixing", ["bank", "dense"])
@pytest.mark.parametrize(("kind", "options"), VARIANTS + CHEBYSHEV, ids=label)
def test_a_call_leaves_nothing_behind_for_the_next(kind, options, mixing, layout, checkpoint):
    layer, _ = pair(kind, 2, 3, 3, mixing=mixing, checkpoint=checkpoint, **options)
    shift, x = ragged(7, layout=layout), signal(2, 7, 2)
    clean = results(layer, x, shift)
    for _ in range(2):
        assert not results(layer, torch.full_like(x, torch.nan), shift)["output"].isfinite().any()
        with torch.no_grad():
            layer(torch.full_like(x, torch.inf), shift)
        assert_identical(results(layer, x, shift), clean)


def test_the_poison_is_felt(poison):
    layer, _ = pair("lssm", 2, 3, 3)
    results(layer, signal(7, 2), ragged(7))
    poison()
    assert torch.isnan(scalar.empty((2, 3), torch.float64)).all()
    assert np.isnan(scalar.np.empty((2, 3), np.float32)).all()
