"""The machine knows no study: none of their names, axes, authors, models or metrics stands in its source."""

import re
import tokenize
from pathlib import Path

import pytest

import shiftstate.machine
from shiftstate.layers import LAYERS
from shiftstate.machine.registry import find_study
from shiftstate.studies import STUDIES

ROOM = Path(shiftstate.machine.__file__).parent
FILES = sorted(ROOM.rglob("*.py"))
ORDINARY = {"paper", "data", "graph", "split", "reading", "readings", "draw", "identity", "open", "chosen"}
"""Words that the machine uses in their ordinary sense; as names of axes they stand in quotes, see below."""


def names():
    """Whatever the studies of the package call their own."""
    found = {*STUDIES, *LAYERS}
    for study in map(find_study, STUDIES):
        found |= {*study.names, study.metric.name}
        for experiment in study.experiments:
            found |= {axis.name for axis in experiment.axes} | {*experiment.names}
            found |= {str(value) for axis in experiment.axes for value in axis.values if isinstance(value, str)}
            found |= {count.column for count in experiment.counts if count.key}
    return found | {"source localization", "authorship", "accuracy", "corpus"}


def words(path):
    """The file without its comments and docstrings; and its string literals, one by one."""
    code, literals, fresh = [], [], True
    with tokenize.open(path) as file:
        for token in tokenize.generate_tokens(file.readline):
            if token.type == tokenize.STRING and fresh:
                continue  # a docstring
            fresh = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.NL)
            if token.type == tokenize.STRING:
                literals.append(token.string)
            elif token.type == tokenize.NAME:
                code.append(token.string)
    return code, literals


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOM)))
def test_no_module_of_the_machine_names_a_study(path):
    code, literals = words(path)
    own = {name for name in names() if name.lower() not in ORDINARY}
    assert not own & {*code}, "an identifier"
    for literal in literals:
        told = {name for name in own if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", literal)}
        assert not told, literal
    quoted = {literal.strip("rbf").strip("\"'") for literal in literals}
    assert not quoted & {"graph", "draw", "author", "K", "L", "filter"}, "an axis"


def test_the_test_finds_what_it_looks_for(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text('"""lssm in a docstring"""\nx = cell["K"]  # lssm\naccuracy = "beats the gcnn"\n')
    code, literals = words(file)
    assert "accuracy" in code
    assert literals == ['"K"', '"beats the gcnn"']
    assert {"lssm", "K", "author", "figure1", "roc_auc", "minesweeper", "austen", "svm", "accuracy"} <= names()
