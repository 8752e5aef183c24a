"""`reproduce stability`: the numbers say what the titles say, and docs/figures holds what the command writes."""

import json
from pathlib import Path

import pytest
import torch

from shiftstate import cli
from shiftstate.studies.paper.stability import K, look, look_far, numbers, write

FIGURES = Path(__file__).parents[2] / "docs" / "figures"


@pytest.fixture(scope="module")
def seen():
    return look()


@pytest.fixture(scope="module")
def far():
    return look_far()


def test_the_gcnn_follows_the_spectrum_and_the_others_stay(seen):
    words = {name: [lens.verdict.word for lens in by_radius.values()] for name, by_radius in seen.items()}
    assert words == {"gcnn": ["vanishing", "alive", "exploding"], "rsn": ["alive"] * 3, "lssm": ["alive"] * 3}
    gcnn = {radius: lens.states.median / lens.states.norm[0] for radius, lens in seen["gcnn"].items()}
    assert gcnn[0.5][-1] < 1e-9
    assert gcnn[1.5][-1] > 1e3
    for name in ("rsn", "lssm"):
        late = torch.stack([lens.states.median[8:] / lens.states.norm[0] for lens in seen[name].values()])
        assert 1e-2 < late.min() < late.max() < 0.1


def test_far_out_a_gcnn_grows_by_the_radius_with_each_shift(seen):
    for radius, lens in seen["gcnn"].items():
        assert lens.verdict.rate == pytest.approx(radius, rel=1e-3)
        assert bool((lens.states.norm <= lens.envelopes["radius"] * (1 + 1e-4)).all())


def test_gradients_of_a_gcnn_explode_backwards_and_those_of_the_others_stay(seen):
    flow = {
        name: {r: one.gradients.states / one.gradients.states[-1] for r, one in by.items()} for name, by in seen.items()
    }
    assert flow["gcnn"][1.5][0] > 1e4
    for name in ("rsn", "lssm"):
        assert all(0.3 < curve.min() < curve.max() < 3 for curve in flow[name].values())


def test_a_live_state_is_no_proof_of_sight_the_output_is_the_nodes_own_input(far):
    own = {(name, init): float(found.quantile(0.5)[0]) for name, by in far.items() for init, found in by.items()}
    assert 0.2 < own["gcnn", "paper"] < 0.6
    assert all(own[name, init] > 0.9 for name in ("rsn", "lssm") for init in ("paper", "alive"))
    assert all(found.half.median() == 0 for name in ("rsn", "lssm") for found in far[name].values())
    for name in ("rsn", "lssm"):
        eight_away = {init: float(found.quantile(0.5)[8]) for init, found in far[name].items()}
        assert eight_away["paper"] < 1e-20 < 1e-9 < eight_away["alive"] < float(far["gcnn"]["paper"].quantile(0.5)[8])


def test_the_documents_show_these_numbers(seen, far):
    shown = json.loads((FIGURES / "stability.json").read_text(encoding="utf-8"))
    now = numbers(seen, far)
    for name, by_init in now["dependence"].items():
        for init, found in by_init.items():
            for curve in ("median", "low", "high"):
                expected = pytest.approx(found[curve], rel=1e-3, abs=1e-12)
                assert shown["dependence"][name][init][curve] == expected
    assert shown.keys() == now.keys()
    assert shown["kind"] == now["kind"]
    for name, by_radius in now["filters"].items():
        for radius, one in by_radius.items():
            for curve in ("median", "low", "high", "envelope", "gradient"):
                assert len(one[curve]) == K + 1
                assert shown["filters"][name][radius][curve] == pytest.approx(one[curve], rel=1e-3)


def test_the_command_writes_figure_and_numbers(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["shiftstate", "reproduce", "stability", "--out", str(tmp_path / "new")])
    cli.main()
    assert "stability.svg" in capsys.readouterr().out
    assert (tmp_path / "new" / "stability.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert (tmp_path / "new" / "stability.png").stat().st_size > 10_000


def test_a_file_in_the_place_of_the_directory_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="cannot be made"):
        write(tmp_path / "file")
