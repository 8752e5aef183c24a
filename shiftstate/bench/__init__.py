"""`shiftstate bench`: the kernels against plain PyTorch, the bare shifts, and PyTorch Geometric, on this machine."""

import platform
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import numba
import torch

from shiftstate.bench import drop_in, memory
from shiftstate.bench.cases import SMALL, TABLE, Case, Setup, large
from shiftstate.bench.drop_in import DropIn
from shiftstate.bench.growth import AXES, GrowthCurve, curve
from shiftstate.bench.timing import EXACT, TOLERANCE, agree, best_times
from shiftstate.checks import check_device

__all__ = ["Memory", "Report", "Row", "run"]

Said = Callable[[str], None]


@dataclass(frozen=True)
class Row:
    """One case: the deviation from the reference, and seconds a forward and backward; none if it deviates too far."""

    case: str
    threads: int
    deviation: float
    seconds: dict[str, float]

    @property
    def plain(self) -> float | None:
        """Seconds of the faster plain PyTorch."""
        return self._fastest("plain")

    @property
    def bare(self) -> float | None:
        """Seconds of the faster 2K bare shifts."""
        return self._fastest("bare")

    def _fastest(self, kind: str) -> float | None:
        return min((t for name, t in self.seconds.items() if name.startswith(kind)), default=None)

    def times_faster_than(self, kind: str) -> float | None:
        """The time of the fastest of another kind of contestant over ours."""
        other = self._fastest(kind)
        return other / self.seconds["ours"] if other and "ours" in self.seconds else None

    @property
    def over_bare(self) -> float | None:
        """Our time over that of the 2K bare shifts."""
        faster = self.times_faster_than("bare")
        return 1 / faster if faster else None


@dataclass(frozen=True)
class Memory:
    """Peak bytes of one forward and backward: reference, fused, and fused with checkpoint="sqrt"."""

    case: str
    reference: int
    fused: int
    checkpointed: int
    checkpointed_time: float
    """Time with checkpoint="sqrt" over that without."""


@dataclass(frozen=True)
class Report:
    """Everything that was measured, with where."""

    machine: dict[str, Any]
    rows: list[Row]
    """One a case on one thread, then the large cases on two."""
    memory: Memory | None
    growth: list[GrowthCurve]
    drop_in: DropIn | None = None
    """None without PyTorch Geometric, and on other devices than the CPU."""

    def to_json(self) -> dict[str, Any]:
        """Plain numbers, the derived ratios included."""
        rows = [
            asdict(row) | {"over_plain": row.times_faster_than("plain"), "over_bare": row.over_bare}
            for row in self.rows
        ]
        return asdict(self) | {"rows": rows}


def machine(device: str) -> dict[str, Any]:
    """What a reader has to know to compare."""
    return {
        "shiftstate": version("shiftstate"),
        "torch": torch.__version__,
        "numba": numba.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": torch.backends.cpu.get_cpu_capability(),
        "device": torch.cuda.get_device_name(device) if torch.device(device).type == "cuda" else "cpu",
    }


def measure(case: Case, device: str, threads: int, repeats: int, said: Said) -> Row:
    """One row; a kernel that fails its comparison with the reference gets no time."""
    torch.set_num_threads(threads)
    setup = Setup(case, device)
    said(f"{case.name}: comparing with the reference")
    deviations = agree(setup)
    deviation, exact = deviations["ours"], deviations.get("ours in float64", 0.0)
    if not (deviation <= TOLERANCE and exact <= EXACT):
        return Row(case.name, threads, max(deviation, exact), {})
    runs = setup.contestants(with_peers=setup.x.device.type == "cpu")
    return Row(case.name, threads, deviation, best_times(runs, repeats, lambda what: said(f"{case.name}: {what}")))


def measure_threads(case: Case, alone: Row, threads: int, repeats: int, said: Said) -> Row:
    """Ours on several threads, of a case that has been compared on one: the numbers are the same."""
    torch.set_num_threads(threads)
    runs = {"ours": Setup(case).ours()} if alone.seconds else {}
    times = best_times(runs, repeats, lambda what: said(f"{case.name}, {threads} threads: {what}"))
    return Row(case.name, threads, alone.deviation, times)


def measure_memory(case: Case, repeats: int, said: Said) -> Memory:
    """Peak memory by kernel, and what checkpointing costs in time."""
    said(f"{case.name}: memory")
    setup = Setup(case)
    times = best_times({"all": setup.ours(), "sqrt": setup.ours("auto", "sqrt")}, repeats, said)
    return Memory(
        case.name,
        reference=memory.peak_bytes(case, "reference"),
        fused=memory.peak_bytes(case, "fused"),
        checkpointed=memory.peak_bytes(case, "fused", "sqrt"),
        checkpointed_time=times["sqrt"] / times["all"],
    )


def run(device: str = "cpu", quick: bool = False, repeats: int = 5, said: Said = lambda what: None) -> Report:
    """Measure everything; ``quick`` takes the same steps in miniature."""
    on_cpu = check_device("device", device).type == "cpu"
    before = torch.get_num_threads()
    try:
        cases = SMALL if quick else TABLE
        rows = [measure(case, device, 1, repeats, said) for case in cases]
        if on_cpu and before > 1:
            pairs = [(case, row) for case, row in zip(cases, rows, strict=True) if case.edges]
            rows += [measure_threads(case, row, 2, repeats, said) for case, row in pairs]
        torch.set_num_threads(1)
        peak = None
        if on_cpu and memory.supported():
            size = (2_000, 8_000) if quick else (50_000, 500_000)
            peak = measure_memory(large("lssm", 32, *size), repeats, said)
        axes = {"K": AXES["K"][:2]} if quick else AXES
        curves = [curve(axis, cases, repeats, said) for axis, cases in axes.items()] if on_cpu else []
        dropped = drop_in.measure(quick, repeats, said) if on_cpu else None
        return Report(machine(device), rows, peak, curves, dropped)
    finally:
        torch.set_num_threads(before)
