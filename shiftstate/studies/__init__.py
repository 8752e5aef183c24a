"""What is studied: every study of the package, by name. A study is imported when it is asked for."""

from typing import NamedTuple


class Entry(NamedTuple):
    """Where a study is, and what its results call its experiments."""

    module: str
    """Defines ``STUDY``."""
    experiments: tuple[str, ...]


STUDIES = {
    "paper": Entry("shiftstate.studies.paper", ("figure1", "table1", "table2")),
    "minesweeper": Entry("shiftstate.studies.minesweeper", ("minesweeper",)),
    "ring": Entry("shiftstate.studies.ring", ("ring",)),
    "unbroken": Entry("shiftstate.studies.unbroken", ("unbroken",)),
    "boards": Entry("shiftstate.studies.boards", ("boards",)),
    "readings": Entry("shiftstate.studies.readings", ("readings",)),
}
