"""Every snippet in README and docs runs, every docstring example is true, every command exists, every link leads on."""

import csv
import doctest
import importlib
import json
import os
import pkgutil
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path
from statistics import fmean

import pytest
import torch
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser
from typer.main import get_command

import shiftstate
from shiftstate.commands import app
from shiftstate.machine.running.engines import make_engine
from shiftstate.studies.paper import STUDY, load_preset

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
MODULES = sorted(module.name for module in pkgutil.walk_packages(shiftstate.__path__, "shiftstate."))


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_python_snippets_run_from_top_to_bottom(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    for example in Sybil(parsers=[PythonCodeBlockParser()], encoding="utf-8").parse(path).examples():
        example.evaluate()


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_are_true(name):
    torch.manual_seed(0)
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("name", ["GCNN", "RSN", "LSSM", "Network", "Shift", "checking"])
def test_central_names_have_a_docstring_example(name):
    assert ">>> " in (getattr(shiftstate, name).__doc__ or "")


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_python_is_never_written_where_it_would_not_run(path):
    fences = re.findall(r"^ *```(\S*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    opening = fences[::2]
    assert set(opening) <= {"python", "console", "bibtex", "text"}
    assert set(fences[1::2]) <= {""}


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_every_command_exists(path):
    console = re.findall(r"^```console\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    inline = re.findall(r"`(make [a-z-]+)`", path.read_text(encoding="utf-8"))
    commands = [line.strip() for block in console for line in block.splitlines()] + inline
    for command in commands:
        if command.startswith("make "):
            done = subprocess.run([*command.split(), "-n"], cwd=ROOT, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{command}: {done.stderr}"
        elif command.startswith("shiftstate "):
            _check_command_line(command)
        elif command.startswith(".venv/bin/"):
            assert (Path(sys.executable).parent / Path(command.split()[0]).name).exists(), command
        else:
            assert command == "pip install -c constraints.txt .", f"untested command: {command}"


def _check_command_line(command: str) -> None:
    """The command, its options and their values exist; nothing is run."""
    _, name, *words = shlex.split(command)
    found = get_command(app).commands[name]
    while hasattr(found, "commands"):
        found = found.commands[words.pop(0)]
    parsed = found.make_context(name, words).params
    if name == "reproduce":
        assert parsed["experiment"] in (*STUDY.names, "figure2", "stability", "all")
        load_preset(parsed["preset"], overrides=parsed["set"])
        make_engine(parsed["engine"], parsed["workers"], parsed["scheduler"])


def test_the_site_builds_without_a_warning(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    assert "A graph convolution is a recurrence" in (tmp_path / "index.html").read_text(encoding="utf-8")
    page = (tmp_path / "api.html").read_text(encoding="utf-8")
    assert [name for name in shiftstate.__all__ if f'id="shiftstate.{name}"' not in page] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_every_relative_link_leads_to_a_file(path):
    links = re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8"))
    for link in links:
        if not link.startswith(("http://", "https://", "#")):
            assert (path.parent / link.partition("#")[0]).exists(), link


PAGES = [*sorted((ROOT / "docs/presets").glob("*.md")), ROOT / "docs/which_reading.md"]


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_the_pages_of_the_presets_are_those_of_their_records(page):
    assert runpy.run_path(str(ROOT / "docs/preset_pages.py"))["updated"](page) == page.read_text(encoding="utf-8")


def test_the_table_of_conclusions_says_what_the_claims_say():
    """Every verdict with its rounded effects, read from the records."""
    text = (ROOT / "docs/reproduction.md").read_text(encoding="utf-8")
    columns = {record: column for column, record in enumerate(("paper", "library", "community", "tuned"), start=2)}
    lines = {
        line.split(" | ")[0].lstrip("| "): line.split(" | ") for line in text.splitlines() if line.startswith("| ")
    }
    for record, column in columns.items():
        claims = json.loads((ROOT / f"docs/results/{record}/claims.json").read_text(encoding="utf-8"))
        found = {one["claim"]: one for one in claims}
        for name in ("LSSM", "RSN"):
            cell = lines[f"{name} beats the GCNN at K = 4, 16, 32"][column - 1]
            for K in (4, 16, 32):
                one = found[f"{name} beats the GCNN at K = {K}"]
                assert one["verdict"].split()[0] in cell, (record, name, K)
                assert f"{abs(round(100 * one['effect']))}" in cell, (record, name, K)


def test_both_looks_at_the_tuned_target_are_those_of_the_record():
    with (ROOT / "docs/results/tuned/realizations.csv").open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["experiment"] == "figure1"]
    last = {(row["filter"], row["K"], int(row["graph"])): float(row["accuracy_last"]) for row in rows}

    def leads(name, graphs):
        gaps = {K: fmean(last[name, K, graph] - last["gcnn", K, graph] for graph in graphs) for K in ("16", "32")}
        return [f"{100 * gaps[K]:.1f}" for K in ("16", "32")]

    text = " ".join((ROOT / "docs/presets/tuned.md").read_text(encoding="utf-8").split())
    for words, graphs in (("the RSN does by {} and {} points", range(10)), ("leads of {} and {} points", range(5))):
        assert words.format(*leads("rsn", graphs)) in text
    assert (
        "the leads are {} and {} points for the RSN and {} and {} for the LSSM".format(
            *leads("rsn", range(5, 10)), *leads("lssm", range(5, 10))
        )
        in text
    )
    assert "for the RSN and {} and {} for the LSSM, of which".format(*leads("lssm", range(5))) in text
    assert "the LSSM by {} and {}.".format(*leads("lssm", range(10))) in text
