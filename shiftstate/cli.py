"""The command line's entry: every error is one line, without a traceback."""

import signal
import sys
from types import FrameType
from typing import Any, NoReturn

from shiftstate.errors import Kept, resume_advice

LONGEST = 2000
"""Characters of a message on standard error."""


class Terminated(KeyboardInterrupt):
    """SIGTERM: to be handled like Ctrl-C, except for the exit code."""


def main() -> None:
    """Run the command line.

    Exit codes: 2 for bad input, 1 for a run that could not go on, 3 for an inspection whose score differs from the
    recorded one, 130 for Ctrl-C, 143 for SIGTERM.
    """
    Kept.some = False
    came: list[int] = []  # typer makes one exit code of Ctrl-C and SIGTERM

    def terminate(number: int, frame: FrameType | None) -> NoReturn:
        came.append(number)
        raise Terminated

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        _run()
    except KeyboardInterrupt as error:
        if came or isinstance(error, Terminated):
            _fail(f"terminated{resume_advice()}", 143)
        _fail(f"stopped{resume_advice()}", 130)
    except ValueError as error:
        _fail(str(error), 2)
    except OSError as error:
        _fail(f"{error}{resume_advice()}", 1)
    finally:
        signal.signal(signal.SIGTERM, before)


def _run() -> None:
    """Imports happen here, so that Ctrl-C in their midst is one line as well."""
    import sqlite3

    import typer

    from shiftstate.commands import app
    from shiftstate.errors import SweepError

    # typer carries a copy of click under a private name; this is the base of its complaints about arguments
    ClickException: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
    try:
        code = app(_arguments(sys.argv[1:]), standalone_mode=False)
    except ClickException as error:
        _fail(error.format_message(), 2)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except (sqlite3.Error, SweepError) as error:
        _fail(f"{error}{resume_advice()}", 1)
    if code == 130:  # how newer versions of typer report Ctrl-C
        raise KeyboardInterrupt
    if code:
        sys.exit(code)


def _arguments(given: list[str]) -> list[str]:
    """`train` of a partitioned graph, told by --graph, is a command of its own with other options."""
    partitioned = any(one.partition("=")[0] == "--graph" for one in given)
    return ["train-graph", *given[1:]] if given[:1] == ["train"] and partitioned else given


def _fail(message: str, code: int) -> NoReturn:
    from shiftstate.files import printable

    line = printable(" ".join(message.split()))
    if len(line) > LONGEST:  # a message shows what was got, which may be a whole file
        line = f"{line[: LONGEST // 2]} … {line[-LONGEST // 2 :]}"
    if line:  # empty where the help was shown instead
        print(f"shiftstate: {line}", file=sys.stderr)
    sys.exit(code)
