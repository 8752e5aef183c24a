"""A word adjacency network as a picture: its strongest edges, words as large as they are frequent."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Circle, Ellipse, FancyArrowPatch
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from numpy.typing import NDArray

from shiftstate.places import Points, fill, places, push_apart

WIDTH, HEIGHT = 720.0, 540.0
SMALLEST, LARGEST = 7.0, 15.0
"""Font sizes."""
GAP = 8.0
"""Points between two words at least."""
BEND = 0.12
"""How far an arrow swings out, over its length: the way back takes the other side."""
EDGE, WORD, RIM, TEXT = "#3b76b8", "#f6e3dd", "#c8553d", "#222222"


def draw_wan(
    matrix: NDArray[np.int64], counts: NDArray[np.int64], words: Sequence[str], title: str, edges: int = 200
) -> Figure:
    """The ``edges`` strongest edges of W and the words at their ends; arrows from a word to the one that follows.

    Words that follow each other often stand close together. The size of a word is its frequency, the width and
    darkness of an arrow the weight of its edge; an ellipse is a word that follows itself. Same network, same picture.
    """
    chosen = _strongest(matrix, edges)
    nodes = np.unique(chosen)
    share = np.sqrt(counts[nodes] / max(1, counts[nodes].max()))
    sizes = SMALLEST + (LARGEST - SMALLEST) * share
    names = [words[node] for node in nodes]
    boxes = np.array([_extent(name, size) for name, size in zip(names, sizes, strict=True)])
    at = push_apart(fill(places(matrix[np.ix_(nodes, nodes)], even=True), (WIDTH, HEIGHT)), boxes, GAP)
    figure, axis = _page(at, boxes, f"{title}: the {len(chosen)} strongest edges")
    weights = np.array([matrix[i, j] for i, j in chosen], dtype=float)
    strength = np.sqrt(weights / weights.max())
    rank = {node: position for position, node in enumerate(nodes.tolist())}
    for (i, j), value in sorted(zip(chosen.tolist(), strength.tolist(), strict=True), key=lambda pair: pair[1]):
        look = {"linewidth": 0.4 + 2.4 * value**2, "alpha": 0.2 + 0.6 * value, "color": EDGE, "zorder": 1 + value}
        if i == j:
            _loop(axis, at[rank[i]], boxes[rank[i]], look)
        else:
            start, end = ((at[rank[node]], boxes[rank[node]]) for node in (i, j))
            _arrow(axis, start, end, look)
    for point, box, name, size in zip(at, boxes, names, sizes, strict=True):
        axis.add_patch(Ellipse(point, *box, facecolor=WORD, edgecolor=RIM, linewidth=0.8, zorder=3))
        axis.text(point[0], point[1], name, fontsize=size, color=TEXT, ha="center", va="center_baseline", zorder=4)
    return figure


def _strongest(matrix: NDArray[np.int64], edges: int) -> NDArray[np.int64]:
    """(edges, 2): ends of the largest entries, the largest first; of equal ones the earliest."""
    order = np.argsort(-matrix, axis=None, kind="stable")[:edges]
    order = order[matrix.ravel()[order] > 0]
    if not len(order):
        raise ValueError("the network has no edges to draw; expected words of the list near each other in the text")
    return np.stack(np.unravel_index(order, matrix.shape), 1)


def _extent(name: str, size: float) -> tuple[float, float]:
    """Width and height of the ellipse around a word, in points."""
    box = TextPath((0, 0), name, size=size, prop=FontProperties(family="DejaVu Sans")).get_extents()
    return 1.25 * box.width + 0.9 * size, 2.0 * size


def _page(at: Points, boxes: Points, title: str) -> tuple[Figure, Axes]:
    low, high = (at - boxes / 2).min(0) - 24, (at + boxes / 2).max(0) + 24
    width, height = high - low
    figure = Figure(figsize=(width / 72, (height + 24) / 72))
    axis = figure.add_axes((0, 0, 1, height / (height + 24)))
    axis.set_xlim(low[0], high[0])
    axis.set_ylim(low[1], high[1])
    axis.axis("off")
    figure.text(0.5, 1 - 6 / (height + 24), title, ha="center", va="top", fontsize=12)
    return figure, axis


def _arrow(axis: Axes, start: tuple[Points, Points], end: tuple[Points, Points], look: dict[str, Any]) -> None:
    """A bent arrow between the rims of two ellipses, each given by its centre and its box."""
    a, c = start[0], end[0]
    b = (a + c) / 2 + BEND * np.array([c[1] - a[1], a[0] - c[0]])
    t = np.linspace(0, 1, 101)[:, None]
    curve = (1 - t) ** 2 * a + 2 * t * (1 - t) * b + t**2 * c
    free = [np.flatnonzero((((curve - at) / (box / 2 + 0.5)) ** 2).sum(1) > 1) for at, box in (start, end)]
    first, last = t[free[0][0], 0], t[free[1][-1], 0]
    # the same curve from t = first to t = last: its corners are the blossom of the ends
    corners = [
        (1 - u) * (1 - v) * a + (u * (1 - v) + v * (1 - u)) * b + u * v * c
        for u, v in ((first, first), (first, last), (last, last))
    ]
    path = Path(corners, [Path.MOVETO, Path.CURVE3, Path.CURVE3])
    axis.add_patch(FancyArrowPatch(path=path, arrowstyle="-|>", mutation_scale=7, **look))


def _loop(axis: Axes, at: Points, box: Points, look: dict[str, Any]) -> None:
    axis.add_patch(Circle((at[0], at[1] + box[1] / 2), 0.32 * box[1], fill=False, **look))
