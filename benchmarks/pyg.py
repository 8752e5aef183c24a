"""The part of `shiftstate bench` on PyTorch Geometric alone: an epoch and its memory at two million edges, conversion.

python benchmarks/pyg.py [FILE.json]
"""

import sys
from pathlib import Path

import torch
from rich.console import Console

from shiftstate.bench import Report, drop_in, machine
from shiftstate.bench.show import check_writable, print_report, write_json


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    if path:
        check_writable(path)
    torch.set_num_threads(1)
    console = Console(width=140, highlight=False, markup=False)
    found = drop_in.measure(False, 3, Console(stderr=True, highlight=False, markup=False).print)
    report = Report(machine("cpu"), [], None, [], found)
    print_report(report, console)
    if path:
        write_json(report, path)


if __name__ == "__main__":
    main()
