"""An evaluation that is killed, terminated or stopped: no process stays, and what was finished does."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from shiftstate.attribution.evaluation.held_out import SHARED
from shiftstate.texts.array_file import load_arrays
from tests.attribution.books import write_books

ROOT = Path(__file__).parents[2]
CODES = {signal.SIGKILL: -9, signal.SIGTERM: 143, signal.SIGINT: 130}
FOLDS = 16
SOON = 10
"""Seconds; on an idle machine it is less than one."""


def finished_folds(out):
    return [path for path in (out / "folds").glob("*.npz") if path.name != SHARED]


def wait_until(condition, seconds):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


@pytest.fixture(scope="module")
def evaluations(tmp_path_factory):
    """Three at once, by the signal that each will get; all have finished a fold and are busy with others."""
    root = tmp_path_factory.mktemp("signals")
    texts = write_books(root / "texts", ("ann", "bob"), books=FOLDS // 2, words=400)
    command = [sys.executable, "-m", "shiftstate", "attribute", "evaluate", "--texts", str(texts), "--workers", "2"]
    command += ["--words", "auto:12", "--length", "200"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    started = {}
    for number in CODES:
        out = root / number.name
        errors = open(root / f"{number.name}.txt", "w", encoding="utf-8")  # noqa: SIM115 (the process writes to it)
        whole = [*command, "--out", str(out)]
        # a session of its own: Ctrl-C goes to the whole group
        process = subprocess.Popen(whole, env=env, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True)
        errors.close()
        started[number] = process, out, root / f"{number.name}.txt"
    try:
        for process, out, errors in started.values():
            assert wait_until(lambda out=out: finished_folds(out), 120), errors.read_text()
            assert process.poll() is None, errors.read_text()
        yield started
    finally:
        for process, *_ in started.values():
            process.kill()
            process.wait()


@pytest.mark.parametrize("number", CODES, ids=lambda number: number.name)
def test_no_process_outlives_an_evaluation_and_finished_folds_stay(evaluations, number):
    process, out, errors = evaluations[number]
    children = psutil.Process(process.pid).children(recursive=True)
    assert len(children) >= 2
    if number == signal.SIGINT:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    assert process.wait(SOON) == CODES[number]
    assert not psutil.wait_procs(children, SOON)[1]
    assert 0 < len(finished_folds(out)) < FOLDS
    for path in finished_folds(out):
        assert "delta/0" in load_arrays(path, "scores of held-out texts")
    said = errors.read_text()
    assert "Traceback" not in said
    if number != signal.SIGKILL:
        assert said.splitlines()[-1].endswith("what was finished is stored, and the same command goes on from there")
        assert not (out / "folds" / SHARED).exists()
