"""Run commands on nasty inputs, and judge every one by the same rule.

The rule: a command ends with exit code 2, one line on standard error that names what is wrong, and nothing written;
or with exit code 0 and the numbers of a clean input that means the same. Either within ten seconds and 1 GB.

Cases run one after another in a forked child, where everything is imported already, so that hundreds take seconds. A
case that kills the child (a segmentation fault, the time limit) is found all the same: a new child goes on after it.
"""

import functools
import importlib
import json
import os
import re
import resource
import shutil
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

SECONDS = 10
"""Of the processor: what others do on the machine does not count."""
PATIENCE = 60
"""Seconds by the clock: a command that waits for something takes none of the processor's."""
BYTES = 1_000_000_000
GUARD = 4 * BYTES
"""Address space that a child may take beyond what it has: protects the machine that runs the tests."""

LONGEST = 2100
"""Characters of a message."""

Words = Sequence[object]
Numbers = Callable[[str], Any]
"""The numbers of a command that ended well, from what it printed; called in the case's own folder."""


@dataclass(frozen=True)
class Case:
    """A nasty input: a folder of clean files, what is changed in it, the command, and how that is to end."""

    name: str
    words: Words
    change: Callable[[Path], object] = lambda folder: None
    expected: str = "either"
    """"refused", "same" as the clean command, "either" of them, or "any": other numbers are right too."""
    text: tuple[str, ...] = ()
    """What the message must contain: the name of the file to blame, or the option."""


@dataclass(frozen=True)
class Outcome:
    """How a command ended; the code is negative if it was killed by a signal."""

    code: int
    out: str = ""
    err: str = ""
    grown: int = 0
    changed: Sequence[str] = ()
    numbers: Any = None


def wrong_of(cases: Sequence[Case], clean: Path, folder: Path, usual: Words, numbers: Numbers) -> list[str]:
    """What breaks the rule, a line for each case; empty if all is well.

    Args:
        cases: to be tried.
        clean: a folder of clean files; every case gets a copy.
        folder: an empty one for the copies.
        usual: the command whose numbers on the clean files are the right ones.
        numbers: how to find them.
    """
    get_ready()
    names = [case.name for case in cases]
    assert len(set(names)) == len(names), f"one name for two cases: {sorted({x for x in names if names.count(x) > 1})}"
    first, *rest = outcomes([Case("clean", usual), *cases], clean, folder, numbers)
    assert first.code == 0, f"the clean command fails: {first}"
    judged = [(case.name, _wrong(case, one, first)) for case, one in zip(cases, rest, strict=True)]
    return [f"{name}: {wrong}" for name, wrong in judged if wrong]


READY = (
    *("networkx", "pyarrow.csv", "pyarrow.parquet", "scipy.sparse.csgraph", "sklearn.ensemble", "sklearn.linear_model"),
    *(f"shiftstate.{name}" for name in ("attribution.attributor", "commands", "distributed.node_training")),
    *(f"shiftstate.own_data.{name}" for name in ("comparing", "exporting", "predicting", "left.page")),
)


@functools.cache
def get_ready() -> None:
    """Import what the commands import when they run, so that no child has to, and make their parsers once."""
    import torch
    import typer.main

    for name in READY:
        importlib.import_module(name)
    typer.main.get_command = functools.cache(typer.main.get_command)
    with torch.device("meta"):  # imports a large part of torch
        torch.nn.init.normal_(torch.empty(2))


def _wrong(case: Case, found: Outcome, clean: Outcome) -> str:
    """How an outcome breaks the rule; nothing if it does not."""
    lines = found.err.splitlines()
    if found.code < 0:
        return f"killed by {signal.Signals(-found.code).name}"
    if found.code not in (0, 2):
        return f"exit code {found.code}: {lines[-1:]}"
    if found.grown > BYTES:
        return f"took {found.grown / 1e9:.1f} GB"
    if any(re.search(r"Traceback|Warning|Error\b", line) for line in lines[:-1]):
        return f"standard error holds more than our lines: {lines[:3]}"
    if found.code == 0:
        if case.expected == "refused":
            return f"accepted; expected a line with {case.text}"
        alike = case.expected == "any" or found.numbers == clean.numbers
        return "" if alike else f"accepted, and the numbers differ: {found.numbers!s:.300}"
    if case.expected == "same":
        return f"refused: {lines[-1:]}"
    if not lines or [line.startswith("shiftstate: ") for line in lines].index(True) != len(lines) - 1:
        return f"expected one last line of ours on standard error; got {lines[-3:]}"
    if len(lines[-1]) > LONGEST:
        return f"the message has {len(lines[-1])} characters"
    if lacking := [one for one in case.text if one not in lines[-1]]:
        return f"the message lacks {lacking}: {lines[-1]}"
    return f"refused, and left {list(found.changed)}" if found.changed else ""


def outcomes(cases: Sequence[Case], clean: Path, folder: Path, numbers: Numbers) -> Iterator[Outcome]:
    """How every case ended, in order."""
    done = 0
    while done < len(cases):
        reading, writing = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads in the parent; the child uses none of them
            child = os.fork()
        if not child:
            os.close(reading)
            _serve(cases[done:], clean, folder / f"from {done}", numbers, writing)
        os.close(writing)
        with os.fdopen(reading) as answers:
            for line in answers:
                yield Outcome(**json.loads(line))
                done += 1
        status = os.waitpid(child, 0)[1]
        if done < len(cases):
            assert os.WIFSIGNALED(status), f"the case {cases[done].name!r} cannot be tried; see its traceback"
            yield Outcome(-os.WTERMSIG(status))
            done += 1


def _serve(cases: Sequence[Case], clean: Path, folder: Path, numbers: Numbers, writing: int) -> None:
    """The child: one case after another, a line of JSON for each; never returns."""
    try:
        import torch

        torch.set_num_threads(1)  # threads of OpenMP do not survive a fork
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGPROF):
            signal.signal(number, signal.SIG_DFL)
        warnings.resetwarnings()  # as users have it; pytest makes errors of them
        for kind in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", kind)
        limit = _status("VmSize") + GUARD
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
        shutil.copytree(clean, folder)
        os.chdir(folder)
        files = _listed(folder)
        with os.fdopen(writing, "w") as answers:
            for case in cases:
                outcome = _tried(case, folder, numbers)
                answers.write(json.dumps(asdict(outcome)) + "\n")
                answers.flush()
                _restore(folder, clean, files)
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)
    finally:
        os._exit(0)


def _tried(case: Case, folder: Path, numbers: Numbers) -> Outcome:
    case.change(folder)
    before = _listed(folder)
    base = _forget_peak()
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    code, out, err = called([str(word) for word in case.words], folder)
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    grown = _status("VmHWM") - base
    found = numbers(out) if code == 0 and case.expected in ("same", "either") else None
    return Outcome(code, out, err, grown, _changed(before, _listed(folder)), found)


def _restore(folder: Path, clean: Path, files: dict[str, tuple[int, int]]) -> None:
    """Make a folder again what it was as a copy of the clean one."""
    for name in _changed(files, _listed(folder)):
        path = folder / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
        if name in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(clean / name, path)


def _changed(before: dict[str, tuple[int, int]], after: dict[str, tuple[int, int]]) -> list[str]:
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def called(words: list[str], folder: Path) -> tuple[int, str, str]:
    """`shiftstate …` in this process: its exit code, standard output and standard error, also of compiled code."""
    from shiftstate import cli

    files = [open(folder.with_name(f"{folder.name}.{name}"), "w+b") for name in ("out", "err")]  # noqa: SIM115
    kept = [os.dup(1), os.dup(2)]
    plain = sys.argv, sys.stdout, sys.stderr
    sys.argv = ["shiftstate", *words]
    for number, file in enumerate(files, 1):
        os.dup2(file.fileno(), number)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))
    code = 0
    try:
        cli.main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush(), sys.stderr.flush()
    sys.argv, sys.stdout, sys.stderr = plain
    texts = []
    for number, file in enumerate(files, 1):
        os.dup2(kept[number - 1], number)
        os.close(kept[number - 1])
        file.seek(0)
        texts.append(file.read().decode("utf-8", errors="replace"))
        file.close()
    return code, texts[0], texts[1]


def _listed(folder: Path) -> dict[str, tuple[int, int]]:
    """Everything in a folder: sizes and times of change."""
    found = {}
    for root, folders, files in os.walk(folder):
        for name in (*folders, *files):
            told = os.lstat(Path(root, name))
            found[os.path.relpath(Path(root, name), folder)] = (told.st_size, told.st_mtime_ns)
    return {name: told for name, told in found.items() if not (folder / name).is_dir() or not os.listdir(folder / name)}


def _forget_peak() -> int:
    """Begin to measure the peak of the memory anew; what is in use now, 0 where that cannot be done."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return _status("VmHWM")
    return _status("VmRSS")


def _status(name: str) -> int:
    """A number of this process by the kernel, in bytes."""
    try:
        found = re.search(rf"{name}:\s*(\d+) kB", Path("/proc/self/status").read_text())
    except OSError:  # not Linux
        return 0
    return 1000 * int(found[1]) if found else 0
