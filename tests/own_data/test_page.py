"""The page of a run: verdict, scores, pictures and the lens on the trained model, in one file."""

import json
import re

from tests.own_data.towns import node_words, run


def data_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page.read_text("utf-8"), re.DOTALL)[1])


def test_the_page_of_a_run_has_scores_verdict_pictures_and_lens(files):
    assert run(*node_words(files, "run", "--seeds", "2", "--filter", "lssm"))[0] == 0
    code, shown, _ = run("report", files / "run")
    assert code == 0
    assert str(files / "run/report.html") in shown
    found = json.loads((files / "run/metrics.json").read_text())
    data = data_of(files / "run/report.html")
    assert data["run"]["verdict"].lower().rstrip(".") == found["verdict"].lower()
    assert len(data["run"]["rows"]) == 1 + len(found["baselines"])
    assert [row["title"] for row in data["run"]["rows"] if row["own"]] == ["lssm, K = 1"]
    assert [one["source"][:26] for one in data["run"]["pictures"]] == ["data:image/svg+xml;base64,"] * 2
    assert len(data["lenses"]) == 1
    lens = json.loads((files / "run/lens/lssm.json").read_text())
    assert lens["layers"][0]["filter"] == "LSSM"
    assert "town0" in lens["graph"]["names"]


def test_without_its_data_a_run_has_a_page_without_a_lens(files):
    assert run(*node_words(files, "run", "--seeds", "1"))[0] == 0
    (files / "edges.csv").unlink()
    assert run("report", files / "run")[0] == 0
    data = data_of(files / "run/report.html")
    assert not data["lenses"]
    assert "edges.csv" in data["run"]["lens_note"]
