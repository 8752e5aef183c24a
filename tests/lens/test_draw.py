"""What is drawn is what was measured; and which channels are kept as a sample."""

import numpy as np
import pytest
import torch

import shiftstate as ss
from shiftstate.lens import examine
from shiftstate.lens.draw import draw
from tests.lens.subjects import cycle


def panels(layer, **options):
    shift = cycle(5, 0.5).to(torch.float32)
    lens = examine(layer, torch.randn(6, 5, 2), shift, **options)
    figure = draw(lens)
    curves = [{line.get_label(): line for line in axes.get_lines()} for axes in figure.axes]
    limits = [axes.get_ylim() for axes in figure.axes]
    return lens.layers[0], curves, limits


def is_drawn(line, x, y):
    np.testing.assert_allclose(np.asarray(line.get_xdata(), float), list(x))
    np.testing.assert_allclose(np.asarray(line.get_ydata(), float), np.asarray(y), equal_nan=True)


def test_sizes_gates_gradients_and_reach_are_drawn_over_their_k():
    layer, (states, gates, gradients, reach), limits = panels(ss.LSSM(2, 3, 4))
    is_drawn(states["w$_k$"], range(5), layer.states.norm)
    is_drawn(states["y$_k$"], range(5), layer.outputs.norm)
    is_drawn(states["c$_k$"], range(1, 5), layer.memories.norm[1:])
    for name, gate in layer.gates.items():
        is_drawn(gates[name], range(1, 5), gate.mean)
    assert limits[1] == (-0.02, 1.02)
    for name, norms in list(layer.gradients.parameters.items())[:4]:
        is_drawn(gradients[name], range(5 - len(norms), 5), norms.where(norms > 0, torch.nan))
    (points,) = reach.values()
    is_drawn(points, layer.reach.hops, layer.reach.rms)


def test_a_filter_without_gates_shows_its_response_or_its_units():
    layer, panel, _ = panels(ss.GCNN(2, 1, 3))
    first, second = panel[1].values()
    is_drawn(first, layer.response.grid, layer.response.on_grid[0, 0].abs())
    is_drawn(second, layer.response.grid, layer.response.on_grid[0, 1].abs())
    layer, panel, limits = panels(ss.RSN(2, 1, 3))
    is_drawn(panel[1]["state dead"], range(4), layer.states.dead)
    is_drawn(panel[1]["state saturated"], range(4), layer.states.saturated)
    is_drawn(panel[1]["output dead"], range(4), layer.outputs.dead)
    assert limits[1] == (-0.02, 1.02)


def test_without_reach_there_are_no_points():
    assert panels(ss.GCNN(2, 1, 3), with_reach=False)[1][3] == {}


@pytest.mark.parametrize(
    ("layer", "channels", "names"),
    [
        (ss.GCNN(1, 6, 2), None, ["f0", "f1", "f2", "f3"]),
        (ss.GCNN(2, 3, 2), None, ["f0 g0", "f0 g1", "f1 g0", "f1 g1"]),
        (ss.GCNN(2, 3, 2), [5], ["f2 g1"]),
        (ss.RSN(2, 2, 2, mixing="depthwise"), None, ["f0", "f1"]),
    ],
)
def test_four_channels_are_kept_unless_others_are_asked_for(layer, channels, names):
    lens = examine(layer, torch.randn(4, 5, layer.in_channels), cycle(5).to(torch.float32), channels=channels)
    assert list(lens.layers[0].sample.channels) == names


@pytest.mark.parametrize("channel", [-1, 6])
def test_a_channel_that_is_not_there_is_refused(channel):
    with pytest.raises(ValueError, match="channel"):
        examine(ss.GCNN(2, 3, 2), torch.randn(4, 5, 2), cycle(5).to(torch.float32), channels=[channel])


def test_one_shift_has_one_memory_after_that_of_zeros():
    lens = examine(ss.LSSM(1, 2, 1), torch.randn(4, 5, 1), cycle(5).to(torch.float32))
    memories = lens.layers[0].sample.memories
    assert memories.shape == (2, 2, 5)
    assert not memories[0].any()
    assert memories[1].any()
