"""Statistics against SciPy and computations by hand; the graph, not the draw, is the unit."""

import math

import numpy as np
import pytest
from scipy import stats

from shiftstate.machine.judging.effects import deviation_difference, difference, holm, mean_interval


def draws(graphs=6, draws=4, seed=0, shift=0.0, spread=0.1):
    generator = np.random.default_rng(seed)
    at = generator.normal(size=graphs)
    return {(g, d): shift + spread * (at[g] + generator.normal()) for g in range(graphs) for d in range(draws)}


def by_graph(values):
    graphs = sorted({graph for graph, _ in values})
    return [np.mean([value for key, value in values.items() if key[0] == graph]) for graph in graphs]


def test_the_difference_is_scipys_paired_t_test_of_the_graphs_means():
    ours, theirs = draws(seed=1, shift=0.05), draws(seed=2)
    effect, expected = difference(ours, theirs), stats.ttest_rel(by_graph(ours), by_graph(theirs))
    assert effect.n == 6
    assert effect.mean == pytest.approx(np.mean(by_graph(ours)) - np.mean(by_graph(theirs)), abs=1e-12)
    assert effect.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert effect.interval == pytest.approx(tuple(expected.confidence_interval(0.95)), rel=1e-9)


def test_repeating_every_draw_on_a_graph_adds_no_evidence():
    ours, theirs = draws(seed=1, shift=0.05), draws(seed=2)
    doubled = [{**one, **{(g, d + 4): value for (g, d), value in one.items()}} for one in (ours, theirs)]
    assert difference(*doubled).p == pytest.approx(difference(ours, theirs).p, rel=1e-9)
    assert difference(*doubled).n == 6


def test_only_pairs_that_both_have_count():
    ours, theirs = draws(), draws(seed=2)
    extra = {**ours, (0, 99): 1e6, (77, 0): 1e6}
    assert difference(extra, theirs) == difference(ours, theirs)
    assert difference(ours, {(50, 0): 1.0}) is None


def test_a_margin_moves_what_is_tested_and_not_what_is_reported():
    ours, theirs = draws(seed=1, shift=0.05), draws(seed=2)
    plain, tested = difference(ours, theirs), difference(ours, theirs, 0.05)
    assert (tested.mean, tested.interval, tested.n) == (plain.mean, plain.interval, plain.n)
    lowered = difference({key: value - 0.05 for key, value in ours.items()}, theirs)
    assert tested.p == pytest.approx(lowered.p, rel=1e-9)
    assert tested.p != pytest.approx(plain.p, rel=1e-3)


def test_one_graph_or_graphs_that_agree_exactly_tell_no_spread():
    alone, agreeing = {(0, 0): 0.5, (0, 1): 0.7}, {(unit, 0): 0.5 for unit in range(7)}
    for values, p in ((alone, None), (agreeing, 2**-6)):
        assert mean_interval(values) is None
        effect = difference(values, dict.fromkeys(values, 0.25))
        assert effect.p == p
        assert effect.interval is None
        assert effect.mean == pytest.approx(np.mean(list(values.values())) - 0.25)
    assert difference(agreeing, dict.fromkeys(agreeing, 0.25), overlap=0.5).p is None  # splits of one set: not so many
    assert difference(agreeing, agreeing).p is None


def test_the_interval_of_a_mean_is_students():
    values = draws()
    means = by_graph(values)
    half = stats.t.ppf(0.975, 5) * np.std(means, ddof=1) / math.sqrt(6)
    assert mean_interval(values) == pytest.approx((np.mean(means) - half, np.mean(means) + half), rel=1e-9)


def test_intervals_cover_the_truth_as_often_as_they_say_with_nested_draws():
    """The naive interval over all draws would cover far less often: draws on a graph share its fate."""
    covered = 0
    for seed in range(400):
        low, high = mean_interval(draws(graphs=5, draws=5, seed=seed))
        covered += low < 0 < high
    assert 0.92 < covered / 400 < 0.98


def test_a_difference_of_deviations_is_the_jackknifes():
    ours, theirs = draws(seed=3, spread=0.2), draws(seed=4, spread=0.1)
    effect = deviation_difference(ours, theirs)

    def gap(without=None):
        one, two = ([value for key, value in part.items() if key[0] != without] for part in (ours, theirs))
        return np.std(one, ddof=1) - np.std(two, ddof=1)

    pseudo = [6 * gap() - 5 * gap(graph) for graph in range(6)]
    assert effect.mean == pytest.approx(gap(), rel=1e-9)
    error = np.std(pseudo, ddof=1) / math.sqrt(6)
    assert effect.p == pytest.approx(2 * stats.t.sf(abs(gap()) / error, 5), rel=1e-9)
    assert sum(effect.interval) / 2 == pytest.approx(effect.mean, rel=1e-9), (
        "one centre: no verdict against its interval"
    )


def test_a_clear_difference_of_deviations_is_found_and_a_missing_one_is_not():
    found = sum(
        deviation_difference(draws(10, 10, seed, spread=0.3), draws(10, 10, seed + 1000, spread=0.05)).p < 0.05
        for seed in range(100)
    )
    false = sum(deviation_difference(draws(10, 10, seed), draws(10, 10, seed + 1000)).p < 0.05 for seed in range(100))
    assert found > 90
    assert false < 15


def test_too_few_draws_for_a_deviation_say_so():
    assert deviation_difference({(0, 0): 0.1}, {(0, 0): 0.2}) is None
    assert deviation_difference({(0, 0): 0.1, (1, 0): 0.3}, {(0, 0): 0.2, (1, 0): 0.2}).p is None


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_overlapping_splits_have_the_variance_of_nadeau_and_bengio():
    ours = {(0, 0): 0.9, (1, 0): 0.8, (2, 0): 0.95, (3, 0): 0.85}
    theirs = dict.fromkeys(ours, 0.8)
    effect = difference(ours, theirs, overlap=0.05 / 0.95)
    gaps = np.array([0.1, 0.0, 0.15, 0.05])
    error = np.sqrt((1 / 4 + 5 / 95) * gaps.var(ddof=1))
    assert effect.p == pytest.approx(2 * stats.t.sf(gaps.mean() / error, 3))
    assert effect.interval == pytest.approx(tuple(gaps.mean() + stats.t.ppf([0.025, 0.975], 3) * error))
    low, high = mean_interval(ours, overlap=0.05 / 0.95)
    assert high - low == pytest.approx(effect.interval[1] - effect.interval[0])
