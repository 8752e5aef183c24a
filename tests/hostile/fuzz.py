"""Feed the readers with inputs that a fuzzer makes up, led by the code that they reach: `make fuzz`.

Every reader is called as the commands call it, on a file of random bytes that began as a clean one. It may raise a
`ValueError` of one line that names the file, or give something; anything else is a find: another exception, a crash,
more than ten seconds, more than 2 GB. A find is kept in FOLDER/finds, to become a case of the corpus.

    python tests/hostile/fuzz.py FOLDER [--seconds 3600]
"""

import argparse
import contextlib
import hashlib
import os
import resource
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import atheris

LED_BY = [
    *("shiftstate.tables", "shiftstate.texts", "shiftstate.own_data", "shiftstate.attribution.attributor"),
    *(
        "shiftstate.model_file",
        "shiftstate.json_file",
        "shiftstate.files",
        "shiftstate.limits",
        "shiftstate.estimators",
    ),
    *("shiftstate.distributed.parts", "shiftstate.machine.parsing", "zipfile", "html.parser", "tomllib"),
    *("numpy.lib._format_impl", "networkx.readwrite"),
]
"""Modules whose branches lead the fuzzer; compiled kernels are none of them."""

with atheris.instrument_imports(include=LED_BY):
    from shiftstate.attribution.attributor import Attributor
    from shiftstate.distributed.parts.folder import read_manifest
    from shiftstate.estimators.storage import read_estimator
    from shiftstate.own_data.asking.config import read_config
    from shiftstate.own_data.left.leaving import read_metrics, read_settings
    from shiftstate.own_data.predicting import stored_graph
    from shiftstate.tables import read_blocks, read_graph, read_matrix, read_table
    from shiftstate.texts.readers import read_document

SECONDS, BYTES, LARGEST = 10, 2_000_000_000, 20_000


def _values(path: Path) -> None:
    """A table, and every column as text and as numbers."""
    table = read_table(path)
    for name in table.columns:
        table.strings(name)
        with contextlib.suppress(ValueError):
            table.numbers(name)


def _run_file(name: str, read: Callable[[Path], Any]) -> Callable[[Path], Any]:
    """A reader of a folder in which the file has a name of its own."""

    def call(path: Path) -> None:
        folder = path.with_name("folder")
        folder.mkdir(exist_ok=True)
        shutil.copyfile(path, folder / name)
        read(folder)

    return call


READERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "table.csv": (".csv", _values),
    "table.parquet": (".parquet", _values),
    "table.npz": (".npz", _values),
    "blocks.csv": (".csv", lambda path: list(read_blocks(path))),
    "graph.csv": (".csv", read_graph),
    "graph.txt": (".txt", read_graph),
    "graph.npz": (".npz", read_graph),
    "graph.npy": (".npy", read_graph),
    "graph.mtx": (".mtx", read_graph),
    "graph.graphml": (".graphml", read_graph),
    "graph.parquet": (".parquet", read_graph),
    "matrix.npz": (".npz", read_matrix),
    "matrix.npy": (".npy", read_matrix),
    "matrix.mtx": (".mtx", read_matrix),
    "run.toml": (".toml", read_config),
    "model.safetensors": (".safetensors", read_estimator),
    "attribution": (".model", Attributor.load),
    "metrics.json": (".json", _run_file("metrics.json", read_metrics)),
    "settings.json": (".json", _run_file("settings.json", read_settings)),
    "partition.json": (".json", _run_file("partition.json", read_manifest)),
    "stored graph": (".npz", _run_file("graph.npz", stored_graph)),
    **{f"text{kind}": (kind, read_document) for kind in (".txt", ".html", ".docx", ".epub", ".xml")},
}
"""By name: the ending of the file, and what reads it. The first byte of an input chooses one."""
NAMES = list(READERS)


class Finds:
    """What broke the rule, one file for each place in the code."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "finds"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.seen: set[str] = set()

    def keep(self, name: str, data: bytes, why: str, where: str) -> None:
        """Store an input and why it is a find, once for each reader and place."""
        key = hashlib.sha256(f"{name} {where}".encode()).hexdigest()[:10]
        if key in self.seen:
            return
        self.seen.add(key)
        stem = f"{name.replace(' ', '_')}-{key}"
        (self.folder / stem).write_bytes(data)
        (self.folder / f"{stem}.why").write_text(f"{name}\n{why}\n")
        print(f"find: {name}: {why.splitlines()[-1][:150]}", flush=True)


def try_one(data: bytes, place: Path, finds: Finds) -> None:
    """One input to the reader that its first byte chooses."""
    if not 1 < len(data) <= LARGEST:
        return
    name = NAMES[data[0] % len(NAMES)]
    ending, read = READERS[name]
    path = place / f"input{ending}"
    path.write_bytes(data[1:])
    began = time.monotonic()
    try:
        read(path)
    except ValueError as error:
        if type(error) is not ValueError or len(str(error).splitlines()) != 1 or place.name not in str(error):
            finds.keep(name, data[1:], traceback.format_exc(), _place(error))
    except Exception as error:
        finds.keep(name, data[1:], traceback.format_exc(), _place(error))
    if time.monotonic() - began > SECONDS / 2:
        finds.keep(name, data[1:], f"took {time.monotonic() - began:.1f} s", "slow")


def _place(error: BaseException) -> str:
    """Where an exception was raised, in our code."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "shiftstate" in frame.filename]
    return f"{type(error).__name__} {frames[-1].filename}:{frames[-1].name}" if frames else type(error).__name__


def seeds(folder: Path) -> int:
    """Clean files for the fuzzer to begin with, each behind the byte that chooses its reader."""
    from tests.hostile.seeds import clean_inputs

    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for name, contents in clean_inputs().items():
        for number, content in enumerate(contents):
            (folder / f"{name.replace(' ', '_')}-{number}").write_bytes(bytes([NAMES.index(name)]) + content)
            count += 1
    return count


def main() -> None:
    """Run the fuzzer for some time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=int, default=3600)
    given = parser.parse_args()
    finds = Finds(given.folder)
    print(f"{seeds(given.folder / 'inputs')} clean files for {len(NAMES)} readers", flush=True)
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (_size() + BYTES, resource.RLIM_INFINITY))
    with tempfile.TemporaryDirectory() as place:
        options = [f"-max_total_time={given.seconds}", f"-max_len={LARGEST}", "-rss_limit_mb=6000", "-verbosity=0"]
        options += [f"-timeout={SECONDS}", f"-artifact_prefix={finds.folder}/", "-print_final_stats=1"]
        atheris.Setup(
            [sys.argv[0], *options, str(given.folder / "inputs")],
            lambda data: try_one(data, Path(place), finds),
            enable_python_coverage=True,
        )
        atheris.Fuzz()


def _size() -> int:
    return 1000 * next(
        int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmSize")
    )


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    main()
