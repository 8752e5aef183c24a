"""Peak memory of one forward and backward, read off a process of its own.

The resident size is sampled while the call runs: the kernel's high-water mark would also count what came before.
"""

import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from shiftstate.bench.cases import Case, Setup

INTERVAL = 0.0005


def resident_bytes() -> int:
    """Memory this process holds now (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Peak:
    """The largest resident size inside the context, beyond that at its beginning."""

    def __enter__(self) -> "Peak":
        self.start = self.most = resident_bytes()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.most = max(self.most, resident_bytes())
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.is_set():
            self.most = max(self.most, resident_bytes())
            time.sleep(INTERVAL)

    @property
    def bytes(self) -> int:
        """What the call needed."""
        return self.most - self.start


def supported() -> bool:
    """Whether this system tells a process its resident size."""
    return Path("/proc/self/statm").exists()


def peak_bytes(case: Case, kernel: str, checkpoint: int | str | None = None) -> int:
    """Peak of one call in a fresh process; compilation happens there beforehand, on a small graph."""
    task = json.dumps({"case": asdict(case), "kernel": kernel, "checkpoint": checkpoint})
    command = [sys.executable, "-c", "from shiftstate.bench.memory import answer; answer()"]
    result = subprocess.run(command, input=task, capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(f"measuring {case.name} failed: {result.stderr.strip().splitlines()[-1:]}")
    return int(result.stdout)


def answer() -> None:
    """The child's side: read a task from standard input, print the bytes."""
    task = json.load(sys.stdin)
    fields = task["case"] | {"channels": tuple(task["case"]["channels"])}
    torch.set_num_threads(1)
    small = Case(**(fields | {"nodes": 64, "edges": 256 if fields["edges"] else None}))
    Setup(small).ours(task["kernel"], task["checkpoint"])()
    run = Setup(Case(**fields)).ours(task["kernel"], task["checkpoint"])
    with Peak() as peak:
        result = run()
    del result
    print(peak.bytes)
