"""What commands say while they run."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape


def plain_console(stderr: bool = False, wrap: bool = True) -> Console:
    """A console for text as it is: no markup, no colours by guess; a table is 140 columns wide without a terminal."""
    width = None if wrap or sys.stdout.isatty() else 140
    return Console(stderr=stderr, soft_wrap=wrap, width=width, highlight=False, markup=False)


@contextmanager
def telling() -> Iterator[Callable[[str], None]]:
    """Steps as they come: one changing line on a terminal, lines elsewhere; both on standard error."""
    console = plain_console(stderr=True)
    if not console.is_terminal:
        yield console.print
        return
    with console.status("") as status:
        yield lambda line: status.update(escape(line))
