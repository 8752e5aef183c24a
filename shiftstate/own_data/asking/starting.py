"""`shiftstate train --init`: a commented TOML file of settings from the data that it is shown."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shiftstate.files import write_whole
from shiftstate.machine.parsing import parse_toml
from shiftstate.own_data.asking.config import PATHS, parsed
from shiftstate.own_data.asking.settings import TASKS, header_of
from shiftstate.own_data.reading.splitting import SPLITS
from shiftstate.tables import Table, read_graph, read_table

FEW_CLASSES = 30
"""Whole numbers with at most so many different values are taken for classes."""


def write_config(file: Path, given: Mapping[str, Any]) -> None:
    """Write settings for these data: what was given, what was guessed, and every other key as a comment."""
    if file.exists():
        raise ValueError(f"{file} is there already; expected a new file")
    if not file.parent.is_dir():
        raise ValueError(f"{file.parent} is not a directory; expected --init to be a file in one that exists")
    values = {name: parsed(f"--{name}", name, value) for name, value in given.items()}
    if "edges" not in values:
        raise ValueError("--edges is not given; expected the graph: `shiftstate train --init FILE --edges EDGES …`")
    table = _table(values)
    guesses = _guesses(values, table)
    source, destination, weight = (values.get(one) for one in ("source", "destination", "weight"))
    header = header_of(values.get("header"))
    graph = read_graph(values["edges"], None, source, destination, weight, bool(values.get("directed")), header)
    notes = [f"{graph.shift.num_nodes} nodes, {graph.shift.num_edges} edges", *graph.said]
    lines = [
        "# Settings of `shiftstate train --config FILE`. Paths count from the folder of this file; flags win",
        "# over it. A key behind # has its default.",
        "",
        *_data(file, values, notes, table),
        "",
        *_learned(values | guesses, table),
        "",
        *_model(values),
    ]
    text = "\n".join(lines) + "\n"
    parse_toml(text)  # what is written can be read
    write_whole(file, text)


def _table(values: Mapping[str, Any]) -> Table | None:
    path = next((values[name] for name in ("targets", "nodes", "signals") if name in values), None)
    return None if path is None or path.suffix.lower() in (".npy", ".mtx") else read_table(path)


def _guesses(values: Mapping[str, Any], table: Table | None) -> dict[str, Any]:
    """Split, target and task, where the data tell."""
    found: dict[str, Any] = {}
    if table is not None and "split" not in values:
        words = [name for name in table.columns if name not in table.numeric_names() and _is_split(table, name)]
        found |= {"split": tuple(words)} if words else {}
    split = values.get("split", found.get("split", ()))
    if "target" not in values and table is not None and "nodes" in values and "signals" not in values:
        rest = [name for name in list(table.columns)[1:] if name not in split and name not in table.numeric_names()]
        found |= {"target": rest[0]} if len(rest) == 1 else {}
    if "task" not in values:
        found["task"] = _task({**values, **found}, table)
    return found


def _is_split(table: Table, name: str) -> bool:
    words = {word.strip().lower() for word in table.strings(name)}
    return {SPLITS.get(word) for word in words if word} == {"train", "valid", "test"}


def _task(values: Mapping[str, Any], table: Table | None) -> str:
    target = values.get("target")
    if "signals" in values and target is None:
        return "forecast"
    if table is None or target is None:
        return TASKS[0]
    numbers = target in table.numeric_names() and len({*table.strings(target)}) > FEW_CLASSES
    return f"{'signal' if 'signals' in values else 'node'}-{'regression' if numbers else 'classification'}"


def _data(file: Path, values: Mapping[str, Any], notes: list[str], table: Table | None) -> list[str]:
    lines = [_comment(note) for note in notes]
    for name in PATHS[:-1]:
        if name in values:
            relative = os.path.relpath(values[name].absolute(), file.absolute().parent)
            lines.append(f"{name} = {_quoted(relative)}")
    if table is not None:
        shown = ", ".join(list(table.columns)[:12]) + (f", … ({len(table.columns)})" if len(table.columns) > 12 else "")
        lines.append(_comment(f"{table.path.name} has {len(table)} rows; its columns: {shown}"))
    out = values.get("out", file.absolute().parent / "runs" / file.stem)
    lines.append(f"out = {_quoted(os.path.relpath(out.absolute(), file.absolute().parent))}")
    for name, meaning in (
        ("name", "column of node names"),
        ("source", "column where edges begin"),
        ("destination", "column where edges end"),
        ("weight", "column of edge weights"),
    ):
        lines.append(_line(name, values.get(name), '"…"', f"{meaning}; guessed by default"))
    lines.append(_line("directed", values.get("directed"), "false", "edges lead one way only"))
    lines.append(_line("header", values.get("header"), '"yes"', "or no: are there names above the edges? Guessed"))
    lines.append(_line("join", values.get("join"), '"name"', "or position: row i of the features is node i"))
    lines.append(_line("missing", values.get("missing"), '"refuse"', "or mask, interpolate, zero=missing"))
    return lines


def _learned(values: Mapping[str, Any], table: Table | None) -> list[str]:
    lines = [f"task = {_quoted(values['task'])}  # {', '.join(TASKS)}"]
    if values["task"] != "forecast":
        lines.append(_line("target", values.get("target"), '"…"', "column to predict"))
        lines.append(_line("keep_na", values.get("keep_na"), "false", "NA, NaN, null … are classes, not unknown"))
    lines.append(_line("split", values.get("split"), '"…"', "columns that say train, valid, test or nothing"))
    lines.append(_line("groups", values.get("groups"), '"…"', "column: rows of a group stay together"))
    lines.append(_line("fractions", values.get("fractions"), "[0.6, 0.2, 0.2]", "train, valid and test, without split"))
    if values["task"] == "forecast":
        lines.append(_line("history", values.get("history"), "12", "how many last values a forecast sees"))
        lines.append(_line("horizons", values.get("horizons"), "[1]", "steps ahead"))
        lines.append(_line("period", values.get("period"), "7", "of the seasonal mean; guessed by default"))
    return lines


def _model(values: Mapping[str, Any]) -> list[str]:
    return [
        _line("filter", values.get("filter"), '["gcnn", "rsn", "lssm"]', "the best on validation data is kept"),
        _line("K", values.get("K"), "[2, 8, 32]", "filter orders to try; by rule without it"),
        _line("seeds", values.get("seeds"), "3", "trainings of the kept model, for its interval"),
        _line("seed", values.get("seed"), "0", "the first of them, and of a random split"),
        _line("epochs", values.get("epochs"), "200", "at most; by rule without it"),
        _line("metric", values.get("metric"), '"accuracy"', "what decides; the task's without it"),
        "",
        "# Other arguments of the estimator; by rule without them",
        "# [model]",
        "# channels = 64",
        "# learning_rate = 0.01",
        '# normalization = "symmetric"',
    ]


def _line(name: str, value: Any, default: str, meaning: str) -> str:
    if value is None or value == ():
        return f"# {name} = {default}  # {meaning}"
    return f"{name} = {_quoted(value)}  # {meaning}"


def _quoted(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_quoted, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def _comment(text: str) -> str:
    """One line, whatever names of columns and files hold."""
    return "# " + "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
