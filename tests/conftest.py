"""Every test starts from the same seed; Hypothesis draws the same examples in every run."""

import os
import signal
import sys
from pathlib import Path

import pytest
import torch
from hypothesis import settings

from shiftstate import cli

settings.register_profile("deterministic", derandomize=True, deadline=None, max_examples=40, print_blob=True)
settings.load_profile("deterministic")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background job; tests of Ctrl-C would wait for ever
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


@pytest.fixture
def command(monkeypatch, capsys):
    """Runs `shiftstate …` in this process: its exit code, what it printed, and what it said on standard error."""

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["shiftstate", *map(str, words)])
        code = 0
        try:
            cli.main()
        except SystemExit as end:
            code = end.code or 0
        told = capsys.readouterr()
        return code, told.out, told.err

    return call


@pytest.fixture(scope="session")
def corpus():
    """The folder of the real novels; tests that need it say so and are skipped where it is not."""
    root = Path(os.environ.get("SHIFTSTATE_CORPUS", Path(__file__).parents[2] / "shared" / "corpus"))
    if not (root / "texts").is_dir():
        pytest.skip("the novels are not here: set SHIFTSTATE_CORPUS to a folder that holds texts/author/*.txt")
    return root
