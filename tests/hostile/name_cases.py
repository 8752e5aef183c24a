"""Names of nodes that a careless reader changes or merges: numbers, codes, dates, signs."""

from collections.abc import Callable

from tests.hostile.changes import Change, both, cells
from tests.hostile.clean import NODES
from tests.hostile.forms import case
from tests.hostile.judging import Case
from tests.own_data.towns import N

SCHEMES: dict[str, Callable[[int], str]] = {
    "numbers with gaps": lambda i: str(i * i + 3),
    "codes with zeros": lambda i: f"{i:05d}",
    "7 and 007": lambda i: str(i) if i % 2 == 0 else f"00{i - 1}",
    "the zeros come late": lambda i: str(i + 1) if i < N - 1 else "007",
    "1E2 and 100": lambda i: ("1E2", "100", "1e2", "100.0")[i] if i < 4 else f"{i}",
    "0x10 and 16": lambda i: ("0x10", "16", "0X10")[i] if i < 3 else f"{i + 30}",
    "1 and 1.0": lambda i: f"{i // 2}.0" if i % 2 else f"{i // 2}",
    "+1 and 1": lambda i: f"+{i // 2}" if i % 2 else f"{i // 2}",
    "1_0 and 10": lambda i: ("1_0", "10")[i] if i < 2 else f"{i + 30}",
    "negative numbers": lambda i: str(i - 12),
    "unsigned numbers of 64 bits": lambda i: str(2**64 - 1 - i),
    "numbers beyond 64 bits": lambda i: str(2**64 + i),
    "numbers beyond 53 bits": lambda i: str(2**53 + i),
    "numbers of 40 digits": lambda i: str(10**40 + i),
    "decimals": lambda i: f"{i}.5",
    "decimals of 20 digits": lambda i: f"0.{10**20 + i}",
    "dates": lambda i: f"2020-01-{i + 1:02d}",
    "times": lambda i: f"12:00:{i:02d}",
    "yes and no among words": lambda i: ("true", "false", "True", "yes")[i] if i < 4 else f"w{i}",
    "blanks inside": lambda i: f"town {i} of ours",
    "commas inside": lambda i: f"town,{i}",
    "quotation marks inside": lambda i: f'the "{i}"',
    "semicolons and tabs inside": lambda i: f"a;\t{i}",
    "markup": lambda i: f"[bold]<script>{i}</script>",
    "formulas of a spreadsheet": lambda i: f"=cmd|{i}",
    "emoji": lambda i: "🏘" * (i + 1),
    "composed and decomposed letters": lambda i: ("é", "e\u0301")[i] if i < 2 else f"é{i}",
    "right to left": lambda i: f"\u202e{i}مدينة",
    "long names": lambda i: f"{i}" + "x" * 3000,
    "upper and lower case": lambda i: ("town", "Town", "TOWN", "tOWN")[i] if i < 4 else f"t{i}",
    "names of columns": lambda i: ("source", "target", "town", "side")[i] if i < 4 else f"t{i}",
    "Infinity": lambda i: ("inf", "Infinity", "-inf", "+inf")[i] if i < 4 else f"t{i}",
}
"""Names that a careless reader changes or merges."""

DOUBTFUL: dict[str, Callable[[int], str]] = {
    "NA, null, None, NaN": lambda i: ("NA", "null", "None", "NaN", "N/A", "nan")[i] if i < 6 else f"t{i}",
    "lines inside": lambda i: f"two\nlines {i}",
    "blanks around": lambda i: f" {i} ",
    "zero bytes inside": lambda i: f"a\0{i}",
    "a comment's sign first": lambda i: f"#{i}",
}
"""Names that may be refused, but not changed or merged."""


def _renamed(scheme: Callable[[int], str]) -> Change:
    def change(rows: list[list[str]]) -> None:
        for row in rows[1:]:
            row[:] = [scheme(int(word[4:])) if word[:4] == "town" and word[4:].isdecimal() else word for word in row]

    return both(cells("edges.csv", change), cells("towns.csv", change))


def _late() -> Change:
    """7 and 007, where 007 comes after hundreds of rows of plain numbers."""

    def change(rows: list[list[str]]) -> list[list[str]]:
        early = [row for row in rows[1:] if "007" not in row]
        return [rows[0], *early * 20, *(row for row in rows[1:] if "007" in row)]

    return both(_renamed(SCHEMES["the zeros come late"]), cells("edges.csv", change))


NAMED = ("--name", "town")
CASES: list[Case] = [
    *(case(NODES, "same", f"names: {name}", _renamed(scheme), *NAMED) for name, scheme in SCHEMES.items()),
    case(NODES, "same", "names: the zeros come after hundreds of rows", _late(), *NAMED),
    *(case(NODES, "either", f"guessed names: {name}", _renamed(scheme)) for name, scheme in SCHEMES.items()),
    *(case(NODES, "either", f"names: {name}", _renamed(scheme), *NAMED) for name, scheme in DOUBTFUL.items()),
]
