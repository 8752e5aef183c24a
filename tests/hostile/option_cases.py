"""Nasty options and files of settings for `shiftstate train`: refused before anything is written."""

from pathlib import Path

from tests.hostile.changes import ANY_FILE, edit
from tests.hostile.clean import NODES, SERIES
from tests.hostile.judging import Case

LARGE = "99999999999999999999"
NODE_OPTIONS: dict[str, tuple[str, ...]] = {
    "--K": ("", ",", "-1", "1.5", "a", "1,1", "1,a", LARGE, "10000000", "nan", "1 2", "0x1", "1e1"),
    "--seeds": ("0", "-1", "1.5", "a", "", "100000000", LARGE),
    "--seed": ("-1", "4294967296", "1.5", "", LARGE),
    "--epochs": ("0", "-1", "a", "", "1.5"),
    "--metric": ("", "nope", "rmse", "accuracy,roc_auc"),
    "--filter": ("", "nope", ",", "gcnn,,rsn", "gcnn,gcnn", "GCNN", "../gcnn"),
    "--fractions": ("", "1", "0.5,0.5", "0.5,0.5,0", "-1,1,1", "nan,nan,nan", "inf,0,0", "0.6,0.2,0.3", "a,b,c"),
    "--task": ("", "nope", "forecast ", "NODE-CLASSIFICATION"),
    "--missing": ("", "nope", "zero"),
    "--split": ("split,split", "split,nope"),
    "--groups": ("side",),
    "--workers": ("0", "-1", "a"),
    "--engine": ("", "nope"),
    "--out": ("towns.csv", "towns.csv/run", "/dev/null", "/dev/null/run"),
    "--config": ("", "nope.toml", "towns.csv", "."),
    "--set": (
        *("channels=-1", "channels=0", "channels=1.5", "channels=1e9", "channels=10000000000", "channels=x"),
        *("channels=true", "channels=[4]", "channels={}", "channels=", "channels=nan", "channels"),
        *("layers=0", "layers=-1", "layers=1000000000", "layers=1.5", "members=0", "members=1000000000"),
        *("dropout=2", "dropout=-1", "dropout=nan", "dropout=x", "dropout=1"),
        *("learning_rate=-1", "learning_rate=nan", "learning_rate=inf", "learning_rate=x", "learning_rate=0"),
        *("weight_decay=-1", "weight_decay=nan", "patience=0", "patience=-1", "patience=1.5"),
        *("batch_size=-1", "batch_size=0", "batch_size=1.5", "schedule=nope", "clip=-1", "clip=nan"),
        *("input=nope", "input=3", "mixing=nope", "normalization=nope", "scale=nope", "epochs=7"),
        *("K=3", "K=[2.7]", "K=2.7", "random_state=3", "filter=rsn", "shift=1", "width=5", "=3", "", "a b=1"),
        *("__class__=1", "self=1", "linear=maybe", "encode=3", "around=x"),
    ),
}
SERIES_OPTIONS: dict[str, tuple[str, ...]] = {
    "--history": ("0", "-1", "500", "149", "1000000000", LARGE, "", "1.5"),
    "--horizons": ("0", "", ",", "-1", "1.5", "500", "1,1", "0,1", "1000000000", LARGE, "a"),
    "--period": ("0", "-1", "", "a"),
    "--set": ("history=500", "horizons=0", "horizons=[1.5]", "missing=nope", "validation_fraction=2"),
}
"""Values that cannot be meant, by option."""


def _options(base: tuple[str, ...], options: dict[str, tuple[str, ...]]) -> list[Case]:
    """The message names the option, or for --set the argument; of files and columns their own cases say more."""
    found = []
    for option, values in options.items():
        for value in values:
            name = value.partition("=")[0] or "set" if option == "--set" else option[2:]
            text = () if option in ("--out", "--config", "--groups", "--split") else (name,)
            found.append(Case(f"{option} {value!r}", (*base, option, value), lambda folder: None, "refused", text))
    return found


TOML = "run.toml"
CONFIG = ("train", "--config", TOML, "--workers", "1")


def settings(text: str, *says: str) -> Case:
    """A file of settings with a line in place of the one with the same key, or with more lines."""

    def change(folder: Path) -> None:
        key = text.partition("=")[0].strip()
        lines = (folder / TOML).read_text().splitlines()
        lines = [line for line in lines if line.partition("=")[0].strip() != key]
        (folder / TOML).write_text("\n".join([*lines, text]) + "\n")

    return Case(f"run.toml: {text[:40]!r}", CONFIG, change, "refused", says)


VALUES: dict[str, tuple[str, ...]] = {
    "K": (
        "[2.7]",
        "2.7",
        "[]",
        "['a']",
        "[[1]]",
        "{}",
        "true",
        "[true]",
        "nan",
        "-1",
        "[1, 1]",
        "1e9",
        "10000000",
        "''",
    ),
    "edges": ("3", "[]", "{}", "''", "true", "1.5"),
    "out": ("''", "3", "[]"),
    "task": ("'nope'", "''", "3", "['forecast']"),
    "target": ("3", "[]"),
    "split": ("3.5", "[['split']]", "['split', 'split']", "{}", "true"),
    "seeds": ("1.0", "true", "0", "-1", "100000000", "'3'"),
    "seed": ("-1", "4294967296", "1.5", "true", "'0'"),
    "epochs": ("0", "'many'", "inf", "true", "2.0"),
    "directed": ("1", "'yes'", "[]"),
    "fractions": ("[nan, nan, nan]", "[0.5, 0.5]", "1", "[]", "'a'", "[true, true, true]"),
    "filter": ("[]", "['']", "3", "{}", "['nope']", "[['gcnn']]"),
    "metric": ("''", "['accuracy']", "3", "'nope'"),
    "missing": ("true", "''", "'nope'", "[]"),
    "model": ("3", "[]", "'a'"),
}
"""Values of a file of settings that cannot be meant, by key."""
TABLES = {
    "K = 3": "K", "channels = -1": "channels", "channels = 2020-01-01": TOML, "width = 3": "width",
    "batch_size = -1": "batch_size", "input = 'nope'": "input", "random_state = 3": "random_state",
    "filter = 'rsn'": "filter", "epochs = 9": "epochs", "channels = [3]": "channels", "channels = {a = 1}": "channels",
}  # fmt: skip
BROKEN = (
    *("date = 2020-01-01", "options = {}", "a.b.c = 1", "[[model]]\nchannels = 3", "[nope]\na = 1", "task", "= 3"),
    *("x = [", "K = 1\nK = 2", "a = " + "[" * 5000, "a = " + "{a=" * 3000, "x = 1e", "'''", "\0", "edgs = 'a'"),
)
SETTINGS = [
    *(settings(f"{key} = {value}", key) for key, values in VALUES.items() for value in values),
    *(settings(f"[model]\n{line}", name) for line, name in TABLES.items()),
    *(settings(line, TOML) for line in BROKEN),
    Case("run.toml: not UTF-8", CONFIG, edit(TOML, lambda data: data + b"# \xff\n"), "refused", (TOML,)),
    *(Case(f"run.toml: {name}", CONFIG, make(TOML), "refused", (TOML,)) for name, make in ANY_FILE.items()
      if name not in ("empty", "an empty device")),
]  # fmt: skip

CASES = _options(NODES, NODE_OPTIONS)
FORECASTS = _options(SERIES, SERIES_OPTIONS)
