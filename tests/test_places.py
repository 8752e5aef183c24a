"""Where nodes are drawn: within the square, apart, neighbours together; and boxes that do not overlap."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shiftstate.places import fill, places, push_apart
from tests.strategies import graphs


def distances(at):
    return np.linalg.norm(at[:, None] - at[None], axis=-1)


@given(graphs(), st.booleans())
def test_places_are_finite_within_the_square_and_keep_nodes_apart(graph, even):
    at = places(graph.matrix, even)
    assert at.shape == (graph.num_nodes, 2)
    assert np.abs(at).max() <= 1 + 1e-12
    assert (distances(at) + np.eye(graph.num_nodes)).min() > 1e-3
    assert np.array_equal(at, places(graph.matrix, even))


@pytest.mark.parametrize("even", [False, True])
def test_neighbours_stand_nearer_than_strangers(even):
    two = np.kron(np.eye(2), np.ones((6, 6)))
    two[0, 6] = two[6, 0] = 1
    apart = distances(places(two, even))
    assert apart[two > 0].mean() < 0.6 * apart[two == 0].mean()


def test_even_places_give_every_node_the_same_room_around_the_hub():
    star = np.zeros((40, 40))
    star[3] = star[:, 3] = 1e6
    star += np.random.default_rng(0).random((40, 40))
    at = places(star, even=True)
    radius = np.sort(np.linalg.norm(at - at[3], axis=1))
    assert radius[0] == 0
    np.testing.assert_allclose(radius / radius[-1], np.sqrt(np.arange(40) / 39))


boxes = st.lists(st.tuples(*[st.floats(0, 3)] * 2, *[st.floats(0.1, 2)] * 2), min_size=1, max_size=12)


@given(boxes, st.floats(0, 1))
def test_boxes_that_were_pushed_do_not_overlap(drawn, gap):
    at, sizes = np.hsplit(np.array(drawn), 2)
    at = push_apart(at, sizes, gap)
    need = (sizes[:, None] + sizes[None]) / 2
    assert ((np.abs(at[:, None] - at[None]) >= need - 1e-9).any(2) | np.eye(len(at), dtype=bool)).all()


def test_boxes_at_one_place_part_and_boxes_with_room_stay():
    at = push_apart(np.zeros((5, 2)), np.ones((5, 2)), 0.5)
    assert (distances(at) + 9 * np.eye(5)).min() >= 1
    far = np.array([[0.0, 0.0], [5.0, 1.0], [1.0, 7.0]])
    assert np.array_equal(push_apart(far, np.ones((3, 2)), 0.5), far)


def test_places_fill_a_page_of_any_size():
    at = fill(np.array([[-3.0, 2.0], [1.0, 2.5], [0.0, 4.0]]), (720, 540))
    assert np.array_equal(at.min(0), [0, 0])
    assert np.array_equal(at.max(0), [720, 540])
    assert np.array_equal(fill(np.zeros((1, 2))), [[0.5, 0.5]])
