"""How time and memory grow with K, E, N and C: one is varied, the others stay, and a power law is fitted."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from shiftstate.bench import memory
from shiftstate.bench.cases import Case, Setup, large
from shiftstate.bench.timing import best_times

BASE = large("lssm", 16, 20_000, 200_000)
AXES: dict[str, tuple[Case, ...]] = {
    "K": tuple(replace(BASE, K=K) for K in (8, 16, 32, 64)),
    "E": tuple(replace(BASE, edges=E) for E in (100_000, 200_000, 400_000, 800_000)),
    "N": tuple(replace(BASE, nodes=N, edges=10 * N) for N in (10_000, 20_000, 40_000, 80_000)),
    "C": tuple(replace(BASE, channels=(C, C)) for C in (16, 32, 64, 128)),
}


@dataclass(frozen=True)
class GrowthCurve:
    """One axis: sizes, seconds, ratios to the bare shifts at the same size, bytes, and the fitted exponents."""

    axis: str
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]
    over_bare: tuple[float, ...]
    bytes: tuple[int, ...]
    ratio_exponent: float
    memory_exponent: float | None


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The slope of log value against log size, by least squares."""
    x, y = [math.log(size) for size in sizes], [math.log(max(value, 1e-30)) for value in values]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y, strict=True)) / sum((a - mx) ** 2 for a in x)


def curve(axis: str, cases: Sequence[Case], repeats: int, said: Callable[[str], None]) -> GrowthCurve:
    """Measure one axis."""
    sizes = [{"K": c.K, "E": c.edges or 0, "N": c.nodes, "C": c.channels[1]}[axis] for c in cases]
    seconds, ratios, peaks = [], [], []
    for size, case in zip(sizes, cases, strict=True):
        setup = Setup(case)
        runs = {"ours": setup.ours(), **setup.bare()}
        times = best_times(runs, repeats, lambda what, size=size: said(f"{axis} = {size:,}: {what}"))  # type: ignore[misc]
        seconds.append(times["ours"])
        ratios.append(times["ours"] / min(times["bare 1"], times["bare 2"]))
        if memory.supported():
            said(f"{axis} = {size:,}: memory")
            peaks.append(memory.peak_bytes(case, "auto"))
    return GrowthCurve(
        axis,
        tuple(sizes),
        tuple(seconds),
        tuple(ratios),
        tuple(peaks),
        exponent(sizes, ratios),
        exponent(sizes, peaks) if peaks else None,
    )
