"""What workers of the sweep's tests do; a module of its own, because workers import it."""

import os
import signal
import time
from pathlib import Path

from shiftstate.machine.running.engines import work

MARK = "SHIFTSTATE_TEST_MARK"


def die_once(trial, directory=None):
    """The first worker that gets draw 1 dies of it, as by the kernel's out-of-memory killer."""
    mark = Path(os.environ[MARK])
    if trial.repetition == 1 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return work(trial)


def die_always(trial, directory=None):
    """Kills every worker it meets."""
    os.kill(os.getpid(), signal.SIGKILL)


def wait_for_mark(trial, directory=None):
    """Leaves the worker's process number in a file, then waits until the mark is there."""
    mark = Path(os.environ[MARK])
    Path(f"{mark}.{os.getpid()}").touch()
    while not mark.exists():
        time.sleep(0.02)
    return work(trial)


def stop_at_draw_1(trial, directory=None):
    """Never gets past the first draw."""
    return wait_for_mark(trial) if trial.repetition == 1 else work(trial)
