"""Claims: the sentences of Section 4, and verdicts that can come out either way."""

import numpy as np
import pytest
from scipy import stats

from shiftstate.machine.judging.claims import judge
from shiftstate.machine.judging.effects import difference
from shiftstate.machine.trial import Cell
from shiftstate.studies.paper.claims import source_localization

FILTERS = ("gcnn", "rsn", "lssm")


def at(experiment, name, K, L):
    return Cell.of(experiment, filter=name, K=K, L=L, author=None)


def cells(means, spread=0.02, graphs=10, draws=3, filters=FILTERS):
    """Results of all 15 cells with these means, filter by filter; what a graph adds is common to all filters."""
    generator = np.random.default_rng(0)
    shared = 0.1 * generator.normal(size=graphs)
    places = [("figure1", K, 1) for K in (4, 16, 32)] + [("table1", 4, L) for L in (2, 4)]
    return {
        at(experiment, name, K, L): {
            (g, d): mean + shared[g] + spread * generator.normal() for g in range(graphs) for d in range(draws)
        }
        for experiment, K, L in places
        for name, mean in zip(filters, means, strict=True)
    }


def verdicts(results, filters=FILTERS, **options):
    return {finding.claim: finding for finding in judge(results, source_localization(filters, **options))}


def test_every_sentence_of_section_4_is_there():
    assert [claim.text for claim in source_localization(FILTERS)] == [
        "RSN beats the GCNN at K = 4",
        "LSSM beats the GCNN at K = 4",
        "RSN beats the GCNN at K = 16",
        "LSSM beats the GCNN at K = 16",
        "RSN beats the GCNN at K = 32",
        "LSSM beats the GCNN at K = 32",
        "RSN has the best accuracy at K = 4",
        "LSSM has the best accuracy at K = 16",
        "LSSM has the best accuracy at K = 32",
        "LSSM has the smallest standard deviation at K = 16",
        "LSSM has the smallest standard deviation at K = 32",
        "RSN beats the GCNN at L = 2, K = 4",
        "LSSM beats the GCNN at L = 2, K = 4",
        "LSSM has the best accuracy at L = 2, K = 4",
        "RSN beats the GCNN at L = 4, K = 4",
        "LSSM beats the GCNN at L = 4, K = 4",
        "LSSM has the best accuracy at L = 4, K = 4",
        "GCNN of one layer has its best accuracy at K = 32",
    ]


def test_clear_results_give_clear_verdicts():
    found = verdicts(cells([0.4, 0.5, 0.6]))
    assert found["RSN beats the GCNN at K = 4"].verdict == "holds"
    assert found["RSN beats the GCNN at K = 4"].effect == pytest.approx(0.1, abs=0.02)
    assert found["RSN beats the GCNN at K = 4"].n == 10
    assert found["RSN has the best accuracy at K = 4"].verdict == "does not hold"
    assert found["LSSM has the best accuracy at K = 32"].verdict == "holds"
    assert found["LSSM has the best accuracy at L = 2, K = 4"].verdict == "holds"


def test_small_differences_are_undecided():
    found = verdicts(cells([0.5, 0.501, 0.5], spread=0.1))
    assert {finding.verdict for finding in found.values()} == {"undecided"}


def test_the_level_is_five_percent():
    ours, theirs = at("figure1", "rsn", 4, 1), at("figure1", "gcnn", 4, 1)
    leads = (0.10, 0.08, -0.02, 0.12, -0.01)
    results = {ours: {(graph, 0): lead for graph, lead in enumerate(leads)}, theirs: {(g, 0): 0.0 for g in range(5)}}
    (found,) = judge(results, source_localization(FILTERS)[:1])
    assert found.p == pytest.approx(stats.ttest_1samp(leads, 0).pvalue)
    assert 0.05 < found.p < 0.15
    assert found.verdict == "undecided"


def test_a_claim_fails_by_its_strongest_rival_with_a_factor_for_their_number():
    results = cells([0.5, 0.46, 0.49], spread=0.05)
    (claim,) = [claim for claim in source_localization(FILTERS) if claim.text == "RSN has the best accuracy at K = 4"]
    (found,) = judge(results, [claim])
    alone = [difference(results[claim.ours], results[rival]) for rival in claim.rivals]
    worst = min(alone, key=lambda effect: effect.mean)
    assert found.effect == worst.mean < 0
    assert found.p == pytest.approx(2 * worst.p)


def test_best_needs_to_beat_every_rival_not_only_one():
    found = verdicts(cells([0.3, 0.6, 0.6]))
    assert found["LSSM beats the GCNN at K = 16"].verdict == "holds"
    assert found["LSSM has the best accuracy at K = 16"].verdict == "undecided"
    assert abs(found["LSSM has the best accuracy at K = 16"].effect) < 0.02


def test_the_smallest_deviation_is_judged_by_deviations():
    results = cells([0.5, 0.5, 0.5], spread=0.0)
    generator = np.random.default_rng(1)
    for cell, values in results.items():
        name = cell["filter"]
        for key in values:
            values[key] = 0.5 + {"gcnn": 0.2, "rsn": 0.2, "lssm": 0.02}[name] * generator.normal()
    found = verdicts(results)["LSSM has the smallest standard deviation at K = 16"]
    assert found.verdict == "holds"
    assert found.effect == pytest.approx(0.18, abs=0.05)


def test_p_is_corrected_over_all_claims_that_could_be_tested():
    results = cells([0.5, 0.515, 0.5], spread=0.05)
    alone = judge(results, source_localization(FILTERS)[:1])[0]
    among = judge(results, source_localization(FILTERS))[0]
    assert alone.p < among.p <= 18 * alone.p
    assert alone.effect == among.effect


def test_the_best_order_of_the_gcnn_is_judged_on_the_same_graphs_and_draws():
    results = cells([0.5, 0.5, 0.5])
    highest = results[at("figure1", "gcnn", 32, 1)]
    highest |= {key: value + 0.1 for key, value in highest.items()}
    found = verdicts(results)["GCNN of one layer has its best accuracy at K = 32"]
    assert found.effect == pytest.approx(0.1, abs=0.02)
    assert found.verdict == "holds"


def test_what_was_not_run_says_so_with_n_0():
    results = {cell: values for cell, values in cells([0.4, 0.5, 0.6]).items() if cell.experiment == "figure1"}
    found = verdicts(results)
    assert found["LSSM beats the GCNN at L = 2, K = 4"].n == 0
    assert found["LSSM beats the GCNN at L = 2, K = 4"].effect is None
    assert found["LSSM beats the GCNN at L = 2, K = 4"].verdict == "not run"
    assert found["LSSM beats the GCNN at K = 4"].verdict == "holds"


def test_a_single_graph_decides_nothing():
    found = verdicts(cells([0.1, 0.5, 0.9], graphs=1))
    assert {finding.verdict for finding in found.values()} == {"undecided"}


def test_where_there_are_gcnns_of_equal_size_they_are_the_rivals():
    filters = ("gcnn:rsn", "rsn", "gcnn:lssm", "lssm")
    found = verdicts(cells([0.7, 0.5, 0.3, 0.6], filters=filters), filters)
    assert found["RSN beats the GCNN of the RSN's size at K = 4"].verdict == "does not hold"
    assert found["LSSM beats the GCNN of the LSSM's size at K = 4"].verdict == "holds"
    assert found["LSSM has the best accuracy at K = 16"].verdict == "does not hold"


def test_the_tuned_target_asks_for_five_points():
    found = verdicts(cells([0.4, 0.43, 0.6]), target=True)
    short = found["RSN beats the GCNN by 5 points or more at K = 16"]
    assert short.verdict == "does not hold"
    assert short.effect == pytest.approx(0.03, abs=0.02), "the lead, not what is missing of five points"
    assert found["LSSM beats the GCNN by 5 points or more at K = 32"].verdict == "holds"
    assert found["LSSM beats the GCNN by 5 points or more at K = 32"].effect == pytest.approx(0.2, abs=0.02)
