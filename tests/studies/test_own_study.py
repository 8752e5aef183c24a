"""A user's own study in a file: it runs by its path, in other processes too, and its directory remembers it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from shiftstate.machine.inspection import inspect
from shiftstate.machine.registry import find_study
from shiftstate.machine.results.plan import read_plans
from shiftstate.machine.results.store import open_results

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs/examples/my_study.py"
SMALL = ["--set", "epochs=1", "--set", "rings=2", "--set", "signals=40", "--set", "K=2"]


def run(file, out, *options):
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    words = ["study", str(file), "--out", str(out), "--workers", "2", *options]
    return subprocess.run(
        [sys.executable, "-c", "from shiftstate.cli import main; main()", *words],
        env={**os.environ, "PYTHONPATH": path},
        cwd=out.parent,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_example_is_short():
    text = EXAMPLE.read_text(encoding="utf-8")
    code = re.sub(r'""".*?"""', "", text, flags=re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 60


def test_a_file_outside_the_package_is_run_resumed_reported_and_inspected(tmp_path):
    file = tmp_path / "mine.py"
    file.write_bytes(EXAMPLE.read_bytes())
    out = tmp_path / "out"
    done = run(file, out, *SMALL)
    assert done.returncode == 0, done.stderr
    rows = json.loads((out / "summary.json").read_text())
    assert [(row["experiment"], row["filter"], row["K"], row["n"]) for row in rows] == [
        ("ring", "gcnn", 2, 2),
        ("ring", "lssm", 2, 2),
    ]
    assert (out / "ring.svg").exists()
    assert "[4/4]" in done.stdout
    again = run(file, out, *SMALL[:2], "--set", "rings=3", *SMALL[4:])
    assert "[5/6]" in again.stdout, again.stderr
    (plan,) = read_plans(out).values()
    assert plan.study == str(file)
    assert plan.command.startswith(f"shiftstate study {file} --preset full --set epochs=1")
    with open_results(out) as store:
        assert len(store.results()) == 6


def test_a_stored_trial_of_a_users_study_is_found_again(tmp_path):
    out = tmp_path / "out"
    assert run(EXAMPLE, out, *SMALL, "--set", "filters=gcnn", "--set", "rings=1").returncode == 0
    with pytest.raises(ValueError, match="no trained network"):
        inspect(out)  # the example says of no trial that a lens can look into it


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", "defines no STUDY"),
        ("import nothing_of_the_kind", "cannot be imported .ModuleNotFoundError"),
        ("def", "cannot be imported .SyntaxError"),
    ],
)
def test_a_file_that_is_no_study_is_one_line(tmp_path, text, message):
    file = tmp_path / "mine.py"
    file.write_text(text)
    done = run(file, tmp_path / "out")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert re.search(message, done.stderr)
    assert not (tmp_path / "out").exists()


def test_unknown_studies_are_named():
    with pytest.raises(ValueError, match=r"unknown study 'papr'.*did you mean 'paper'"):
        find_study("papr")
    with pytest.raises(ValueError, match="is not there"):
        find_study("absent.py")
