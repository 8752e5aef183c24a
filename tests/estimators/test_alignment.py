"""Tables with an index: joined by it, or refused where labels and positions are both possible."""

import numpy as np
import pytest

import shiftstate as ss
from shiftstate.estimators import Forecaster, NodeClassifier, NodeRegressor, SignalRegressor
from shiftstate.estimators.alignment import by_index, join_rows, names_of

N = 12
RING = np.arange(N)
SHIFT = ss.Shift.from_edges(np.stack([np.r_[RING, (RING + 1) % N], np.r_[(RING + 1) % N, RING]]))
TOWNS = [f"town {i}" for i in RING]
X = np.random.default_rng(0).normal(size=(N, 2))
Y = X.sum(1)
SMALL = {"K": 1, "channels": 4, "epochs": 2, "dropout": 0.0}


class Labelled:
    """What of a pandas series or table is used: values, an index, and columns if it has them."""

    def __init__(self, values, index, columns=None):
        self.values, self.index = np.asarray(values), list(index)
        if columns is not None:
            self.columns = list(columns)

    def __array__(self, dtype=None, copy=None):
        return self.values.astype(dtype or self.values.dtype)

    def turned(self):
        return Labelled(self.values[::-1], self.index[::-1], getattr(self, "columns", None))


TABLE = Labelled(X, TOWNS, ["rain", "wind"])


def test_targets_and_masks_in_another_order_are_joined_by_name():
    y, train = Labelled(Y, TOWNS), Labelled(RING < 9, TOWNS)
    expected = NodeRegressor(**SMALL).fit(SHIFT, TABLE, y, train)
    found = NodeRegressor(**SMALL).fit(SHIFT, TABLE, y.turned(), train.turned())
    assert found.fit_.losses == expected.fit_.losses
    assert found.score(SHIFT, TABLE, y.turned(), train.turned()) == expected.score(SHIFT, X, Y, RING < 9)


def test_without_an_index_in_x_masks_follow_the_targets():
    y, train = Labelled(Y, TOWNS), Labelled(RING < 9, TOWNS)
    joined, mask = join_rows(X, y=y, train=train.turned())
    assert joined is y
    np.testing.assert_array_equal(mask, RING < 9)


def test_signals_and_their_targets_are_joined_by_name():
    signals = np.random.default_rng(1).normal(size=(20, N))
    rows = [f"day {i}" for i in range(20)]
    x, y = Labelled(signals, rows, TOWNS), Labelled(signals[:, 0], rows)
    expected = SignalRegressor(**SMALL).fit(SHIFT, x, y, valid=(x, y))
    found = SignalRegressor(**SMALL).fit(SHIFT, x, y.turned(), valid=(x, y.turned()))
    assert found.fit_.losses == expected.fit_.losses
    assert found.fit_.valid_scores == expected.fit_.valid_scores


@pytest.mark.parametrize("index", [range(N), TOWNS])
def test_a_plain_index_beside_names_is_taken_by_position(index):
    other = TOWNS if list(index) != TOWNS else range(N)
    y = Labelled(Y, other)
    assert by_index("y", y, [("X", Labelled(X, index))]) is y


@pytest.mark.parametrize(
    ("index", "other"),
    [
        (RING[::-1].tolist(), range(N)),
        (range(N), range(5, N + 5)),
        ([f"city {i}" for i in RING], TOWNS),
        (["town 0"] * N, TOWNS),
        (["town 0", *TOWNS[:-1]], TOWNS),
    ],
)
def test_labels_that_differ_are_refused_with_both_ways_out(index, other):
    with pytest.raises(ValueError, match=r"y has the index .* where X has .*y.loc\[X.index\].*y.to_numpy\(\)"):
        by_index("y", Labelled(Y, index), [("X", Labelled(X, other))])


@pytest.mark.parametrize(
    "call",
    [
        lambda: NodeRegressor(**SMALL).fit(SHIFT, X, Labelled(Y, RING[::-1].tolist())),
        lambda: NodeRegressor(**SMALL).fit(SHIFT, Labelled(X, RING[::-1].tolist()), Y),
        lambda: NodeRegressor(**SMALL).fit(SHIFT, X, Y, train=Labelled(RING < 9, RING[::-1].tolist())),
        lambda: Forecaster(history=2, epochs=1).fit(SHIFT, Labelled(np.ones((40, N)), range(40), RING[::-1].tolist())),
    ],
)
def test_numbers_of_nodes_in_another_order_than_the_graphs_are_refused(call):
    with pytest.raises(ValueError, match="in another order than the nodes of the graph"):
        call()


def test_rows_of_the_training_graph_in_another_order_are_refused_and_other_names_are_of_another_graph():
    made = NodeRegressor(**SMALL).fit(SHIFT, TABLE, Y)
    with pytest.raises(ValueError, match="X has the node 'town 11' where the training data had 'town 0'"):
        made.predict(SHIFT, TABLE.turned())
    elsewhere = Labelled(X, [f"city {i}" for i in RING], ["rain", "wind"])
    np.testing.assert_array_equal(made.predict(SHIFT, elsewhere), made.predict(SHIFT, X))


def test_numbered_columns_in_another_order_are_refused():
    made = NodeRegressor(**SMALL).fit(SHIFT, Labelled(X, TOWNS, range(2)), Y)
    with pytest.raises(ValueError, match="X has the feature '1' where the training data had '0'"):
        made.predict(SHIFT, Labelled(X, TOWNS, [1, 0]))


def test_a_score_of_a_forecaster_looks_at_the_names_of_nodes():
    series = Labelled(np.random.default_rng(0).normal(size=(40, N)), range(40), TOWNS)
    made = Forecaster(**SMALL, history=2).fit(SHIFT, series)
    with pytest.raises(ValueError, match="X has the node 'town 11' where the training data had 'town 0'"):
        made.score(SHIFT, Labelled(series.values[:, ::-1], range(40), TOWNS[::-1]))


def test_times_that_do_not_rise_are_refused():
    class Times(list):
        dtype, is_monotonic_increasing = np.dtype("datetime64[D]"), False

    series = Labelled(np.ones((40, N)), range(40), TOWNS)
    series.index = Times(range(40))
    with pytest.raises(ValueError, match=r"series has times that do not rise .*series.sort_index\(\)"):
        Forecaster(history=2).fit(SHIFT, series)


def test_masked_targets_are_unknown():
    hidden = RING == 3
    sides = np.where(RING < 6, "left", "right")
    by_mask = NodeClassifier(**SMALL).fit(SHIFT, X, np.ma.array(sides, mask=hidden))
    by_none = NodeClassifier(**SMALL).fit(SHIFT, X, np.where(hidden, "", sides))
    assert by_mask.fit_.losses == by_none.fit_.losses
    assert by_mask.classes_.tolist() == ["left", "right"]
    masked = NodeRegressor(**SMALL).fit(SHIFT, X, np.ma.array(Y, mask=hidden))
    missing = NodeRegressor(**SMALL).fit(SHIFT, X, np.where(hidden, np.nan, Y))
    assert masked.fit_.losses == missing.fit_.losses


def test_names_are_none_for_positions():
    assert names_of(Labelled(X, range(N)), 0) is None
    assert names_of(X, 1) is None
    assert names_of(Labelled(X, [3, 1, 2]), 0) == ["3", "1", "2"]
