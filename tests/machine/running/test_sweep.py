"""The sweep: everything is run and recorded, whoever dies on the way."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from shiftstate.errors import SweepError
from shiftstate.machine.running.engines import Pool, make_engine, work
from shiftstate.machine.running.sweep import PATIENCE, sweep
from tests.machine import tasks


def bare(outcome):
    """An outcome without what differs from run to run."""
    return replace(outcome, seconds=0)


def swept(trials, engine, **options):
    found = {}
    sweep(trials, engine, lambda one, outcome: found.setdefault(one, bare(outcome)), **options)
    return found


@pytest.fixture
def planned(trial):
    return [trial(filter=filter, draw=draw) for draw in range(2) for filter in ("gcnn", "rsn", "lssm")]


class Fragile(Executor):
    """Runs at once, but breaks for good at the calls of these numbers."""

    def __init__(self, breaks, counter):
        self.breaks, self.counter, self.broken = breaks, counter, False

    def submit(self, function, /, *arguments):
        self.counter[0] += 1
        if self.broken:
            raise BrokenExecutor
        future = Future()
        if self.counter[0] in self.breaks:
            self.broken = True
            future.set_exception(BrokenExecutor())
        else:
            future.set_result(function(*arguments))
        return future


def fragile(breaks, slots=1):
    counter = [0]
    opened = []

    @contextmanager
    def engine():
        opened.append(1)
        yield Pool(Fragile(breaks, counter), lambda: slots, (BrokenExecutor,))

    return engine, opened


@pytest.mark.parametrize("slots", [1, 2, 10])
def test_what_a_broken_pool_lost_is_handed_out_again_and_nothing_is_recorded_twice(slots):
    engine, opened = fragile({2, 4}, slots)
    recorded = []
    sweep(range(8), engine, lambda one, outcome: recorded.append((one, outcome)), task=lambda one: 10 * one)
    assert sorted(recorded) == [(one, 10 * one) for one in range(8)]
    assert len(opened) >= 2


def test_pools_that_break_again_and_again_with_nothing_done_end_the_sweep():
    engine, opened = fragile(range(1, 100))
    with pytest.raises(SweepError, match=f"died {PATIENCE} times in a row with nothing finished"):
        sweep(range(8), engine, lambda *_: None, task=lambda one: one)
    assert len(opened) == PATIENCE


def test_a_realization_that_fails_ends_the_sweep_and_is_named(here, trial):
    recorded = []

    def task(one):
        if one.repetition == 1:
            raise RuntimeError("no such\ndevice")
        return one

    with pytest.raises(SweepError, match="figure1 gcnn K=4 L=1 graph 0 draw 1 failed: RuntimeError: no such device"):
        sweep([trial(draw=draw) for draw in range(3)], here, lambda one, _: recorded.append(one), task=task)
    assert recorded == [trial(draw=0)]


def test_a_killed_worker_does_not_end_the_sweep(planned, here, tmp_path, monkeypatch):
    monkeypatch.setenv(tasks.MARK, str(tmp_path / "died"))
    found = swept(planned, make_engine("local", 2), task=tasks.die_once)
    assert (tmp_path / "died").exists()
    assert found == swept(planned, here, task=work), "one worker here, two processes there: the same to the last bit"


def test_work_that_kills_every_worker_ends_the_sweep(trial):
    with pytest.raises(SweepError, match="is there enough memory"):
        sweep([trial()], make_engine("local", 1), lambda *_: None, task=tasks.die_always)


def test_workers_end_when_the_sweep_is_interrupted(trial, tmp_path, monkeypatch):
    """Ctrl-C while a worker is busy: the sweep ends at once, and no process is left behind."""
    monkeypatch.setenv(tasks.MARK, str(tmp_path / "mark"))

    def interrupt():
        while not list(tmp_path.glob("mark.*")):
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        sweep([trial()], make_engine("local", 1), lambda *_: None, task=tasks.wait_for_mark)
    (worker,) = (int(path.suffix[1:]) for path in tmp_path.glob("mark.*"))
    assert not psutil.pid_exists(worker)


DASK = """
import sys
from pathlib import Path
from shiftstate.machine.trial import parse_trial
from shiftstate.machine.running.engines import make_engine
from shiftstate.machine.running.sweep import sweep
from shiftstate.studies.paper import STUDY
from tests.machine import tasks

if __name__ == "__main__":
    planned = [parse_trial(STUDY, line) for line in Path(sys.argv[1]).read_text().splitlines()]
    def finished(one, outcome):
        print(one.id, repr(outcome.losses), outcome.last["accuracy"], sep="\\t", flush=True)
    sweep(planned, make_engine("dask", 2), finished, task=tasks.wait_for_mark)
"""


def test_dask_with_two_worker_processes_completes_when_one_is_killed(planned, here, tmp_path):
    pytest.importorskip("distributed")
    (tmp_path / "planned").write_text("\n".join(one.to_json() for one in planned))
    (tmp_path / "run.py").write_text(DASK)
    mark = tmp_path / "mark"
    root = Path(__file__).parents[3]
    path = os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        [sys.executable, str(tmp_path / "run.py"), str(tmp_path / "planned")],
        env={**os.environ, tasks.MARK: str(mark), "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            deadline = time.monotonic() + 300
            while len(busy := list(tmp_path.glob("mark.*"))) < 2:
                assert process.poll() is None, process.stderr.read()
                assert time.monotonic() < deadline, "two workers should have begun by now"
                time.sleep(0.05)
            os.kill(int(busy[0].suffix[1:]), signal.SIGKILL)
        finally:
            mark.touch()  # or the workers would wait, and this test for them
        output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    expected = swept(planned, here, task=work)
    found = dict(line.split("\t", 1) for line in output.splitlines())
    assert found == {one.id: f"{done.losses!r}\t{done.last['accuracy']}" for one, done in expected.items()}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("locl",), "did you mean 'local'"),
        (("local", 0), "workers is 0"),
        (("local", None, "tcp://host:1"), "expected it with --engine dask"),
        (("dask", 2, "tcp://host:1"), "a cluster brings its own workers"),
    ],
)
def test_bad_engines_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_engine(*arguments)


def test_without_dask_its_engine_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ValueError, match=r"pip install 'shiftstate\[dask\]'"), make_engine("dask", 1)():
        pass
