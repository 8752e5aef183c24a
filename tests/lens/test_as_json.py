"""The numbers in a lens' JSON are those of the lens, in the right places."""

import math

import pytest
import torch

import shiftstate as ss
from shiftstate.lens import as_json, examine


def rounded(values):
    return [as_json.number(one) for one in values.tolist()]


def test_positions_edges_and_spectrum_are_those_of_the_graph():
    shift = ss.Shift.from_edges([[0, 1, 2, 0], [1, 2, 3, 3]], torch.tensor([1.0, 2.0, 3.0, 4.0]))
    lens = examine(ss.GCNN(1, 1, 2), torch.randn(3, 4, 1), shift, names=list("abcd"))
    found = as_json.lens(lens)["graph"]
    assert found["x"] == rounded(lens.drawing.positions[:, 0])
    assert found["y"] == rounded(lens.drawing.positions[:, 1])
    assert found["x"] != found["y"]
    edges = found["edges"]
    assert sorted(zip(edges["source"], edges["target"], edges["weight"], strict=True)) == [
        (0, 1, 1),
        (0, 3, 4),
        (1, 2, 2),
        (2, 3, 3),
    ]
    assert (found["num_nodes"], found["num_edges"], found["left_out"]) == (4, 4, {"nodes": 0, "edges": 0})
    assert (found["spectral_radius"], found["smallest"], found["symmetric"]) == (0, 0, False)
    assert found["norm"] == as_json.number(lens.spectrum.norm)


def test_responses_and_gradients_keep_their_place():
    lens = examine(ss.GCNN(2, 3, 2), torch.randn(3, 5, 2), ss.Shift.from_edges([[0, 1, 2, 3], [1, 2, 3, 4]]))
    (layer,), (found,) = lens.layers, as_json.lens(lens)["layers"]
    assert found["response"]["pairs"] == [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]]
    assert found["response"]["on_grid"][3] == rounded(layer.response.on_grid[1, 1])
    assert found["k"] == [0, 1, 2]
    for name, norms in layer.gradients.parameters.items():
        assert found["gradients"]["parameters"][name] == {"first_k": 3 - len(norms), "norm": rounded(norms)}
    assert found["reach"]["rms"] == rounded(layer.reach.rms)
    assert (found["reach"]["half"], found["reach"]["sees"]) == (layer.reach.half, layer.reach.sees())


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1.234567, 1.2346), (2.0, 2), (1e14, 10**14), (1e15, 1e15), (math.inf, None), (math.nan, None)],
)
def test_numbers_have_five_digits_and_whole_ones_no_point(value, expected):
    assert as_json.number(value) == expected
    assert type(as_json.number(value)) is type(expected)
