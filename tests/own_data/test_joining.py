"""How own tables are joined and read by the commands: what was decided is said, doubts are refused."""

import json

import numpy as np
import pytest

from shiftstate.own_data.asking.config import settings_of
from shiftstate.own_data.predicting import _graph, stored_graph
from shiftstate.own_data.reading.problems import read_problem
from tests.own_data.towns import N, node_words, run, table


def problem(files, said, **given):
    base = {"task": "node-classification", "target": "side", "split": "split"}
    base |= {"edges": files / "edges.csv", "nodes": files / "towns.csv", "out": files / "run"}
    return read_problem(settings_of(None, base | given, {}), said.append)


def features_of(files, names, header=("town", "rain")):
    return table(files / "features.csv", header, [(name, i / 2) for i, name in enumerate(names)])


def test_features_of_unknown_names_are_refused_unless_positions_are_asked_for(files):
    features = features_of(files, [f"city{i}" for i in range(N)])
    with pytest.raises(ValueError, match=r"features.csv: no value of its first column, 'town', is the name of a node"):
        problem(files, [], features=features)
    said = []
    found = problem(files, said, features=features, join="position")
    np.testing.assert_array_equal(found.X[:, 0], np.arange(N) / 2)
    assert found.feature_names == ["rain"]
    assert "features.csv: row i belongs to node i of the table of nodes" in said


def test_numbers_that_match_no_node_are_names_all_the_same(files):
    with pytest.raises(ValueError, match="--join position takes row i for node i"):
        problem(files, [], features=features_of(files, range(900, 900 + N)))


def test_measurements_without_names_are_joined_by_position_and_that_is_said(files):
    np.savetxt(files / "features.csv", np.arange(2 * N).reshape(N, 2) + 0.5, "%g", ",")
    said = []
    assert problem(files, said, features=files / "features.csv").X.shape == (N, 2)
    assert "features.csv: row i belongs to node i of the table of nodes" in said


def test_a_target_called_na_is_unknown_and_said_or_a_class_if_kept(files):
    words = (files / "towns.csv").read_text().replace("town23,east", "town23,NA").replace("town20,east", "town20,NA")
    (files / "towns.csv").write_text(words)
    message = "row 22, column 'side' is 'NA', and 'split' says test; expected a target; --keep-na takes such words"
    with pytest.raises(ValueError, match=message):
        problem(files, [])
    said = []
    found = problem(files, said, split=[])
    assert {*found.y} == {"west", "east", ""}
    assert sum(found.masks[part].sum() for part in found.masks) == N - 2
    assert "towns.csv: 2 of 24 targets in 'side' are unknown ('NA'); --keep-na takes such words for classes" in said
    assert {*problem(files, [], split=[], keep_na=True).y} == {"west", "east", "NA"}


def test_an_edge_list_without_a_header_keeps_its_first_edge_and_header_decides(files):
    (files / "edges.csv").write_text("".join(f"town{i},town{(i + 1) % N},{i + 1}\n" for i in range(N)))
    said = []
    assert problem(files, said).shift.num_edges == 2 * N
    assert "edges.csv: edges lead from column 1 to column 2, weighted by column 3" in said
    assert problem(files, [], header="yes", source="town0", destination="town1").shift.num_edges == 2 * N - 2
    code, _, told = run(*node_words(files, "run", "--dry-run", "--header", "maybe"))
    assert (code, told.split(";")[0]) == (2, "unknown header 'maybe'")


def test_options_of_reading_stand_in_a_file_of_settings(files):
    words = ("train", "--init", files / "mine.toml", "--edges", files / "edges.csv", "--nodes", files / "towns.csv")
    assert run(*words, "--header", "yes", "--join", "name")[0] == 0
    text = (files / "mine.toml").read_text()
    assert 'header = "yes"  #' in text
    assert 'join = "name"  #' in text
    assert "# keep_na = false" in text
    (files / "mine.toml").write_text(text.replace("# keep_na = false", "keep_na = true"))
    found = settings_of(files / "mine.toml", {}, {})
    assert (found.header, found.join, found.keep_na) == ("yes", "name", True)


def test_settings_of_a_run_from_before_these_options_are_the_same_settings(files):
    words = {"task": "forecast", "edges": files / "edges.csv", "signals": files / "series.csv", "out": files / "run"}
    settings = settings_of(None, words, {})
    stored = settings.as_dict()
    for name in ("header", "join", "keep_na"):
        del stored[name]
    assert settings.differs_from(json.loads(json.dumps(stored))) == []


def test_signals_without_nodes_are_named_by_their_shape(files):
    np.save(files / "signals.npy", np.zeros((60, 0)))
    words = ("--task", "signal-classification", "--signals", files / "signals.npy", "--targets", files / "signals.csv")
    code, _, told = run("train", *words, "--edges", files / "edges.csv", "--target", "label", "--out", files / "run")
    assert code == 2
    assert "signals.npy has the shape (60, 0); expected at least one row and one column" in told
    assert not (files / "run").exists()


def test_a_truncated_or_changed_graph_of_a_run_is_named(tmp_path):
    ends, names = np.array([[0, 1], [1, 2]]), np.array(["a", "b", "c"])
    np.savez(tmp_path / "graph.npz", edges=ends, weight=np.ones(2), names=names)
    shift, found = stored_graph(tmp_path)
    assert (shift.num_nodes, found) == (3, ["a", "b", "c"])
    whole = (tmp_path / "graph.npz").read_bytes()
    (tmp_path / "graph.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"graph.npz cannot be read .*; expected the directory of a finished run"):
        stored_graph(tmp_path)
    for change in ({"edges": ends + 7}, {"edges": ends / 2}, {"names": np.arange(3)}, {"weight": np.ones(1)}):
        np.savez(tmp_path / "graph.npz", **{"edges": ends, "weight": np.ones(2), "names": names} | change)
        with pytest.raises(ValueError, match=r"graph.npz cannot be read .*; expected the directory of a finished run"):
            stored_graph(tmp_path)


def test_another_graph_is_read_with_the_columns_of_the_training(tmp_path):
    table(tmp_path / "edges.csv", ["when", "one", "two", "far"], [(1, "a", "b", 2.5), (1, "b", "c", 4)])
    asked = {"source": "one", "destination": "two", "weight": "far", "directed": True}
    shift, names = _graph(tmp_path, tmp_path / "edges.csv", asked, None, lambda line: None)
    assert names == ["a", "b", "c"]
    np.testing.assert_array_equal(shift.to_dense().numpy(), [[0, 0, 0], [2.5, 0, 0], [0, 4, 0]])
