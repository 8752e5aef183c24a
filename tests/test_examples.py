"""The examples run as a user runs them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

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
