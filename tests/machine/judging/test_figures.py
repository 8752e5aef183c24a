"""The figures: bars where the means are, error bars half and whole, the same bytes every time."""

import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from shiftstate.machine.judging.figures import draw as draw_experiment
from shiftstate.machine.judging.summary import Line
from shiftstate.machine.study import Landmark
from shiftstate.machine.trial import Cell
from shiftstate.pictures import render
from shiftstate.studies.paper import STUDY
from shiftstate.studies.paper.published import PUBLISHED

FILTERS = ("gcnn", "rsn", "lssm")
CEILING = Landmark(0.583, "matching shapes", "matching shapes: 58 %\n(with amplitudes: 100 %)", "")


def at(experiment, filter, K, L, author=None):
    return Cell.of(experiment, filter=filter, K=K, L=L, author=author)


LINES = [
    *(Line(at("figure1", f, K, 1), 9, 0.01 * K + 0.1 * i, 0.08, 0.9) for K in (4, 16, 32)
      for i, f in enumerate(FILTERS)),
    *(Line(at("table1", f, 4, L), 5, 0.1 * L, None, 0.9, *PUBLISHED[at("table1", f, 4, L)])
      for L in (2, 4) for f in FILTERS),
]  # fmt: skip


def draw(experiment, lines, *landmarks):
    return draw_experiment(STUDY, STUDY[experiment], lines, landmarks, 0.2)


def bars(axis):
    return sorted(patch.get_height() for patch in axis.patches)


def half_lengths(axis):
    segments = [segment for collection in axis.collections for segment in collection.get_segments()]
    return {round((segment[1][1] - segment[0][1]) / 2, 6) for segment in segments if segment[0][0] == segment[1][0]}


def test_figure_1_shows_every_mean_with_half_and_with_whole_deviations():
    half, whole = draw("figure1", LINES).axes
    expected = sorted(100 * line.mean for line in LINES if line.cell.experiment == "figure1")
    assert bars(half) == pytest.approx(expected)
    assert bars(whole) == pytest.approx(expected)
    assert half_lengths(half) == {4.0}
    assert half_lengths(whole) == {8.0}
    assert [label.get_text() for label in half.get_xticklabels()] == ["K = 4", "K = 16", "K = 32"]


def test_table_1_shows_the_papers_numbers_beside_ours():
    (axis,) = draw("table1", LINES).axes
    assert bars(axis) == pytest.approx([20, 20, 20, 40, 40, 40])
    assert half_lengths(axis) >= {5.0, 17.0, 12.0, 3.0, 16.0}
    assert [label.get_text() for label in axis.get_xticklabels()] == ["L = 2", "L = 4"]


def test_the_ceiling_is_a_line_where_it_belongs():
    for axis in draw("figure1", LINES, CEILING).axes:
        assert any(list(line.get_ydata()) == pytest.approx([58.3, 58.3]) for line in axis.lines)


@pytest.mark.parametrize("experiment", ["figure1", "table1"])
@pytest.mark.parametrize("model", ["", "gcnn:"], ids=["plain", "matched"])
def test_the_legend_fits_into_the_figure(experiment, model):
    wide = [
        replace(line, cell=line.cell.at(filter=f"{model}{line.cell['filter']}"))
        for line in LINES
        if line.cell["filter"] != "gcnn"
    ]
    figure = draw(experiment, [*LINES, *wide] if model else LINES, CEILING)
    render(figure, "png")
    (legend,) = figure.legends
    place = legend.get_window_extent()
    assert 0 <= place.x0 < place.x1 <= figure.bbox.x1
    assert place.y0 >= 0
    names = {text.get_text() for text in legend.get_texts()}
    assert {"GCNN", "RSN", "LSSM"} <= names
    assert not model or "GCNN of the LSSM's size" in names


def test_svg_and_png_are_well_formed_and_the_same_every_time():
    svg, png = (render(draw("figure1", LINES), kind) for kind in ("svg", "png"))
    assert (svg, png) == tuple(render(draw("figure1", LINES), kind) for kind in ("svg", "png"))
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert b"LSSM" in svg
    assert png.startswith(b"\x89PNG")


def test_table_2_has_a_group_for_every_author_with_its_baselines_beside_the_filters():
    names = (*FILTERS, "logistic", "svm", "delta")
    lines = [
        Line(
            at("table2", name, 32 * (name in FILTERS), int(name in FILTERS), author),
            30,
            0.6 + 0.05 * n,
            0.1,
            0.9,
            *paper,
        )
        for author, paper in (("austen", (0.64, 0.2)), ("bronte_charlotte", (0.7, 0.1)), ("bronte", (None, None)))
        for n, name in enumerate(names)
    ]
    (axis,) = draw("table2", lines).axes
    assert [label.get_text() for label in axis.get_xticklabels()] == ["austen", "bronte charlotte", "bronte"]
    heights = [[bar.get_height() for bar in group] for group in axis.containers if hasattr(group, "patches")]
    assert heights == [[pytest.approx(60 + 5 * n)] * 3 for n in range(6)]
