"""One graph in one process, and cut into parts: time and memory of an LSSM's forward and backward, in one run.

    python benchmarks/distributed.py --nodes 1000000 --entries 10000000 --out docs/results/distributed/figures.json

Threads are equal in sum: two processes with one thread each against one process with two. Memory is the resident size,
sampled during the steps. The exchange alone is timed as well: its latency and bandwidth are the constants of the model
in docs/distributed.md.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist

import shiftstate as ss

CHANNELS, K, COMMUNITY, BETWEEN = 32, 16, 1000, 0.02


def communities(nodes, entries):
    """An undirected stochastic block model: communities of 1,000 nodes, 2 % of the edges between any two of them."""
    random = np.random.default_rng(0)
    count = entries // 2
    u = random.integers(nodes, size=count)
    near = u // COMMUNITY * COMMUNITY + random.integers(COMMUNITY, size=count)
    v = np.where(random.random(count) < BETWEEN, random.integers(nodes, size=count), np.minimum(near, nodes - 1))
    return np.concatenate([np.stack([u, v]), np.stack([v, u])], axis=1)


class Sampled:
    """The largest resident size while the context lasts."""

    def __enter__(self):
        self.peak, self._over = 0, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def _look(self):
        page = os.sysconf("SC_PAGE_SIZE")
        while not self._over.wait(0.02):
            self.peak = max(self.peak, int(Path("/proc/self/statm").read_text().split()[1]) * page)

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()


def timed(shift, repeats):
    """Seconds of the fastest step, and the peak of the resident size in all of them."""
    torch.manual_seed(0)
    layer = ss.LSSM(CHANNELS, CHANNELS, K, mixing="depthwise", kernel="fused")
    x = torch.randn(shift.num_nodes, CHANNELS)
    seconds = []
    with Sampled() as sampled:
        for _ in range(repeats + 1):  # the first compiles, or loads, the kernels
            shift.ranks.any(False)
            began = time.perf_counter()
            (layer(x, shift).square().sum() / 1e6).backward()
            shift.ranks.any(False)
            seconds.append(time.perf_counter() - began)
    return {"seconds": min(seconds[1:]), "all_seconds": seconds, "peak_bytes": sampled.peak}


def whole(folder, repeats):
    torch.set_num_threads(2)
    with np.load(folder / "edges.npz") as file:
        shift = ss.Shift.from_edges(file["edges"], num_nodes=int(file["nodes"]), layout="sparse").normalized("row")
    return timed(shift, repeats)


def part(folder, repeats):
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    shift = ss.distributed.load(folder / str(dist.get_world_size())).normalized("row")
    found = timed(shift, repeats) | {"exchange": exchange_alone(shift)}
    every = shift.ranks.said(found)
    dist.destroy_process_group()
    return every


def exchange_alone(shift):
    """Seconds of one exchange of boundary rows, by channels: 1 to 32."""
    found = {}
    for channels in (1, 8, CHANNELS):
        x, seconds = torch.zeros(shift.num_nodes, channels), []
        for _ in range(8):
            shift.ranks.any(False)
            began = time.perf_counter()
            shift.part.exchange.start(x).wait()
            seconds.append(time.perf_counter() - began)
        found[channels] = min(seconds)
    return found


def started(role, folder, count, repeats, threads):
    """Run a role of this file in ``count`` processes; the answer of the first."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = [sys.executable, __file__, "--role", role, "--folder", str(folder), "--repeats", str(repeats)]
    common = os.environ | {"OMP_NUM_THREADS": str(threads), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    worlds = [
        common | {"RANK": str(rank), "WORLD_SIZE": str(count), "GLOO_SOCKET_IFNAME": "lo"} for rank in range(count)
    ]
    running = [subprocess.Popen(command, env=world, stdout=subprocess.PIPE, text=True) for world in worlds]
    answers = [process.communicate()[0] for process in running]
    if any(process.returncode for process in running):
        raise SystemExit(f"{role} in {count} processes failed")
    return json.loads(answers[0].splitlines()[-1])


def measured(nodes, entries, ranks, repeats, folder):
    edges = communities(nodes, entries)
    np.savez(folder / "edges.npz", edges=edges, nodes=nodes)
    shift = ss.Shift.from_edges(edges, num_nodes=nodes, layout="sparse")
    del edges
    found = {"nodes": nodes, "entries": shift.num_edges, "channels": CHANNELS, "K": K, "parts": {}}
    made = {count: ss.distributed.partition(shift, folder / str(count), count) for count in ranks}
    del shift
    # In turn and twice, the faster time counts: a machine is rarely quiet for minutes.
    rounds = []
    for _ in range(2):
        one = started("whole", folder, 1, repeats, 2)
        rounds.append((one, {count: started("part", folder, count, repeats, 1) for count in ranks}))
    found["whole"] = alone = min((one for one, _ in rounds), key=lambda one: one["seconds"])
    alone["peak_bytes"] = min(one["peak_bytes"] for one, _ in rounds)
    print("whole", [one for one, _ in rounds], flush=True)
    for count in ranks:
        every = min((parts[count] for _, parts in rounds), key=lambda every: max(one["seconds"] for one in every))
        seconds, peak = max(one["seconds"] for one in every), max(one["peak_bytes"] for one in every)
        found["parts"][count] = row = {
            "seconds": seconds,
            "time_ratio": seconds / alone["seconds"],
            "peak_bytes": peak,
            "memory_ratio": peak / alone["peak_bytes"],
            "boundary_share": made[count].boundary,
            "bytes_per_shift": made[count].halo * CHANNELS * 4,
            "partition_seconds": made[count].seconds,
            "exchange_seconds": {c: max(one["exchange"][c] for one in every) for c in every[0]["exchange"]},
        }
        print(count, row, flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--role", choices=["whole", "part"])
    parser.add_argument("--folder", type=Path)
    told = parser.parse_args()
    if told.role:
        print(json.dumps({"whole": whole, "part": part}[told.role](told.folder, told.repeats)))
        return
    with tempfile.TemporaryDirectory() as folder:
        found = measured(told.nodes, told.entries, told.ranks, told.repeats, Path(folder))
    if told.out:
        told.out.parent.mkdir(parents=True, exist_ok=True)
        told.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
