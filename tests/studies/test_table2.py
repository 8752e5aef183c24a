"""Table 2: from texts to tables, by the same store, resume and report as source localization."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from shiftstate import cli
from shiftstate.machine import run as module
from shiftstate.machine.conduct import conduct
from shiftstate.machine.inspection import inspect
from shiftstate.machine.judging.claims import judge
from shiftstate.machine.judging.summary import summarize, summary_json
from shiftstate.machine.judging.tables import tables_markdown
from shiftstate.machine.results.columns import Result
from shiftstate.machine.results.store import Store
from shiftstate.machine.running.lock import locked
from shiftstate.machine.settings import change
from shiftstate.machine.trial import Cell, Trial, parse_trial
from shiftstate.studies.paper import STUDY, authorship, load_preset
from shiftstate.studies.paper.authorship import AuthorshipSettings
from shiftstate.studies.paper.claims import against_baselines
from shiftstate.studies.paper.claims import authorship as authorship_claims
from shiftstate.texts.corpus import Corpus
from shiftstate.training import Fit
from tests.studies.novels import write_novels

TINY = ["excerpt_length=30", "K=2", "batch_size=10", "epochs=1", "splits=2", 'authors=["ann","bob"]', "test=0.2"]
NAMES = ("gcnn", "rsn", "lssm", "logistic", "svm", "delta")


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    return write_novels(tmp_path_factory.mktemp("texts"))


@pytest.fixture
def run(here, texts):
    def go(out, *overrides, preset="paper"):
        return conduct(["table2"], load_preset(preset, overrides=[*TINY, *overrides]), out, here, given=texts)

    return go


def test_the_paper_preset_is_the_papers_protocol():
    realizations = load_preset("paper").trials("table2")
    assert len({one.id for one in realizations}) == len(realizations) == 30 * 4 * 6
    assert {one.model: (one["K"], one["L"]) for one in realizations} == {
        **dict.fromkeys(("gcnn", "rsn", "lssm"), (32, 1)),
        **dict.fromkeys(("logistic", "svm", "delta"), (0, 0)),
    }
    assert {one["author"] for one in realizations} == {"austen", "bronte_charlotte", "poe", "bronte"}
    assert {one.settings for one in realizations} == {
        change(
            AuthorshipSettings(),
            channels=4,
            epochs=25,
            batch_size=100,
            learning_rate=(0.005,),
            excerpt_length=1000,
            window=10,
            decay=0.8,
            split="excerpts",
            test=0.05,
            valid=0.087,
            outside=("bronte", "allen_james_lane"),
            kin=("bronte", "bronte_charlotte"),
        )
    }


def test_quick_is_the_beginning_of_paper_and_books_holds_books_out_without_emily():
    quick, paper = (set(load_preset(name).trials("table2")) for name in ("quick", "paper"))
    assert quick < paper
    books = load_preset("books").trials("table2")
    assert {one.settings.data.split for one in books} == {"books"}
    assert {one["author"] for one in books} == {"austen", "bronte_charlotte", "poe"}


def test_tuned_networks_see_standardised_signals_on_the_papers_splits():
    for one in load_preset("tuned").trials("table2"):
        assert one.settings.data.standardize
        assert ((32, 1) if one.model in ("gcnn", "rsn", "lssm") else (0, 0)) == (one["K"], one["L"])
        assert (one.settings.architecture.channels, one.settings.data.split, one.settings.data.seed) == (
            4,
            "excerpts",
            0,
        )


def test_a_transform_is_named_in_the_configuration_where_there_is_one_and_comes_back():
    plain, rooted = (
        load_preset("paper", overrides=[f"table2.transform={name}"]).trials("table2")[0] for name in ("none", "sqrt")
    )
    assert plain == load_preset("paper").trials("table2")[0]
    assert "transform" not in json.loads(plain.to_json())
    assert json.loads(rooted.to_json())["transform"] == "sqrt"
    assert [parse_trial(STUDY, one.to_json()) for one in (plain, rooted)] == [plain, rooted]
    assert plain.id != rooted.id
    with pytest.raises(ValueError, match="unknown transform 'cube'"):
        load_preset("paper", overrides=["table2.transform=cube"])


@pytest.mark.parametrize("preset", ["community", "matched"])
def test_presets_without_table2_say_so(preset):
    with pytest.raises(ValueError, match=f"preset '{preset}' has no table2; expected one of figure1, table1"):
        load_preset(preset).trials("table2")
    with pytest.raises(ValueError, match="preset 'books' has no figure1; expected one of table2"):
        load_preset("books").trials("figure1")


def test_a_realization_comes_back_from_json_with_its_author():
    one = load_preset("paper").trials("table2")[0]
    assert json.loads(one.to_json())["author"] == one["author"]
    assert parse_trial(STUDY, one.to_json()) == one
    assert str(one) == "table2 austen gcnn K=32 L=1 split 0"


def test_a_run_gives_a_row_for_every_author_and_filter_and_goes_on_where_it_stopped(run, tmp_path, capsys):
    report = run(tmp_path, "splits=1")
    assert report.stored == 12
    run(tmp_path)
    assert "[13/24]" in capsys.readouterr().out
    rows = json.loads((tmp_path / "summary.json").read_text())
    assert {(row["experiment"], row["author"], row["filter"]) for row in rows} == {
        ("table2", author, name) for author in ("ann", "bob") for name in NAMES
    }
    assert {row["n"] for row in rows} == {2}
    assert {(row["K"], row["L"]) for row in rows} == {(2, 1), (0, 0)}
    with Store(tmp_path, STUDY) as store:
        stored = store.results()
    assert all(row.facts == {"train": 58, "test": 16, "book": None} for row in stored)
    names = {path.name for path in tmp_path.iterdir()}
    assert {"table2.svg", "table2.png", "tables.md", "claims.json", "realizations.csv"} <= names
    assert len(list(tmp_path.glob("corpus-*.npz"))) == 1
    text = (tmp_path / "tables.md").read_text()
    assert "| ann | logistic regression | – | – | 2 |" in text
    assert json.loads((tmp_path / "claims.json").read_text()) == [], "the paper claims nothing of ann and bob"


def test_results_start_again_from_their_csv_alone(run, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    run(first)
    second.mkdir()
    (second / "realizations.csv").write_bytes((first / "realizations.csv").read_bytes())
    run(second)
    assert (second / "realizations.csv").read_bytes() == (first / "realizations.csv").read_bytes()
    assert (second / "summary.json").read_bytes() == (first / "summary.json").read_bytes()


def test_all_filters_and_baselines_of_a_split_see_the_same_excerpts(run, tmp_path, monkeypatch):
    seen = []

    def fake(model, shift, data, **options):
        seen.append(data)
        return Fit({"accuracy": 0.5}, {"accuracy": 0.5}, 1, (1.0,), (0.5,), "finished", 1.0)

    def fake_baseline(name, data, settings):
        seen.append(data)
        return module.Outcome({"accuracy": 0.5}, {"accuracy": 0.5})

    monkeypatch.setattr(module, "fit", fake)
    monkeypatch.setattr(authorship, "fit_baseline", fake_baseline)
    run(tmp_path, "splits=1", "authors=ann")
    first, *others = seen
    assert len(others) == 5
    for data in others:
        assert data.parts == first.parts
        assert torch.equal(data.test.x, first.test.x)


def test_books_are_held_out_in_turn_and_are_the_unit_of_the_statistics(run, tmp_path):
    report = run(tmp_path, "splits=4", 'baselines=["delta"]', "filters=gcnn", preset="books")
    with Store(tmp_path, STUDY) as store:
        books = {row.trial.unit: row.facts["book"] for row in store.results()}
    assert books == {0: 0, 1: 1, 2: 0, 3: 1}
    assert {line.n for line in report.summary.lines} == {4}


def test_other_texts_are_other_results_and_the_path_is_not(run, here, tmp_path, tmp_path_factory, texts):
    run(tmp_path, "splits=1", "filters=gcnn")
    copy = tmp_path_factory.mktemp("copy") / "elsewhere"
    write_novels(copy)
    preset = load_preset("paper", overrides=[*TINY, "splits=1", "filters=gcnn"])
    assert conduct(["table2"], preset, tmp_path, here, given=copy).stored == 8, "the same texts at another place"
    (copy / "cid" / "book0.txt").write_text("another book. " * 100)
    with pytest.raises(ValueError, match=r"\(--texts cid/book0.txt changed\); .*choose another --out"):
        conduct(["table2"], preset, tmp_path, here, given=copy)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["table2"],
            "give their folder as --texts DIR, or get the books by `shiftstate data fetch gutenberg --out DIR`",
        ),
        (["all", "--preset", "books"], "preset 'books' has no experiment without texts; give their folder as --texts"),
        (["table2", "--texts", "absent"], "absent cannot be read"),
        (["table2", "--texts", "TEXTS", "--set", "authors=austen"], "unknown author 'austen'"),
        (["table2", "--texts", "TEXTS", "--set", "authors=anne"], "did you mean 'ann'"),
        (
            ["table2", "--texts", "TEXTS", "--set", "authors=ann", "--set", "excerpt_length=9999"],
            "no text of 'ann' has",
        ),
        (["table2", "--texts", "TEXTS", "--set", "authors=ann", "--set", "excerpt_length=30"], "'ann' has 70 training"),
        (["table2", "--texts", "TEXTS", "--set", "authors=ann", "--set", "excerpt_length=600"], "has 1 excerpts to"),
        (["table2", "--texts", "ONE"], "nobody to tell 'austen' from"),
        (["table2", "--preset", "community"], "preset 'community' has no table2"),
        (["table2", "--texts", "TEXTS", "--set", "words=mine"], "words is 'mine'"),
        (["table2", "--texts", "TEXTS", "--set", "split=book"], "did you mean 'books'"),
        (["table2", "--texts", "TEXTS", "--set", "baselines=svn"], "did you mean 'svm'"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(arguments, message, texts, tmp_path, command):
    write_novels(tmp_path / "one", ["austen"])
    places = {"TEXTS": texts, "ONE": tmp_path / "one"}
    extra = ["--set", "authors=austen", "--set", "excerpt_length=30"] if "ONE" in arguments else []
    given = [places.get(word, word) for word in arguments] + extra
    code, _, errors = command("reproduce", *given, "--out", tmp_path / "out")
    assert (code, errors.count("\n")) == (2, 1)
    assert message in errors
    assert not (tmp_path / "out").exists()


def test_all_without_texts_leaves_table2_out_and_says_so(tmp_path, monkeypatch, capsys):
    asked = []

    def fake(names, settings, out, engine, given):
        asked.append((list(names), given))
        return SimpleNamespace(summary=summarize(STUDY, []), stored=0, files=())

    monkeypatch.setattr("shiftstate.machine.conduct.conduct", fake)
    monkeypatch.setattr("shiftstate.texts.network_files.reproduce_figure2", lambda *arguments: [])
    for options in ([], ["--texts", str(tmp_path)]):
        monkeypatch.setattr(sys, "argv", ["shiftstate", "reproduce", "all", "--out", str(tmp_path), *options])
        cli.main()
    assert [names for names, _ in asked] == [["figure1", "table1"], ["figure1", "table1", "table2"]]
    assert capsys.readouterr().out.count("figure2 and table2 left out: texts are needed; give their folder") == 1


def at(name, author="poe", K=32, L=1):
    return Cell.of("table2", filter=name, K=K, L=L, author=author)


def facts(train, test, book):
    return {"train": train, "test": test, "book": book}


def rows(values, split):
    """Rows of one author with these accuracies, filter by filter, split by split."""
    return [
        Result(
            Trial(STUDY, at(name), number, 0, AuthorshipSettings()),
            accuracy,
            accuracy,
            "finished",
            1.0,
            split(number),
        )
        for name, accuracies in values.items()
        for number, accuracy in enumerate(accuracies)
    ]


def test_the_papers_numbers_stand_beside_ours():
    summary = summarize(STUDY, rows({"lssm": [0.8, 0.9]}, lambda number: facts(800, 40, None)))
    (line,) = json.loads(summary_json(summary))
    assert (line["author"], line["paper_mean"], line["paper_std"]) == ("poe", 0.83, 0.14)
    assert "| poe | LSSM | 32 | 1 | 2 | 85.0 ± 7.1 |" in tables_markdown(summary)


def test_intervals_and_claims_know_that_splits_overlap_and_that_books_are_the_unit():
    generator = np.random.default_rng(0)
    gain = generator.normal(0.05, 0.05, 12)
    values = {"gcnn": [0.5] * 12, "rsn": list(0.5 + gain)}

    def finding(split):
        summary = summarize(STUDY, rows(values, split))
        return next(one for one in summary.findings if one.claim == "RSN beats the GCNN for poe")

    narrow, wide = finding(lambda number: facts(1000, 1, None)), finding(lambda number: facts(800, 200, None))
    assert narrow.effect == wide.effect == pytest.approx(gain.mean())
    ratio = np.sqrt((1 / 12 + 200 / 800) / (1 / 12 + 1 / 1000))
    half = [one.interval[1] - one.interval[0] for one in (narrow, wide)]
    assert half[1] / half[0] == pytest.approx(ratio)
    assert narrow.p < wide.p
    assert finding(lambda number: facts(800, 200, number % 3)).n == 3


def draws(mean, count=30, seed=0):
    generator = np.random.default_rng(seed)
    return {(number, 0): mean + 0.02 * generator.normal() for number in range(count)}


def test_the_two_sentences_of_the_paper_can_come_out_either_way():
    means = {"austen": (0.6, 0.8, 0.9), "bronte_charlotte": (0.75, 0.7, 0.751), "poe": (0.6, 0.9, 0.8)}
    cells = {
        at(name, author): draws(mean, seed=seed)
        for author, values in means.items()
        for seed, (name, mean) in enumerate(zip(("gcnn", "rsn", "lssm"), values, strict=True))
    }
    found = {one.claim: one.verdict for one in judge(cells, authorship_claims(), overlap=lambda cell: 0.06)}
    assert found == {
        "RSN beats the GCNN for austen": "holds",
        "GCNN beats the RSN for bronte_charlotte": "holds",
        "RSN beats the GCNN for poe": "holds",
        "LSSM has the best accuracy of the filters for austen": "holds",
        "LSSM has the best accuracy of the filters for bronte_charlotte": "undecided",
        "LSSM has the best accuracy of the filters for poe": "does not hold",
        "LSSM has the best accuracy of the filters for austen by 5 points or more": "holds",
        "LSSM has the best accuracy of the filters for bronte_charlotte by 5 points or more": "does not hold",
        "LSSM has the best accuracy of the filters for poe by 5 points or more": "does not hold",
    }


def test_a_filter_has_to_beat_every_baseline():
    cells = {at("lssm"): draws(0.8)}
    cells |= {at(name, K=0, L=0): draws(mean, seed=1) for name, mean in (("svm", 0.7), ("delta", 0.9))}
    name = "LSSM beats every baseline for poe"
    for baselines, verdict in ((["svm"], "holds"), (["svm", "delta"], "does not hold")):
        found = {
            one.claim: one.verdict
            for one in judge(cells, against_baselines(["poe"], baselines), overlap=lambda cell: 0.06)
        }
        assert found[name] == verdict


def test_a_second_run_with_other_authors_keeps_the_corpus_of_the_first(run, tmp_path):
    run(tmp_path, "filters=gcnn", "baselines=[]", 'authors=["ann"]')
    run(tmp_path, "filters=gcnn", "baselines=[]", 'authors=["bob"]')
    (file,) = tmp_path.glob("corpus-*.npz")
    assert set(Corpus.load(file).wans) == {"ann", "bob"}
    run(tmp_path, "filters=gcnn", "baselines=[]", 'authors=["ann"]', "splits=3")  # ann's third split is trained now


def test_a_run_that_the_lock_refuses_leaves_the_corpus_as_it_is(run, tmp_path):
    run(tmp_path, "filters=gcnn", "baselines=[]", 'authors=["ann"]')
    (file,) = tmp_path.glob("corpus-*.npz")
    before = file.read_bytes()
    with locked(tmp_path), pytest.raises(ValueError, match="in use by another run"):
        run(tmp_path, "filters=gcnn", "baselines=[]", 'authors=["bob"]')
    assert file.read_bytes() == before


def test_inspect_reads_the_texts_again_for_an_author_whom_the_corpus_lacks(run, texts, tmp_path):
    run(tmp_path, "filters=gcnn", "baselines=[]", 'authors=["ann"]')
    (file,) = tmp_path.glob("corpus-*.npz")
    foreign = Corpus.read(texts, authors=["bob"], length=30)
    file.write_bytes(foreign.to_bytes())
    assert inspect(tmp_path, given=texts).same
    assert set(Corpus.load(file).wans) == {"ann", "bob"}


def test_a_missing_package_is_named_before_anything_is_trained_or_written(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.svm", None)
    with pytest.raises(ValueError, match=r"pip install 'shiftstate\[baselines\]'"):
        run(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert run(tmp_path / "out", "baselines=delta", "filters=gcnn", "splits=1").stored == 4


def test_a_folder_of_other_authors_is_studied_with_its_own_and_the_papers_claims_are_left_out(here, texts, tmp_path):
    small = [word for word in TINY if not word.startswith("authors")]
    preset = load_preset("paper", overrides=[*small, "splits=1", "filters=gcnn", "baselines=delta"])
    written = conduct(["table2"], preset, tmp_path, here, given=texts)
    assert {line.cell["author"] for line in written.summary.lines} == {"ann", "bob", "cid"}
    assert written.summary.findings == []
    assert "| claim |" not in (tmp_path / "tables.md").read_text()


def test_of_the_presets_authors_those_are_taken_that_the_folder_has(tmp_path):
    write_novels(tmp_path, ["austen", "ann"])
    preset = load_preset("paper").on(tmp_path)
    assert preset.design("table2").values["author"] == ("austen",)
    chosen = load_preset("paper", overrides=["authors=poe"]).on(tmp_path)
    assert chosen.design("table2").values["author"] == ("poe",), "what is asked for is not replaced"
