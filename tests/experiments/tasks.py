"""What workers of the sweep's tests do; a module of its own, because workers import it."""

import os
import signal
import time
from pathlib import Path

from shiftstate.experiments.engines import work

MARK = "SHIFTSTATE_TEST_MARK"


def die_once(realization):
    """The first worker that gets draw 1 dies of it, as by the kernel's out-of-memory killer."""
    mark = Path(os.environ[MARK])
    if realization.draw == 1 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return work(realization)


def die_always(realization):
    """Kills every worker it meets."""
    os.kill(os.getpid(), signal.SIGKILL)


def wait_for_mark(realization):
    """Leaves the worker's process number in a file, then waits until the mark is there."""
    mark = Path(os.environ[MARK])
    Path(f"{mark}.{os.getpid()}").touch()
    while not mark.exists():
        time.sleep(0.02)
    return work(realization)


def stop_at_draw_1(realization):
    """Never gets past the first draw."""
    return wait_for_mark(realization) if realization.draw == 1 else work(realization)
