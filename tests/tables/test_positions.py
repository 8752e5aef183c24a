"""Graphs from arrays, matrices and GraphML: which numbers are edges, how nodes are joined, what is said of it."""

import networkx as nx
import numpy as np
import pytest

from shiftstate.tables import read_graph

SQUARE = np.array([[0, 1, 0, 2], [1, 0, 0, 0], [0, 0, 0, 3], [2, 0, 3, 0.0]])


@pytest.mark.parametrize("edges", [[[0, 1, 2], [1, 2, 3]], [[0, 1], [1, 2], [2, 3]]])
def test_edges_stand_in_two_rows_or_two_columns(tmp_path, edges):
    np.save(tmp_path / "e.npy", np.array(edges))
    found = read_graph(tmp_path / "e.npy", directed=True)
    assert found.shift.to_scipy().nonzero()[0].tolist() == [1, 2, 3]
    assert (found.names, found.said) == (None, ("edges between positions, counted from 0",))
    assert read_graph(tmp_path / "e.npy", nodes=list("abcde")).names == list("abcde")


@pytest.mark.parametrize(
    ("edges", "nodes", "message"),
    [
        ([[0, -1, 1], [1, 0, 2]], None, "has an edge of node -1; expected positions from 0 to 2"),
        ([[0, -1, 1], [1, 0, 2]], list("abcd"), "has an edge of node -1; expected positions from 0 to 3"),
        ([[0, 1, 2], [1, 2, 3]], list("abc"), "has an edge of node 3; expected positions from 0 to 2"),
        (np.zeros((2, 0), int), list("abc"), "has an edge of node 0; expected positions from 0 to 2"),
    ],
)
def test_a_position_that_no_node_has_is_named(tmp_path, edges, nodes, message):
    np.save(tmp_path / "e.npy", np.array(edges))
    with pytest.raises(ValueError, match=message):
        read_graph(tmp_path / "e.npy", nodes=nodes)


def test_weights_of_an_npz_belong_to_its_edges(tmp_path):
    np.savez(tmp_path / "e.npz", edges=[[0, 1, 2], [1, 2, 3]], weight=[1.0, 2.0, 3.0])
    assert read_graph(tmp_path / "e.npz", directed=True).shift.to_scipy().data.tolist() == [1, 2, 3]
    for weight in ([1.0, 2.0], [[1.0, 2.0, 3.0]], ["a", "b", "c"]):
        np.savez(tmp_path / "e.npz", edges=[[0, 1, 2], [1, 2, 3]], weight=weight)
        with pytest.raises(ValueError, match=r"expected one per edge, \(3,\)"):
            read_graph(tmp_path / "e.npz")


def test_a_matrix_without_names_is_joined_by_position_and_it_is_said(tmp_path):
    np.save(tmp_path / "m.npy", SQUARE)
    for nodes in (None, list("abcd")):
        found = read_graph(tmp_path / "m.npy", nodes)
        assert found.said == ("an adjacency matrix of 4 nodes, joined by position",)
        assert (found.names, found.shift.to_dense().tolist()) == (nodes, SQUARE.tolist())
    with pytest.raises(ValueError, match="is a matrix of 4 nodes; expected 3, as in the other file"):
        read_graph(tmp_path / "m.npy", list("abc"))
    np.save(tmp_path / "m.npy", np.where(SQUARE == 3, np.inf, SQUARE))
    with pytest.raises(ValueError, match=r"m\.npy holds a weight of inf; expected finite weights"):
        read_graph(tmp_path / "m.npy")


def test_a_matrix_with_names_is_joined_by_them(tmp_path):
    rows = [",".join(["a", "b", "c", "d"]), *(",".join(map(str, row)) for row in SQUARE)]
    (tmp_path / "m.csv").write_text("\n".join(rows))
    found = read_graph(tmp_path / "m.csv")
    assert (found.names, found.said[-1]) == (list("abcd"), "an adjacency matrix of 4 nodes")
    turned = read_graph(tmp_path / "m.csv", nodes=list("dcba"))
    assert turned.said[-1] == "an adjacency matrix of 4 nodes, joined by the names of its columns"
    assert turned.shift.to_dense().tolist() == SQUARE[::-1, ::-1].tolist()


@pytest.mark.parametrize(("gap", "is_said"), [(1e-7, False), (1e-3, True)])
def test_a_matrix_that_is_not_symmetric_is_said_unless_it_is_by_rounding(tmp_path, gap, is_said):
    np.save(tmp_path / "m.npy", SQUARE + np.triu(np.full((4, 4), gap), 1))
    told = [line for line in read_graph(tmp_path / "m.npy").said if "not symmetric" in line]
    assert bool(told) == is_said
    assert not [line for line in read_graph(tmp_path / "m.npy", directed=True).said if "not symmetric" in line]


def test_nodes_of_graphml_are_joined_by_their_ids_or_by_a_label(tmp_path):
    graph = nx.DiGraph()
    for node, town in [("n0", "Rome"), ("n1", "Oslo"), ("n2", "Bern")]:
        graph.add_node(node, name=town)
    graph.add_edge("n0", "n1", weight=4.0)
    nx.write_graphml(graph, tmp_path / "g.graphml")
    plain = read_graph(tmp_path / "g.graphml")
    assert (plain.names, plain.said) == (["n0", "n1", "n2"], ("a directed graph",))
    assert plain.shift.to_dense()[1, 0] == 4
    found = read_graph(tmp_path / "g.graphml", nodes=["Bern", "Rome", "Oslo"])
    assert found.said == ("a directed graph", "nodes are joined by their 'name'")
    assert found.shift.to_dense()[2, 1] == 4
    assert read_graph(tmp_path / "g.graphml", nodes=["Bern", "Rome", "Oslo", "Lima"]).shift.num_nodes == 4
    with pytest.raises(ValueError, match="n0"):
        read_graph(tmp_path / "g.graphml", nodes=["Bern", "Rome"])
