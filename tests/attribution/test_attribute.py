"""`shiftstate attribute` from folder to verdict, and the same in Python."""

import json
import sys

import numpy as np
import pytest
from safetensors.numpy import save
from sklearn.base import clone

from shiftstate import cli
from shiftstate.attribution import Attributor
from shiftstate.attribution.answers.page import in_digits, stranger_sentence, verdict_page
from shiftstate.attribution.answers.verdict import HANDS, NONE, UNDECIDED, give_verdict
from shiftstate.attribution.evaluation.held_out import SHARED
from shiftstate.attribution.model_file import read_model, write_model
from shiftstate.machine.running.lock import locked
from tests.attribution.books import book, write_books

SMALL = ("--words", "auto:16", "--length", "200")


def run(*arguments, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["shiftstate", "attribute", *map(str, arguments)])
    try:
        cli.main()
        code = 0
    except SystemExit as stop:
        code = stop.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def command(capsys, monkeypatch):
    return lambda *arguments: run(*arguments, capsys=capsys, monkeypatch=monkeypatch)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A model of four authors, as a file."""
    root = tmp_path_factory.mktemp("trained")
    texts = [book(author, number) for author in range(4) for number in range(3)]
    authors = [name for name in ("ann", "bob", "cid", "dan") for _ in range(3)]
    attributor = Attributor(words="auto:16", length=200).fit(texts, authors)
    attributor.save(root / "model")
    return attributor, root / "model"


def test_new_books_are_told_and_probabilities_are_those_of_the_file(trained):
    attributor, file = trained
    new = [book(author, 7) for author in range(4)]
    p = attributor.predict_proba(new)
    assert np.allclose(p.sum(1), 1)
    assert attributor.predict(new).tolist() == ["ann", "bob", "cid", "dan"]
    again = Attributor.load(file)
    assert np.array_equal(again.predict_proba(new), p)
    assert again.get_params() == attributor.get_params()


def test_it_is_an_estimator_of_scikit_learn(trained):
    attributor, _ = trained
    copy = clone(attributor)
    assert copy.get_params() == {"words": "auto:16", "length": 200, "model": "auto"}
    assert not hasattr(copy, "classes_")
    assert attributor.score([book(0, 8), book(1, 8)], ["ann", "bob"]) == 1


def test_a_verdict_holds_votes_words_pairs_and_the_way_along_the_text(trained):
    attributor, _ = trained
    verdict = give_verdict(attributor, book(2, 7), "disputed")
    assert verdict.answer == "cid"
    assert next(iter(verdict.probabilities)) == "cid"
    assert sum(verdict.votes.values()) == pytest.approx(1)
    assert all(value > 0 for _, value in verdict.words_for + verdict.pairs_for)
    assert all(value < 0 for _, value in verdict.words_against + verdict.pairs_against)
    assert len(verdict.words_for) <= 10
    assert verdict.rolling.shape == (len(verdict.rolling_at), 4)
    assert (np.diff(verdict.rolling_at) == 50).all()
    assert set(verdict.by_model) == {"delta", "logistic", "svm", "no_graph", "wan_entropy", "wan_logistic", "filter"}


def test_a_change_of_hand_is_seen_along_the_text(trained):
    attributor, _ = trained
    verdict = give_verdict(attributor, book(0, 7) + " " + book(3, 7), "two hands")
    named = np.array(verdict.authors)[verdict.rolling.argmax(1)]
    first, second = named[verdict.rolling_at < 1100], named[verdict.rolling_at > 1300]
    assert (first == "ann").mean() > 0.8
    assert (second == "dan").mean() > 0.8


def test_a_change_of_hand_is_said_first(trained):
    attributor, _ = trained
    verdict = give_verdict(attributor, book(0, 7) + " " + book(3, 7), "two hands")
    assert verdict.answer == HANDS
    first, second, word = verdict.change
    assert (first, second) == ("ann", "dan")
    assert abs(word - 1200) <= 200
    assert verdict.headline == f"perhaps two hands: ann up to about word {word:,}, dan from there on"
    assert "of the text as a whole" in verdict.notes[0]
    assert verdict.headline in verdict_page(attributor, [verdict])


def test_strangers_score_lower_than_the_authors_and_no_answer_is_surer_than_asked_for(trained):
    attributor, _ = trained
    own = [give_verdict(attributor, book(author, 9), "own") for author in range(4)]
    strange = [give_verdict(attributor, book(author, 0), "strange") for author in range(20, 26)]
    assert np.mean([one.impostor_score for one in own]) > np.mean([one.impostor_score for one in strange])
    assert sum(one.answer == NONE for one in strange) > sum(one.answer == NONE for one in own)
    unsure = give_verdict(attributor, book(0, 9), "own", sure=1.01)
    assert unsure.answer in (UNDECIDED, NONE)


def test_a_reference_set_takes_rounds_from_the_first_author_and_the_known_scores_follow(trained):
    attributor = Attributor.load(trained[1])
    stranger = book(30, 0)
    before = give_verdict(attributor, stranger, "stranger")
    attributor.add_reference([book(30, 1), book(30, 2), book(31, 0)])
    after = give_verdict(attributor, stranger, "stranger")
    assert after.impostor_score < before.impostor_score
    assert after.answer == NONE
    assert after.probabilities == before.probabilities
    assert np.nanmean(attributor.impostors_.present) <= np.nanmean(trained[0].impostors_.present)


def test_a_short_text_is_answered_with_a_note_and_a_tiny_one_not_at_all(trained):
    attributor, _ = trained
    verdict = give_verdict(attributor, " ".join(book(1, 7).split()[:150]), "short")
    assert verdict.pieces == 1
    assert "less than an excerpt of 200" in verdict.notes[0]
    assert verdict.answer != NONE
    assert verdict.fit_threshold is None
    assert "too short to say" in stranger_sentence(verdict)
    pieces = attributor.cut(" ".join(book(1, 7).split()[:150]))
    assert attributor.logarithms(pieces, words=150).max() < attributor.logarithms(pieces).max()
    for name in ("delta", "filter"):
        same = np.array_equal(attributor.logarithms(pieces, name, 150), attributor.logarithms(pieces, name))
        assert same == (name == "delta"), "cosines shrink by themselves"
    with pytest.raises(ValueError, match="tiny has 3 words; expected 100 or more"):
        give_verdict(attributor, "only three words", "tiny")


def test_no_probability_reads_as_certain():
    assert [in_digits(p) for p in (1.0, 0.9994, 0.5, 0.0)] == ["> 0.999", "0.999", "0.500", "< 0.001"]


def test_training_predicting_and_verifying_by_command(command, tmp_path):
    texts = write_books(tmp_path / "texts", books=2)
    code, out, err = command("train", "--texts", texts, "--out", tmp_path / "model", *SMALL)
    assert code == 0, err
    assert "3 authors, 6 texts, 16 words" in out
    assert out.count("<- trusted") == 1
    assert "warning: excerpts of 200 words are short" in err
    disputed = tmp_path / "disputed <b>.txt"
    disputed.write_text(book(1, 7))
    page, numbers = tmp_path / "page.html", tmp_path / "numbers.json"
    code, out, _ = command("predict", tmp_path / "model", disputed, "--page", page, "--json", numbers)
    assert code == 0
    assert out.startswith("disputed <b>: ")
    assert "bob" in out.splitlines()[1]
    assert "words for bob beside" in out
    content = page.read_text()
    assert "disputed &lt;b&gt;" in content
    assert "<script" not in content
    assert "<svg" in content
    (verdict,) = json.loads(numbers.read_text())
    assert next(iter(verdict["probabilities"])) == "bob"
    code, out, _ = command("verify", tmp_path / "model", disputed, texts / "bob" / "bob0.txt")
    assert code == 0
    assert "probability of the same author" in out
    disputed.write_text(book(1, 7, words=150))
    code, out, err = command("verify", tmp_path / "model", disputed, texts / "bob" / "bob0.txt")
    assert code == 0
    assert "undecided" in out
    assert "warning: a text of 150 words is too short: an excerpt has 200" in err


def test_an_evaluation_is_resumed_and_the_same_with_any_number_of_workers(command, tmp_path):
    texts = write_books(tmp_path / "texts", books=2, words=800)
    code, out, _ = command("evaluate", "--texts", texts, "--out", tmp_path / "out", "--workers", 1, *SMALL)
    assert code == 0
    evaluation = json.loads((tmp_path / "out" / "evaluation.json").read_text())
    assert f"recommended: {evaluation['recommended']}" in out
    assert {"delta", "logistic", "svm", "wan_entropy", "filter", "combined"} <= set(evaluation["models"])
    for measures in evaluation["models"].values():
        assert {"accuracy_excerpts", "accuracy_books", "calibration_error", "cllr", "brier"} <= set(measures)
        assert set(measures["accuracy_by_length"]) == {"100", "200", "400"}
    assert evaluation["folds"] == 6
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "evaluation.json", "tables.md", "texts.csv", "confusion.svg", "calibration.svg", "lengths.svg", "folds",
    }  # fmt: skip
    folds = sorted((tmp_path / "out" / "folds").glob("*.npz"))
    times = [path.stat().st_mtime_ns for path in folds]
    for path in folds[:2]:
        path.unlink()
    (tmp_path / "out" / "folds" / SHARED).write_bytes(b"of a run that was killed")
    code, _, err = command("evaluate", "--texts", texts, "--out", tmp_path / "out", "--workers", 2, *SMALL)
    assert code == 0
    assert "6 folds, 4 were there" in err
    assert [path.stat().st_mtime_ns for path in folds[2:]] == times[2:]
    assert json.loads((tmp_path / "out" / "evaluation.json").read_text()) == evaluation
    assert not (tmp_path / "out" / "folds" / SHARED).exists()
    with locked(tmp_path / "out" / "folds"):
        code, _, err = command("evaluate", "--texts", texts, "--out", tmp_path / "out", "--workers", 2, *SMALL)
    assert code == 2
    assert "is in use by another run" in err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["train", "--texts", "absent", "--out", "m"], "absent cannot be read"),
        (["train", "--texts", "texts", "--out", "no/m"], "expected a file name in a folder that exists"),
        (["train", "--texts", "texts", "--out", "m", "--words", "auto:x"], "as in auto:300"),
        (
            ["train", "--texts", "texts", "--out", "m", "--length", "3"],
            "length is 3; expected a whole number of at least",
        ),
        (["train", "--texts", "texts", "--out", "m", "--model", "detla"], "did you mean 'delta'?"),
        (["train", "--texts", "single", "--out", "m", *SMALL], "expected two such authors or more"),
        (["train", "--texts", "twice", "--out", "m", *SMALL], "hold the same text"),
        (["train", "--texts", "binary", "--out", "m", *SMALL], "is a binary file"),
        (["predict", "texts/ann/ann0.txt", "texts/ann/ann0.txt"], "is no attribution model"),
        (["predict", "absent", "texts/ann/ann0.txt"], "absent cannot be read"),
        (["predict", "absent", "texts/ann/ann0.txt", "--sure", "2"], "sure is 2.0; expected a probability"),
        (
            ["predict", "single/ann/ann0.txt", "texts/ann/ann0.txt", "--page", "texts/ann/../ann/ann0.txt"],
            "is read, and",
        ),
        (["predict", "absent", "texts/ann/ann0.txt", "--page", "p", "--json", "./p"], "expected two files"),
        (["train", "--texts", "texts", "--out", "texts/ann/ann0.txt"], "is read, and would be overwritten"),
        (["evaluate", "--texts", "texts", "--out", "out", "--folds", "1"], "folds is 1"),
        (["evaluate", "--texts", "texts", "--out", "out", "--workers", "0"], "workers is 0"),
        (["evaluate", "--texts", "texts", "--out", "texts/ann/ann0.txt"], "is a file; expected a directory"),
        (["evaluate", "--texts", "twice", "--out", "out"], "hold the same text"),
    ],
)
def test_bad_input_is_one_line_exit_code_2_and_no_file(command, tmp_path, monkeypatch, arguments, complaint):
    monkeypatch.chdir(tmp_path)
    write_books(tmp_path / "texts", ("ann", "bob"), books=2, words=400)
    write_books(tmp_path / "single", ("ann", "bob"), books=1, words=400)
    write_books(tmp_path / "twice", ("ann", "bob"), books=2, words=400)
    (tmp_path / "twice" / "bob" / "copy.txt").write_text(book(0, 0, 400))
    write_books(tmp_path / "binary", ("ann", "bob"), books=2, words=400)
    (tmp_path / "binary" / "bob" / "b.txt").write_bytes(b"\0\1")
    code, _, err = command(*arguments)
    assert code == 2
    last = err.strip().splitlines()[-1]
    assert last.startswith("shiftstate: ")
    assert complaint in last
    assert not (tmp_path / "m").exists()
    assert not (tmp_path / "out").exists()
    assert (tmp_path / "texts" / "ann" / "ann0.txt").read_text() == book(0, 0, 400)


def test_a_damaged_model_is_one_line(trained, tmp_path):
    data = trained[1].read_bytes()
    renamed = data.replace(b"verifier", b"verifeir")
    for number, damaged in enumerate([data[:50], data[: len(data) // 2], b"", b"\xff" * 100, renamed]):
        file = tmp_path / f"m{number}"
        file.write_bytes(damaged)
        with pytest.raises(ValueError, match="is no attribution model") as error:
            Attributor.load(file)
        assert "\n" not in str(error.value)


def test_any_changed_byte_of_the_numbers_of_a_model_is_found(trained, tmp_path):
    data = bytearray(trained[1].read_bytes())
    head = 8 + int.from_bytes(data[:8], "little")
    for place in range(head, len(data), (len(data) - head) // 12):
        data[place] ^= 1
        (tmp_path / "m").write_bytes(data)
        with pytest.raises(ValueError, match=r"m is no attribution model .it was changed after it was written"):
            Attributor.load(tmp_path / "m")
        data[place] ^= 1
    (tmp_path / "m").write_bytes(data.replace(b"0.9", b"0.8", 1))
    with pytest.raises(ValueError, match="it was changed after it was written"):
        Attributor.load(tmp_path / "m")


def test_a_model_without_a_digest_and_with_positions_as_floats_is_read_as_before(trained, tmp_path):
    head, arrays = read_model(trained[1])
    for name in ("filter/kept", "no_graph/kept", "wan_logistic/pairs"):
        arrays[name] = arrays[name].astype(np.float32)
    metadata = {"shiftstate.attribution": json.dumps(head)}
    (tmp_path / "m").write_bytes(save({name: np.ascontiguousarray(one) for name, one in arrays.items()}, metadata))
    p = Attributor.load(tmp_path / "m").predict_proba([book(1, 7)])
    assert np.array_equal(p, trained[0].predict_proba([book(1, 7)]))


WRONG = {"none": None, "text": "x", "list": [], "nested": [[]], "table": {}, "nan": float("nan"), "huge": 10**400}


@pytest.mark.parametrize(
    "path",
    ["settings", "settings/length", "settings/model", "settings/words", "authors", "authors/0", "words", "words/0",
     "titles", "titles/0", "recommended", "why", "held_out", "held_out/combined", "held_out/svm/accuracy",
     "held_out/combined/calibration_error", "verifier", "verifier/0", "verifier/1/0", "calibrations",
     "calibrations/svm", "calibrations/svm/0", "calibrations/combined/7", "authors/1=ann", "held_out/svm/accuracy=-1",
     "calibrations/svm/0=-1", "calibrations/svm/1=2", "settings/length=5", "recommended=nobody", "words/1=man"],
)  # fmt: skip
def test_edited_settings_of_a_model_are_one_line_that_names_the_file(trained, tmp_path, path):
    path, _, given = path.partition("=")
    keys = [int(key) if key.isdigit() else key for key in path.split("/")]
    changes = [int(given) if given.lstrip("-").isdigit() else given] if given else [*WRONG.values(), KeyError]
    for change in changes:
        head, arrays = read_model(trained[1])
        place = head
        for key in keys[:-1]:
            place = place[key]
        if change is KeyError:
            del place[keys[-1]]
        elif type(change) is type(place[keys[-1]]) and not given:
            continue
        else:
            place[keys[-1]] = change
        write_model(tmp_path / "edited", head, arrays)
        with pytest.raises(ValueError, match="edited is no attribution model") as error:
            Attributor.load(tmp_path / "edited")
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_no_numbers_raise(trained, tmp_path, value):
    head, arrays = read_model(trained[1])
    unknown = {"strangers/present", "strangers/absent", "impostors/present", "impostors/absent"}  # NaN is "not known"
    for name in arrays:
        if arrays[name].dtype.kind == "f" and (name not in unknown or value == np.inf):
            changed = arrays[name].copy()
            changed.flat[-1] = value
            write_model(tmp_path / "edited", head, {**arrays, name: changed})
            with pytest.raises(ValueError, match=r"NaN or infinity|outside of 0 to 1"):
                Attributor.load(tmp_path / "edited")


def test_arrays_of_other_shapes_dtypes_or_names_raise(trained, tmp_path):
    head, arrays = read_model(trained[1])
    for name, array in arrays.items():
        other = array.astype(np.float64 if array.dtype == np.float32 else np.float32)
        edits = [{name: array[:-1]}, {name: array[:0]}, {name: other if array.dtype != np.int64 else array - 1}]
        edits += [{f"{name}x": array}]
        if name.endswith(("deviation", "scale")):
            edits.append({name: np.zeros_like(array)})
        for edit in edits:
            write_model(tmp_path / "edited", head, {**arrays, **edit})
            with pytest.raises(ValueError, match="edited is no attribution model"):
                Attributor.load(tmp_path / "edited")
        write_model(tmp_path / "edited", head, {key: one for key, one in arrays.items() if key != name})
        with pytest.raises(ValueError, match="edited is no attribution model"):
            Attributor.load(tmp_path / "edited")


def test_weights_that_overflow_give_no_answer(trained, tmp_path):
    head, arrays = read_model(trained[1])
    write_model(tmp_path / "edited", head, {**arrays, "svm/deviation": np.full_like(arrays["svm/deviation"], 1e-44)})
    edited = Attributor.load(tmp_path / "edited")
    with pytest.raises(ValueError, match="svm gives probabilities that are no numbers"):
        edited.logarithms(edited.cut(book(1, 7)), "svm")
    write_model(tmp_path / "edited", head, {**arrays, "scaling/mean": np.full_like(arrays["scaling/mean"], 3e38)})
    with pytest.raises(ValueError, match="z-scores of the text are no numbers"):
        Attributor.load(tmp_path / "edited").same_author(book(1, 7), book(1, 8))
