"""Unbroken path: the data are what the specification says, a search is always right, and the study runs."""

import json

import pytest
import torch

from shiftstate.graphs.lattices import ring
from shiftstate.machine.conduct import conduct
from shiftstate.machine.presets import load_preset
from shiftstate.machine.run import run
from shiftstate.studies.reach.network import Reacher
from shiftstate.studies.unbroken import STUDY, draw, search

TINY = ["train=80", "valid=40", "test=40", "batch_size=20", "epochs=1", "draws=1", "learning_rate=0.01"]


@pytest.mark.parametrize("d", [2, 5, 11])
def test_a_breadth_first_search_is_always_right_and_classes_are_balanced(d):
    rings = draw(d, 300, torch.Generator().manual_seed(0))
    reached = search(rings.x, ring(3 * d + 1), d)
    assert torch.equal(reached[rings.mask].long(), rings.y[rings.mask])
    assert rings.mask.sum(1).eq(2).all()
    assert rings.y.sum(1).eq(1).all()
    assert rings.x[..., 1].sum(1).eq(1).all()


def test_one_node_of_the_broken_arm_is_closed_at_any_place():
    d = 6
    rings = draw(d, 2000, torch.Generator().manual_seed(0))
    reached = search(rings.x, ring(3 * d + 1), d).sum(1) - 1 - d  # of the broken arm
    assert sorted(set(reached.tolist())) == list(range(d - 1))
    assert reached.float().mean() == pytest.approx((d - 2) / 2, abs=0.1)
    middle = rings.x[..., 0].sum(1) - (2 * d)  # open nodes of the middle: the arms have 2 d - 1, and the source is open
    assert middle.mean() == pytest.approx(d / 2, abs=0.1)


def test_the_study_runs_warms_up_and_judges_its_claims(here, tmp_path):
    pytest.importorskip("torch_geometric")
    wanted = [*TINY, "hop_limit=4", "warm_up=[2,3,9]", "warm_up_signals=40", 'filters=["average","gsn","gcn","adgn"]']
    assert conduct(["unbroken"], load_preset(STUDY, "record", None, wanted), tmp_path, here).stored == 4
    rows = {row["filter"]: row["mean"] for row in json.loads((tmp_path / "summary.json").read_text())}
    assert rows["average"] == 0.5
    assert json.loads((tmp_path / "claims.json").read_text())[0]["claim"] == "GSN is ahead of every peer, d = 4"


def test_a_warm_up_leaves_the_full_order_and_other_weights():
    (trial,) = load_preset(STUDY, "record", None, [*TINY, "hop_limit=4", "warm_up=[2]", "filters=gsn"]).trials(
        "unbroken"
    )
    data = trial.experiment.data(trial, None)
    warm = trial.experiment.models["gsn"](trial, data)
    assert isinstance(warm, Reacher)
    assert trial["hop_limit"] == warm.core.K
    (cold,) = load_preset(STUDY, "record", None, [*TINY, "hop_limit=4", "warm_up=[]", "filters=gsn"]).trials("unbroken")
    first = cold.experiment.models["gsn"](cold, data)
    assert not torch.equal(first.core.h_cw, warm.core.h_cw)


def test_the_gsn_learns_paths_of_four():
    wanted = ["hop_limit=4", "draws=1", "filters=gsn", "train=6000", "test=200", "warm_up=[3]", "learning_rate=0.01"]
    (trial,) = load_preset(STUDY, "record", None, wanted).trials("unbroken")
    assert run(trial).last["accuracy"] > 0.8
