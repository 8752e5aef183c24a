"""The page as a file: self-contained, small, safe against names, and whole or not there."""

import base64
import hashlib
import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

from shiftstate.files import write_whole
from shiftstate.machine.page import lenses as report_lenses
from shiftstate.machine.page import render as report_render
from shiftstate.machine.page.build import gather, write_page
from shiftstate.machine.page.render import SCRIPTS, embed, render
from shiftstate.machine.page.results import describe_series
from shiftstate.machine.results.store import Store
from shiftstate.studies.paper import STUDY
from tests.machine.page.filled import HOSTILE, NAME, add_lenses, add_words, fill

pytest.importorskip("plotly", reason="the page's charts need the extra `report`")


class Elements(HTMLParser):
    """Collects start tags, and the text of every script."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self._script = [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self._script = (dict(attrs), [])

    def handle_data(self, text):
        if self._script:
            self._script[1].append(text)

    def handle_endtag(self, tag):
        if tag == "script":
            self.scripts.append((self._script[0], "".join(self._script[1])))
            self._script = None


@pytest.fixture(scope="module")
def written(tmp_path_factory, trial, outcome):
    """A directory with its page; tests read it only."""
    place = tmp_path_factory.mktemp("report") / NAME
    fill(place, trial, outcome)
    add_lenses(place)
    add_words(place)
    return write_page(place)


@pytest.fixture
def directory(tmp_path, trial, outcome):
    """A directory without a page yet."""
    fill(tmp_path / NAME, trial, outcome)
    return tmp_path / NAME


def test_the_page_is_one_file_that_names_no_other_but_its_neighbours(written):
    page = written
    assert page.stored == 24
    assert page.lenses == 2
    elements = Elements(page.path.read_text("utf-8"))
    for tag, attributes in elements.tags:
        assert tag not in {"iframe", "object", "embed", "base", "img"}
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith(("#", "data:"))
    assert page.size == page.path.stat().st_size < 6_000_000


def test_the_policy_allows_these_two_scripts_and_no_request(written):
    elements = Elements(written.path.read_text("utf-8"))
    (policy,) = [attributes["content"] for _, attributes in elements.tags if "http-equiv" in attributes]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert "connect-src" not in rules
    (script,) = [text for attributes, text in elements.scripts if "type" not in attributes]
    wanted = [script.encode(), report_render.chart_library().encode()]
    digests = [base64.b64encode(hashlib.sha256(one).digest()).decode() for one in wanted]
    assert rules["script-src"].split() == [f"'sha256-{digest}'" for digest in digests]


def test_data_come_back_from_the_page_as_they_went_in(written):
    elements = Elements(written.path.read_text("utf-8"))
    blocks = {attributes["id"]: text for attributes, text in elements.scripts if "id" in attributes}
    assert set(blocks) == {"data", "lens-0", "lens-1", "library"}
    data = json.loads(blocks["data"])
    assert data["title"] == NAME
    assert set(data["networks"]["networks"][0]["names"]) == {*HOSTILE, "the", "of"}
    assert json.loads(blocks["lens-0"])["graph"]["names"][: len(HOSTILE)] == HOSTILE
    summary = json.loads((written.path.parent / "summary.json").read_text())
    shown = [
        {"experiment": experiment["name"], **cell["at"], **cell, "published": cell["published"] or {}}
        for experiment in data["experiments"]
        for cell in experiment["cells"]
    ]
    flat = [cell | {f"paper_{key}": cell["published"].get(key) for key in ("mean", "std")} for cell in shown]
    assert [{key: cell[key] for key in summary[0]} for cell in flat] == summary


@pytest.mark.parametrize("text", HOSTILE)
def test_no_name_can_end_its_script(text):
    embedded = embed({text: [text]})
    assert not set(embedded) & set("<>&\u2028\u2029")
    assert json.loads(embedded) == {text: [text]}


def test_a_name_that_is_no_text_is_still_embedded():
    assert json.loads(embed("\ud800")) == "?"


def test_no_script_of_the_page_knows_a_study():
    studies = r"figure\d|table\d|minesweeper|accuracy|\bauc\b|author|austen|bront|\bpoe\b|\bthe paper"
    models = r"gcnn|\brsn|lssm|\bgsn\b|svm|logistic|delta"
    axes = r"\bat\.\w+|\.filter\b(?!\()|\.[KL]\b|\bgraphs?\b|\bepochs\b *:"
    for name in SCRIPTS:
        script = report_render._asset(name)
        assert not (found := re.search(f"{studies}|{models}", script, re.IGNORECASE)), (name, found)
        if not re.search("graph|lens", name):  # a lens has a graph, and a layer its filter and K
            assert not (found := re.search(axes, script)), (name, found)


def test_no_script_of_the_page_parses_markup_or_text():
    for name in SCRIPTS:
        script = report_render._asset(name)
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", script), (
            name
        )


def test_the_same_results_give_the_same_bytes(written):
    first = written.path.read_bytes()
    assert write_page(written.path.parent).path.read_bytes() == first


def test_a_plan_says_how_much_is_missing_and_a_preset_is_guessed_without_one(directory):
    data, _ = gather(directory)
    figure1, table1 = data["experiments"]
    assert (figure1["stored"], figure1["plan"]["planned"]) == (18, 900)
    assert (table1["stored"], table1["plan"]) == (6, None)  # settings of no preset
    assert sum(cell["diverged"] for cell in table1["cells"]) == 6


def test_tables_and_figures_are_written_with_the_page(written):
    names = {path.name for path in written.path.parent.iterdir()}
    assert names >= {"summary.json", "claims.json", "tables.md", "realizations.csv", "figure1.svg", "table1.png"}


def test_a_csv_alone_is_enough(written, tmp_path):
    directory = written.path.parent
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "realizations.csv").write_bytes((directory / "realizations.csv").read_bytes())
    assert write_page(copy).stored == 24
    assert not (copy / "results.sqlite").exists()
    assert (copy / "summary.json").read_text() == (directory / "summary.json").read_text()


def test_an_empty_store_gives_a_page_that_says_so(tmp_path):
    with Store(tmp_path, STUDY):
        pass
    assert write_page(tmp_path).stored == 0
    assert gather(tmp_path)[0]["claims"] == []


def test_words_or_a_lens_alone_give_a_page(tmp_path):
    add_words(tmp_path)
    assert write_page(tmp_path).stored == 0
    assert not (tmp_path / "summary.json").exists()
    (tmp_path / "other").mkdir()
    add_lenses(tmp_path / "other")
    assert write_page(tmp_path / "other").lenses == 2


def test_lenses_that_find_no_room_are_counted(directory, monkeypatch):
    add_lenses(directory)
    largest = max(path.stat().st_size for path in (directory / "lens").iterdir())
    monkeypatch.setattr(report_lenses, "ROOM", largest)
    data, shown = gather(directory)
    assert len(shown) == len(data["lenses"]) == 1
    assert data["lenses_stored"] == 2


def test_series_have_the_colours_of_the_figures_and_others_their_own():
    described = describe_series(STUDY["table2"], ["svm", "lssm", "gcnn", "delta", "another", "one more"])
    assert [one["value"] for one in described][:2] == ["gcnn", "lssm"]
    assert described[1]["color"] == "#c8553d"
    assert len({one["color"] for one in described}) == 6


def test_a_stored_training_under_the_lens_is_named_by_its_cell_and_its_numbers(directory):
    add_lenses(directory)
    data, _ = gather(directory)
    stored = data["experiments"][0]["trainings"]["id"][0]
    (directory / "lens" / "gcnn.json").rename(directory / "lens" / f"{stored}.json")
    first, last = gather(directory)[0]["lenses"]
    assert first["title"] == "Figure 1, GCNN, K = 4, L = 1, graph 0, draw 0"
    assert first["note"] == "Trained again from its record: test accuracy 50.00 %, recorded 25.00 %."
    assert last["title"] == f"lssm of {HOSTILE[0]}"
    assert last["note"] == "Trained again from its record: accuracy 0.5, recorded 0.25."


def test_the_command_says_what_it_wrote(directory, command):
    code, out, err = command("report", directory)
    assert (code, err) == (0, "")
    assert "24 trainings, " in out
    assert str(directory / "report.html") in out


def damage_nothing(directory):
    pass


def damage_lens(directory):
    (directory / "lens").mkdir()
    (directory / "lens" / "x.json").write_text('{"kind": "shiftstate.lens", "format": 1, "graph": {}}')


def damage_lens_format(directory):
    (directory / "lens").mkdir()
    (directory / "lens" / "x.json").write_text('{"kind": "shiftstate.lens", "format": 99}')


def damage_words(directory):
    np.savez(directory / "w.npz", matrix=np.ones((2, 3)), words=np.array(["a", "b"]))


def damage_archive(directory):
    (directory / "w.npz").write_bytes(b"not a zip")


def damage_store(directory):
    (directory / "results.sqlite").write_bytes(b"not a database" * 100)


def damage_csv(directory):
    (directory / "realizations.csv").write_text("a,b\n1,2\n")


def damage_plan(directory):
    with Store(directory, STUDY):
        (directory / "plan.json").write_text('{"figure1": {"preset": 3}}')


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (damage_nothing, "holds no results"),
        (damage_lens, "expected a lens"),
        (damage_lens_format, "format 99"),
        (damage_words, "shape (2, 3)"),
        (damage_archive, "w.npz cannot be read"),
        (damage_store, "is damaged"),
        (damage_csv, "cannot be taken over"),
        (damage_plan, "plan.json cannot be read"),
    ],
)
def test_a_bad_directory_is_one_line_and_leaves_nothing(tmp_path, command, damage, said):
    damage(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    code, out, err = command("report", tmp_path)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert said in err
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_missing_directory_is_one_line(tmp_path, command):
    code, _, err = command("report", tmp_path / "none")
    assert code == 2
    assert "is not a directory" in err


def test_without_plotly_everything_but_the_charts_is_written_and_one_line_says_so(directory, monkeypatch, command):
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    code, out, err = command("report", directory)
    assert (code, err) == (0, "")
    assert out.count("\n") == 1
    assert "pip install 'shiftstate[report]'" in out
    assert {path.name for path in directory.iterdir()} >= {"report.html", "summary.json", "claims.json", "tables.md"}
    elements = Elements((directory / "report.html").read_text("utf-8"))
    (policy,) = [attributes["content"] for _, attributes in elements.tags if "http-equiv" in attributes]
    assert policy.count("sha256-") == 1  # its own script
    (data,) = [json.loads(text) for attributes, text in elements.scripts if attributes.get("id") == "data"]
    assert data["charts"] is False


def test_a_page_that_cannot_be_written_leaves_the_old_one(directory, monkeypatch):
    (directory / "report.html").write_bytes(old := b"the old page")

    def full_disk(path, content):
        if path.name == "report.html":
            raise OSError("no space left on device")
        write_whole(path, content)

    monkeypatch.setattr("shiftstate.machine.page.build.write_whole", full_disk)
    with pytest.raises(OSError, match="no space"):
        write_page(directory)
    assert (directory / "report.html").read_bytes() == old


def test_markers_of_the_template_in_the_data_stay_text(tmp_path):
    add_words(tmp_path)
    data, _ = gather(tmp_path)
    page = render(data | {"title": "@@SCRIPT@@ @@DATA@@"}, [], "library")
    assert "<title>@@SCRIPT@@ @@DATA@@ – shiftstate</title>" in page
