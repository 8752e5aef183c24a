"""Nasty things in the place of every file that `shiftstate train` reads."""

from tests.hostile.changes import ANY_FILE, both, put
from tests.hostile.clean import NODES, SERIES, SIGNALS
from tests.hostile.forms import refused
from tests.hostile.judging import Case

# Any file in any place: what the option is, the command, and the file's names by kind
PLACES = [
    ("--edges", NODES, "edges", ("csv", "tsv", "txt", "parquet", "npz", "npy", "mtx", "graphml")),
    ("--nodes", NODES, "towns", ("csv", "parquet", "npz")),
    ("--features", NODES, "features", ("csv", "parquet", "npz", "npy", "mtx")),
    ("--signals", SERIES, "series", ("csv", "parquet", "npz", "npy", "mtx")),
    ("--targets", SIGNALS, "targets", ("csv", "parquet")),
]


def _made() -> list[Case]:
    found = []
    for place, (option, base, stem, kinds) in enumerate(PLACES):
        for kind, ending in enumerate(kinds):
            for number, (name, make) in enumerate(ANY_FILE.items()):
                # text formats share a reader, and so do archives: a third of the product meets every reader and thing
                if (place + kind + number) % 3 and ending not in ("csv", "npz"):
                    continue
                file = f"{stem}.bad.{ending}"
                change = both(put(file, b"x"), make(file))
                matrix = ("--signals", "signals.npy", "--nodes", "towns.csv") if option == "--targets" else ()
                found.append(refused(base, file, name, change, *matrix, option, file))
    return found


CASES = _made()
