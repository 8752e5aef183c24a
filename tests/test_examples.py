"""The examples run as a user runs them."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]


def run_example(*arguments: str) -> str:
    command = [sys.executable, "-W", "error", "docs/examples/source_localization.py", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("filter", ["gcnn", "rsn", "lssm"])
def test_source_localization_trains_and_reports_what_it_ran(filter):
    output = run_example("--filter", filter, "--epochs", "2", "--K", "2")
    losses = [float(loss) for loss in re.findall(r"loss (\d\.\d{4})", output)]
    assert len(losses) == 2
    assert losses[1] < losses[0]
    assert f"{filter.upper()}, K = 2" in output
    assert re.search(r"test accuracy \d+\.\d% on 2,560 signals after 2 epochs", output)
    assert "Reading of the paper: hub" in output


def test_source_localization_gives_the_same_numbers_for_the_same_seed():
    first, again, other = (
        run_example("--epochs", "1", "--K", "1", "--filter", "gcnn", "--seed", seed) for seed in "112"
    )

    def numbers(output: str) -> list[str]:
        return re.findall(r"(?:loss|validation|accuracy) +([\d.]+)", output)

    assert numbers(first) == numbers(again) != numbers(other)


def test_karate_club_finds_most_members_in_twenty_lines():
    source = Path(ROOT, "docs/examples/karate.py").read_text(encoding="utf-8")
    body = [line for line in source.splitlines()[1:] if line.strip() and "import" not in line]
    assert len(body) <= 20
    done = subprocess.run(
        [sys.executable, "docs/examples/karate.py"], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    right, of = map(int, re.findall(r"\d+", done.stdout))
    assert of == 22
    assert right >= 19


def test_the_tutorial_runs_from_top_to_bottom_and_carries_no_outputs():
    path = ROOT / "docs/examples/tutorial.ipynb"
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in notebook.cells)
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}).execute()
    printed = "".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", []))
    without, *_, chosen, in_pyg = (int(share) / 100 for share in re.findall(r"(\d+)% of the test set", printed))
    assert without < 0.5
    assert min(chosen, in_pyg) > 0.7
