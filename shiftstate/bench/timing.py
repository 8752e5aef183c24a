"""Times that can be compared: after a check for equality, interleaved, the best of several."""

import math
import time
from collections.abc import Callable

import torch
from torch import Tensor

from shiftstate.bench.cases import Run, Setup

TOLERANCE = 1e-4  # of the largest value, in float32
EXACT = 1e-9  # the same in float64
AT_LEAST = 0.1  # seconds a contestant has in each round, for as many calls as it takes
PATIENCE = 30.0  # seconds for one contestant; slower ones are repeated less


def difference(found: list[Tensor], expected: list[Tensor]) -> float:
    """The largest deviation of any output or gradient, relative to its largest value; infinite if one is NaN."""
    worst = 0.0
    for a, b in zip(found, expected, strict=True):
        a, b = a.detach().to(b.dtype), b.detach()
        deviation = float((a - b).abs().max() / b.abs().max().clamp_min(1e-30))
        worst = math.inf if math.isnan(deviation) else max(worst, deviation)  # max(0, NaN) would be 0
    return worst


def rounded_difference(found: list[Tensor], expected: list[Tensor]) -> float:
    """The same for float32 against float64: the output's largest deviation, and of each gradient the median one.

    Among millions of arguments of a relu a few lie so near to zero that rounding decides their sign. That leaves the
    output as it is, and moves some entries of the gradients in any float32 code, plain PyTorch included.
    """
    worst = difference(found[:1], expected[:1])
    for a, b in zip(found[1:], expected[1:], strict=True):
        deviation = float(((a.detach().to(b.dtype) - b).abs().median() / b.abs().max().clamp_min(1e-30)).detach())
        worst = math.inf if math.isnan(deviation) else max(worst, deviation)
    return worst


def agree(setup: Setup) -> dict[str, float]:
    """How far ours, in both precisions, and plain PyTorch are from the reference in float64 on this very case."""
    expected = setup.in_float64("reference")
    runs = {name: run for name, run in setup.contestants(with_peers=False).items() if not name.startswith("bare")}
    found = {name: rounded_difference(run(), expected) for name, run in runs.items()}
    return found | {"ours in float64": difference(setup.in_float64("auto"), expected)}


def best_times(runs: dict[str, Run], repeats: int, said: Callable[[str], None]) -> dict[str, float]:
    """Seconds a call of each, the best of ``repeats`` rounds; all are called in every round."""
    number, rounds = {}, {}
    for name, run in runs.items():
        said(name)
        once = _timed(run, 1)
        number[name] = max(1, round(AT_LEAST / max(once, 1e-6)))
        rounds[name] = max(2, min(repeats, round(PATIENCE / max(once, 1e-6))))
    best = dict.fromkeys(runs, float("inf"))
    for turn in range(repeats):
        for name, run in runs.items():
            if turn < rounds[name]:
                said(f"{name}, {turn + 1} of {rounds[name]}")
                best[name] = min(best[name], _timed(run, number[name]))
    return best


def _timed(run: Run, number: int) -> float:
    """The fastest of so many calls."""
    best = float("inf")
    for _ in range(number):
        _synchronize()
        start = time.perf_counter()
        run()
        _synchronize()
        best = min(best, time.perf_counter() - start)
    return best


def _synchronize() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
