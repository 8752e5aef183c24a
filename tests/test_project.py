"""The files around the package agree with it and with each other."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import shiftstate

ROOT = Path(__file__).parents[1]
REFERENCE = {"type", "title", "authors"}


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def citation() -> dict[str, Any]:
    parsed: dict[str, Any] = yaml.safe_load(read("CITATION.cff"))
    return parsed


def test_one_version_everywhere():
    project = tomllib.loads(read("pyproject.toml"))
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "shiftstate/__init__.py"
    newest = re.search(r"^## \[(\d+\.\d+\.\d+)\]", read("CHANGELOG.md"), re.MULTILINE)
    assert newest is not None
    in_readme = re.search(r"version = \{(.+)\}", read("README.md"))
    assert in_readme is not None
    assert {newest[1], in_readme[1], citation()["version"]} == {shiftstate.__version__}


def test_citation_has_what_schema_1_2_0_requires_and_nothing_it_does_not_know():
    cited = citation()
    assert cited["cff-version"] == "1.2.0"
    known = {"cff-version", "message", "type", "title", "abstract", "authors", "version", "license", "keywords"}
    assert {"cff-version", "message", "title", "authors"} <= cited.keys()
    assert cited.keys() <= known | {"preferred-citation"}
    for reference in (cited, cited["preferred-citation"]):
        assert reference.keys() >= REFERENCE
        for author in reference["authors"]:
            assert author.keys() in ({"name"}, {"family-names", "given-names"})


def test_citation_and_readme_name_the_same_paper():
    paper = citation()["preferred-citation"]
    bibtex = read("README.md")
    assert f"{{{paper['title']}}}" in bibtex
    assert f"{{{paper['doi']}}}" in bibtex
    assert f"{{{paper['start']}--{paper['end']}}}" in bibtex
    authors = " and ".join(f"{author['family-names']}, {author['given-names']}" for author in paper["authors"])
    assert f"{{{authors}}}" in bibtex


def test_commit_hooks_are_valid_and_come_from_nowhere_else():
    config = yaml.safe_load(read(".pre-commit-config.yaml"))
    assert {repository["repo"] for repository in config["repos"]} == {"local"}
    tools = {hook["entry"].split()[0] for repository in config["repos"] for hook in repository["hooks"]}
    assert tools == {".venv/bin/ruff", ".venv/bin/mypy"}
    command = [sys.executable, "-m", "pre_commit", "validate-config", str(ROOT / ".pre-commit-config.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_pinned_extra_is_in_the_constraints():
    project = tomllib.loads(read("pyproject.toml"))["project"]
    wanted = [
        *project["dependencies"],
        *(name for extra in project["optional-dependencies"].values() for name in extra),
    ]
    pinned = {re.sub(r"[-_.]+", "-", line.split("==")[0]).lower() for line in read("constraints.txt").split()}
    names = {re.sub(r"[-_.]+", "-", re.split(r"[\[>=<]", name)[0]).lower() for name in wanted} - {"shiftstate"}
    assert names - pinned == set()


@pytest.mark.parametrize("found", [True, False])
def test_make_reproduce_all_gives_the_texts_where_they_are(tmp_path, found):
    texts = tmp_path if found else tmp_path / "absent"
    command = ["make", "-n", "reproduce-all", f"TEXTS={texts}"]
    lines = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert (f"--texts {texts}" in lines) == found


def test_no_two_classes_have_one_name():
    homes: dict[str, list[str]] = {}
    for path in sorted((ROOT / "shiftstate").rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}
