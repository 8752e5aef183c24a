"""The report as a table, a JSON file and a picture."""

import io
import json
import os
from pathlib import Path

from rich.console import Console
from rich.table import Table

from shiftstate.bench import Report, Row
from shiftstate.bench.drop_in import DropIn
from shiftstate.files import write_whole


def print_report(report: Report, console: Console) -> None:
    """The tables."""
    console.print(", ".join(f"{key} {value}" for key, value in report.machine.items()))
    table = Table(title="Forward + backward, float32, one thread, best times")
    table.add_column("case", no_wrap=True)
    for column in ("ours", "plain PyTorch", "bare shifts", "faster than plain", "over bare shifts"):
        table.add_column(column, justify="right")
    alone = {row.case: row for row in report.rows if row.threads == 1}
    for row in alone.values():
        table.add_row(row.case, *_cells(row))
    console.print(table)
    for row in report.rows:
        if row.threads > 1 and row.seconds:
            gain = alone[row.case].seconds["ours"] / row.seconds["ours"]
            console.print(f"{row.case}: {row.threads} threads are {gain:.2f} times as fast as one")
        for name in row.seconds:
            if "Conv" in name:
                console.print(f"{row.case}: {row.times_faster_than(name):.1f} times as fast as PyG's {name}")
    if report.memory:
        peak = report.memory
        console.print(
            f"Peak memory, {peak.case}: reference {_mb(peak.reference)}, fused {_mb(peak.fused)} "
            f"(1/{peak.reference / peak.fused:.1f}), checkpoint='sqrt' {_mb(peak.checkpointed)} "
            f"(1/{peak.reference / peak.checkpointed:.1f}) for {peak.checkpointed_time:.2f} times the time"
        )
    for curve in report.growth:
        grown = "" if curve.memory_exponent is None else f", memory as {curve.axis}^{_rounded(curve.memory_exponent)}"
        console.print(f"Growth: ratio to the bare shifts as {curve.axis}^{_rounded(curve.ratio_exponent)}{grown}")
    if report.drop_in:
        _print_drop_in(report.drop_in, console)


def _print_drop_in(found: DropIn, console: Console) -> None:
    size = found.size
    shape = f"N={size.nodes:,} E={size.edges:,} C={size.channels} K={size.K}"
    console.print(f"Layers in PyTorch Geometric, one epoch on the whole graph, one thread: {shape}")
    table = Table()
    for column in ("layer", "graph"):
        table.add_column(column, no_wrap=True)
    for column in ("epoch", "peak memory"):
        table.add_column(column, justify="right")
    for epoch in found.epochs:
        peak = "" if epoch.bytes is None else _mb(epoch.bytes)
        table.add_row(epoch.layer, epoch.form, _ms(epoch.seconds), peak)
    console.print(table)
    times = ", ".join(f"{form} {_ms(seconds)}" for form, seconds in found.converted.items())
    console.print(f"Conversion to S and its transpose, normalised: {times}")


def _cells(row: Row) -> list[str]:
    if not row.seconds:
        return [f"differs by {row.deviation:.0e}: no time", "", "", "", ""]
    faster, over = row.times_faster_than("plain"), row.over_bare
    return [
        _ms(row.seconds["ours"]),
        _ms(row.plain),
        _ms(row.bare),
        f"{faster:.2f}×" if faster else "",
        f"{over:.2f}×" if over else "",
    ]


def _rounded(exponent: float) -> str:
    return f"{round(exponent, 2) + 0.0:.2f}"  # no −0.00


def _ms(seconds: float | None) -> str:
    return "" if seconds is None else f"{1e3 * seconds:,.2f} ms"


def _mb(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"


def _write(path: Path, content: str | bytes) -> None:
    """The file appears whole or not at all."""
    try:
        write_whole(path, content)
    except OSError as error:
        raise ValueError(f"{path} cannot be written ({error}); expected a path in a writable folder") from error


def check_writable(path: Path) -> None:
    """Refuse a place that cannot be written to before anything is measured, not after."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder; expected the path of a file")
    if not os.access(path.absolute().parent, os.W_OK):
        raise ValueError(f"{path} cannot be written; expected a path in a writable folder: missing, or not yours?")


def write_json(report: Report, path: Path) -> None:
    """All numbers; the file appears whole or not at all."""
    _write(path, json.dumps(report.to_json(), indent=1) + "\n")


def plot(report: Report, path: Path) -> None:
    """Growth over K, E, N and C: the ratio to the bare shifts, and peak memory."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    with plt.rc_context({"axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "shiftstate"}):
        figure, axes = plt.subplots(2, len(report.growth), figsize=(3.2 * len(report.growth), 5), squeeze=False)
        for (above, below), curve in zip(axes.T, report.growth, strict=True):
            above.plot(curve.sizes, curve.over_bare, "o-", color="#1f6f8b")
            top = 1.1 * max(curve.over_bare)
            above.set(xscale="log", ylim=(0, top), title=f"{curve.axis}: exponent {_rounded(curve.ratio_exponent)}")
            below.set(xlabel=curve.axis, xscale="log", yscale="log")
            if curve.memory_exponent is not None:
                below.plot(curve.sizes, [size / 1e6 for size in curve.bytes], "o-", color="#c8553d")
                below.set_title(f"exponent {_rounded(curve.memory_exponent)}")
                below.set_yticks([size / 1e6 for size in curve.bytes], [f"{size / 1e6:,.0f}" for size in curve.bytes])
            for axis in (above, below):
                axis.set_xticks(curve.sizes, [f"{size:,}" for size in curve.sizes], fontsize=8)
                axis.minorticks_off()
        axes[0, 0].set_ylabel("time over 2K bare shifts")
        axes[1, 0].set_ylabel("peak memory, MB")
        figure.suptitle("LSSM, sparse graph, depthwise, one thread: growth")
        figure.tight_layout()
        picture = io.BytesIO()
        try:
            figure.savefig(picture, format=path.suffix.removeprefix(".") or None)
        finally:
            plt.close(figure)
    _write(path, picture.getvalue())
