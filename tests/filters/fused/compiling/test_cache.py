"""Kernels are compiled once and kept on disk, where there is one to write to, whoever else is writing to it."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from numba.core import event

from shiftstate.filters.fused.compiling import compiler
from shiftstate.filters.fused.compiling.compiler import announced

READ_ONLY = """
import numba.core.caching
numba.core.caching.CacheImpl._locator_classes = []  # nowhere to write: neither beside the package nor in the home
"""

CHILD = """
import json, torch, shiftstate as ss
from numba.core import event
torch.set_grad_enabled(False)
layer = ss.GCNN(1, 2, 2, mixing="depthwise", kernel="fused")
shift, x = ss.Shift.from_edges([[0, 1, 2], [1, 2, 0]], layout="sparse"), torch.randn(4, 3, 1)
with event.install_recorder("numba:compile") as recorder:
    found = layer(x, shift)
layer.kernel = "reference"
right = torch.allclose(found, layer(x, shift), atol=1e-6)
print(json.dumps([right, sum(event.is_start for _, event in recorder.buffer)]))
"""
LINES = {f"shiftstate: compiling the fused {what} kernels (once; then cached)" for what in ("GCNN", "product")}


def start(cache, program):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", program]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process):
    """How many functions the first call compiled, and what was said on standard error; the numbers have to be right."""
    stdout, stderr = process.communicate(timeout=600)
    assert process.returncode == 0, stderr
    right, compilations = json.loads(stdout)
    assert right
    return compilations, stderr.splitlines()


def test_without_a_place_to_write_kernels_are_compiled_all_the_same(tmp_path):
    compilations, said = finish(start(tmp_path, READ_ONLY + CHILD))
    assert compilations
    assert set(said) <= LINES
    assert not list(tmp_path.iterdir())


def test_two_processes_share_an_empty_cache_and_a_third_finds_it_filled(tmp_path):
    for process in [start(tmp_path, CHILD) for _ in range(2)]:
        compilations, said = finish(process)
        assert compilations or not said
        assert set(said) <= LINES
        assert len(said) == len(set(said))
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb*")}
    assert kept
    assert finish(start(tmp_path, CHILD)) == (0, [])
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb*")} == kept


KERNELS = {
    "inner.py": "from numba import njit\n@njit\ndef inner(x):\n    return {}\n",
    "outer.py": "from shiftstate.filters.fused.compiling.compiler import kernel\nfrom inner import inner\n"
    "@kernel\ndef outer(x):\n    return inner(x)\n",
}
OUTER = """
import sys
from pathlib import Path
from shiftstate.filters.fused.compiling import compiler
compiler.STAMP = compiler.stamp_of(Path(sys.argv[1]))
sys.path.insert(0, sys.argv[1])
from outer import outer
print(outer(1))
"""


def test_a_kernel_is_compiled_again_when_a_function_it_calls_changes_in_another_file(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for value, expected in (("x + 1", "2\n"), ("x + 2", "3\n")):
        for name, text in KERNELS.items():
            if not (tmp_path / name).exists() or "{}" in text:
                (tmp_path / name).write_text(text.format(value))
        command = [sys.executable, "-c", OUTER, str(tmp_path)]
        result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=True)
        assert result.stdout == expected


def test_a_function_without_a_place_for_its_cache_is_compiled_without_one(monkeypatch):
    import numba.core.caching

    monkeypatch.setattr(numba.core.caching.CacheImpl, "_locator_classes", [])

    def double(x):
        return 2 * x

    assert compiler.kernel(double)(21) == 42


class Clock:
    """Timers that ring when a test says so."""

    def __init__(self):
        self.timers = []

    def timer(self, seconds, call):
        timer = SimpleNamespace(call=call, start=lambda: self.timers.append(timer), cancel=lambda: self.cancel(timer))
        assert seconds == 1.0
        return timer

    def cancel(self, timer):
        self.timers.remove(timer)

    def ring(self):
        for timer in self.timers:
            timer.call()


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(compiler, "threading", SimpleNamespace(Timer=clock.timer))
    monkeypatch.setattr(compiler, "_ready", set())
    return clock


def compile_for_long(clock):
    with event.trigger_event("numba:compile"):
        clock.ring()


def test_compilation_is_announced_once_if_it_takes_long(capsys, clock):
    for _ in range(2):
        with announced("LSSM", 1):
            compile_for_long(clock)
    assert capsys.readouterr().err == "shiftstate: compiling the fused LSSM kernels (once; then cached)\n"
    with announced("LSSM", 2):
        compile_for_long(clock)
    assert "LSSM" in capsys.readouterr().err


def test_a_compilation_that_is_over_soon_is_not_announced(capsys, clock):
    with announced("RSN"), event.trigger_event("numba:compile"):
        pass
    clock.ring()
    assert capsys.readouterr().err == ""


def test_a_long_call_that_compiles_nothing_is_not_announced(capsys, clock):
    with announced("RSN"):
        clock.ring()
    assert capsys.readouterr().err == ""


def test_what_is_compiled_for_a_filter_is_announced_with_it_and_not_again(capsys, clock):
    with announced("LSSM"), announced("product"):
        compile_for_long(clock)
    assert capsys.readouterr().err == "shiftstate: compiling the fused LSSM kernels (once; then cached)\n"
    with announced("product"):
        compile_for_long(clock)
    assert "product" in capsys.readouterr().err


def test_a_call_that_fails_is_announced_again(capsys, clock):
    def fail():
        with announced("RSN"):
            compile_for_long(clock)
            raise ZeroDivisionError

    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            fail()
    assert capsys.readouterr().err.count("compiling") == 2
