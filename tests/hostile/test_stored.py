"""Edited files of runs, models and partitions: refused by name, or without effect on the numbers."""

import os

import pytest

from tests.hostile.judging import get_ready, wrong_of
from tests.hostile.mutating import array_edits, json_edits, tensor_edits
from tests.hostile.stored_cases import (
    COMPARE,
    FORECAST,
    LOAD,
    PREDICT,
    REPORT,
    damage,
    edits,
    of_csv,
    of_page,
    of_training,
    write_stored,
)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stored")
    get_ready()
    return write_stored(folder, called)


def called(*words, folder):
    """A command in a child, in a folder."""
    child = os.fork()
    if not child:
        from tests.hostile.judging import _called

        os.chdir(folder)
        code, _, err = _called([str(word) for word in words], folder)
        os.write(2, err.encode()) if code else None
        os._exit(code)
    assert os.waitpid(child, 0)[1] == 0, words


CASES = {
    "compare, metrics": (COMPARE, str, lambda at, few: [
        *edits("run", "metrics.json", COMPARE, json_edits(at / "run/metrics.json", few)),
        *damage("run", "metrics.json", COMPARE), *damage("run", "predictions.csv", COMPARE)]),
    "report, metrics": (REPORT, of_page, lambda at, few: [
        *edits("run", "metrics.json", REPORT, json_edits(at / "run/metrics.json", few))]),
    "report, settings": (REPORT, of_page, lambda at, few: [
        *edits("run", "settings.json", REPORT, json_edits(at / "run/settings.json", few)),
        *damage("run", "settings.json", REPORT)]),
    "predict, settings": (PREDICT, of_csv, lambda at, few: [
        *edits("run", "settings.json", PREDICT, json_edits(at / "run/settings.json", few)),
        *damage("run", "settings.json", PREDICT)]),
    "predict, model": (PREDICT, of_csv, lambda at, few: [
        *edits("run", "model.safetensors", PREDICT, tensor_edits(at / "run/model.safetensors", few)),
        *damage("run", "model.safetensors", PREDICT)]),
    "predict, graph": (PREDICT, of_csv, lambda at, few: [
        *edits("run", "graph.npz", PREDICT, array_edits(at / "run/graph.npz")),
        *damage("run", "graph.npz", PREDICT)]),
    "forecast, model": (FORECAST, of_csv, lambda at, few: [
        *edits("series", "model.safetensors", FORECAST, tensor_edits(at / "series/model.safetensors", few)),
        *edits("series", "metrics.json", FORECAST, json_edits(at / "series/metrics.json", few))]),
    "partition": (LOAD, of_training, lambda at, few: [
        *edits("parts", "partition.json", LOAD, json_edits(at / "parts/partition.json", few)),
        *edits("parts", "part-0.safetensors", LOAD, tensor_edits(at / "parts/part-0.safetensors", few)),
        *damage("parts", "partition.json", LOAD), *damage("parts", "part-0.safetensors", LOAD)]),
}  # fmt: skip


@pytest.mark.parametrize("kind", CASES)
def test_edited_files_are_refused_by_name_or_change_nothing(stored, tmp_path, kind):
    usual, numbers, make = CASES[kind]
    cases = make(stored, 2)
    wrong = wrong_of(cases, stored, tmp_path, usual, numbers)
    assert not wrong, f"{len(wrong)} of {len(cases)}:\n" + "\n".join(wrong)
