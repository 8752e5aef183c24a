"""The command line's entry: whatever happens, one line on standard error and an exit code that says what it was."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import suppress

import pytest

from shiftstate import cli, commands
from shiftstate.errors import SweepError, keep

SLOW_IMPORT = """
import sys, time
class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "shiftstate.commands":
            print("importing", flush=True)
            time.sleep(60)
sys.meta_path.insert(0, Slow())
from shiftstate.cli import main
main()
"""


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (ValueError("K is -1;\n expected more"), 2, "shiftstate: K is -1; expected more\n"),
        (OSError(28, "No space left on device"), 1, "No space left on device"),
        (sqlite3.OperationalError("database is locked"), 1, "database is locked"),
        (SweepError("workers died"), 1, "workers died"),
        (KeyboardInterrupt(), 130, "stopped"),
        (cli.Terminated(), 143, "terminated"),
    ],
)
@pytest.mark.parametrize("stored", [True, False])
def test_an_error_is_one_line_and_an_exit_code_with_advice_where_something_is_stored(
    error, code, line, stored, monkeypatch, capsys
):
    def fail(*_, **__):
        if stored:
            keep()
        raise error

    monkeypatch.setattr(commands, "app", fail)
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert signal.getsignal(signal.SIGTERM) is before
    shown = capsys.readouterr().err
    assert caught.value.code == code
    assert line in shown
    assert shown.endswith("; what was finished is stored, and the same command goes on from there\n") == (
        stored and code != 2
    )
    assert shown.count("\n") == 1


def test_a_signal_that_typer_took_for_ctrl_c_keeps_its_code(monkeypatch, capsys):
    def stopped(*_, **__):
        with suppress(cli.Terminated):
            os.kill(os.getpid(), signal.SIGTERM)
            signal.sigtimedwait([], 1)  # the handler runs here at the latest
        return 130

    monkeypatch.setattr(commands, "app", stopped)
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 143
    assert capsys.readouterr().err == "shiftstate: terminated\n"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_in_the_midst_of_imports_is_one_line(number, code):
    child = subprocess.Popen(
        [sys.executable, "-c", SLOW_IMPORT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "importing\n"
    os.kill(child.pid, number)
    _, shown = child.communicate(timeout=300)
    assert child.returncode == code
    assert shown.startswith("shiftstate: ")
    assert shown.count("\n") == 1


def test_the_package_runs_as_a_module():
    command = [sys.executable, "-m", "shiftstate", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("shiftstate 0")
