"""The lock: one run in a directory at a time, and none is locked out by the dead."""

import errno
import os
import signal
import subprocess
import sys

import pytest

from shiftstate.machine.running.lock import locked

HOLD = """
import sys, time
from pathlib import Path
from shiftstate.machine.running.lock import locked
with locked(Path(sys.argv[1])):
    print("locked", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "locked\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_second_process_is_refused_and_told_who_holds_it(holder, tmp_path):
    with pytest.raises(ValueError, match=f"in use by another run \\(process {holder.pid}\\)"), locked(tmp_path):
        pass


@pytest.mark.skipif(os.name == "nt", reason="flock is not Windows'")
def test_a_file_system_without_locks_is_named_as_such(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(ValueError, match=r"cannot be locked \(Function not implemented\)"), locked(tmp_path):
        pass


def test_the_lock_of_a_killed_process_is_free(holder, tmp_path):
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    with locked(tmp_path):
        assert (tmp_path / "lock").read_text() == str(os.getpid())


def test_the_lock_is_free_after_its_context_even_after_an_error(tmp_path):
    with pytest.raises(RuntimeError), locked(tmp_path):
        raise RuntimeError
    with locked(tmp_path):
        pass
