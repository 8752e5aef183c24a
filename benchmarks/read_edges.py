"""Ten million edges from a CSV to a Shift: seconds, and the largest resident size, sampled while it is read.

    python benchmarks/read_edges.py [--edges 10000000] [--nodes 1000000]

Two files are made in a temporary folder: node numbers without weights, and node names with weights. Each is read in a
process of its own.
"""

import argparse
import multiprocessing
import tempfile
import threading
import time
from pathlib import Path

import numpy as np


def write(path: Path, edges: int, nodes: int, named: bool) -> None:
    """A random edge list."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv

    random = np.random.default_rng(0)
    columns = {name: pa.array(random.integers(nodes, size=edges)) for name in ("source", "target")}
    if named:
        columns = {name: pc.binary_join_element_wise("n", ids.cast("string"), "") for name, ids in columns.items()}
        columns["weight"] = pa.array(random.random(edges).round(3))
    csv.write_csv(pa.table(columns), path)


def resident() -> float:
    """Bytes of this process in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def measure(path: Path) -> None:
    """Read the file and print what it took."""
    from shiftstate.tables import read_graph

    done, most = threading.Event(), [0.0]

    def sample() -> None:
        while not done.wait(0.01):
            most[0] = max(most[0], resident())

    watcher = threading.Thread(target=sample)
    watcher.start()
    before = time.perf_counter()
    graph = read_graph(path)
    seconds = time.perf_counter() - before
    done.set()
    watcher.join()
    print(f"{path.stem}: {graph.shift}, {path.stat().st_size / 1e6:.0f} MB, {seconds:.1f} s, {most[0] / 1e9:.2f} GB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("numbers", "names_and_weights"):
            file = Path(folder) / f"{kind}.csv"
            write(file, given.edges, given.nodes, kind != "numbers")
            reader = multiprocessing.get_context("spawn").Process(target=measure, args=(file,))
            reader.start()
            reader.join()
            file.unlink()
