"""The figures of the documentation are what their scripts draw."""

import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import torch

SCRIPT = runpy.run_path(str(Path(__file__).parents[1] / "docs/figures/state_norms.py"))


def test_state_norms_shows_what_its_titles_say():
    norms = SCRIPT["state_norms"]()
    gcnn = norms["GCNN"]
    assert gcnn[0.5][-1].max() < 1e-9
    assert gcnn[1.5][-1].min() > 1e3
    for name in ("RSN", "LSSM"):
        late = torch.stack([curve[8:].median(-1).values for curve in norms[name].values()])
        assert 1e-2 < late.min() < late.max() < 0.1


def test_state_norms_writes_both_files(tmp_path):
    SCRIPT["main"](["--out", str(tmp_path)])
    plt.close("all")
    assert (tmp_path / "state_norms.svg").read_text().startswith("<?xml")
    assert (tmp_path / "state_norms.png").stat().st_size > 10_000
