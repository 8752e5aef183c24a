"""Where to draw the nodes of a graph, and how to keep their labels apart; the same places for the same graph."""

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
"""(n, 2)."""

STEPS = 150
GOLDEN = np.pi * (3 - np.sqrt(5))
ROUNDS = 5000
"""Rounds of pushing; the boxes lie apart long before."""


def places(weights: NDArray[np.float64] | NDArray[np.int64], even: bool = False) -> Points:
    """Places (n, 2) within [−1, 1]² for a graph of these weights (n, n), directions and signs ignored.

    Fruchterman and Reingold's forces: connected nodes attract each other, all nodes repel each other, and a pull to
    the centre keeps disconnected parts in the picture.

    Args:
        weights: of the edges; where a few of them are far larger than the others, give their roots.
        even: give every node the same room. Each stays in its direction from the node of largest weight, which
            stands in the middle, and the others keep their order by distance from it. Good where a few hubs would
            draw all other nodes into one knot.
    """
    n = len(weights)
    if n == 1:
        return np.zeros((1, 2))
    size = np.abs(weights.astype(float))
    strength = size + size.T
    np.fill_diagonal(strength, 0)
    strength /= max(strength.max(), np.finfo(float).tiny)
    place = _start(strength)
    ideal = 1 / np.sqrt(n)
    for step in range(STEPS):
        apart = place[:, None] - place[None]  # (n, n, 2)
        distance = np.maximum(np.linalg.norm(apart, axis=-1), 1e-3 * ideal)
        force = ideal**2 / distance**2 - strength * distance / ideal
        move = (apart * force[..., None]).sum(1) - ideal * place
        length = np.maximum(np.linalg.norm(move, axis=-1, keepdims=True), 1e-12)
        place = place + move / length * np.minimum(length, 0.2 * (1 - step / STEPS))
    if even:
        place = _evened(place, int(strength.sum(1).argmax()))
    place = place - (place.max(0) + place.min(0)) / 2
    scaled: Points = place / max(np.abs(place).max(), 1e-12)
    return scaled


def push_apart(at: Points, boxes: Points, gap: float) -> Points:
    """Places near ``at`` (n, 2) where boxes of these widths and heights (n, 2) lie about ``gap`` apart.

    No two boxes overlap. If there is no room for all of them, the whole picture grows.
    """
    need = (boxes[:, None] + boxes[None]) / 2 + gap  # (n, n, 2)
    order = np.sign(np.arange(len(at))[:, None] - np.arange(len(at)))[..., None]
    for turn in range(1, ROUNDS):
        apart = at[:, None] - at[None]
        overlap = need - np.abs(apart)
        hit = overlap.min(2) > gap / 10
        np.fill_diagonal(hit, False)
        if not hit.any():
            break
        narrow = overlap[..., 0] < overlap[..., 1]
        away = np.where(apart == 0, order, np.sign(apart))  # two at one place part in the order of their numbers
        push = np.where(np.stack([narrow, ~narrow], 2) & hit[..., None], away * overlap, 0.0)
        at = at + 0.3 * push.sum(1)
        if turn % 100 == 0:
            at = 1.1 * at
    return at


def fill(at: Points, size: tuple[float, float] = (1.0, 1.0)) -> Points:
    """The same places, stretched over a page from 0 to its width and height; in the middle if all are in one line."""
    span = np.ptp(at, axis=0)
    stretched: Points = np.where(span > 0, (at - at.min(0)) / np.where(span > 0, span, 1), 0.5) * size
    return stretched


def _start(strength: NDArray[np.float64]) -> Points:
    """Two smooth eigenvectors of the graph and a little of a sunflower, which no two nodes share."""
    n = len(strength)
    degree = strength.sum(1)
    scale = np.where(degree > 0, 1 / np.sqrt(np.where(degree > 0, degree, 1)), 0)
    _, vectors = np.linalg.eigh(scale[:, None] * strength * scale)
    smooth = vectors[:, [-2, -3 if n > 2 else -1]]
    smooth = smooth * np.sign(smooth[np.abs(smooth).argmax(0), [0, 1]])  # a solver's choice of sign is not ours
    angle, radius = GOLDEN * np.arange(n), np.sqrt((np.arange(n) + 0.5) / n)
    sunflower = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    start: Points = smooth / np.abs(smooth).max() + 0.1 * sunflower
    return start


def _evened(at: Points, centre: int) -> Points:
    """The r-th nearest to the centre at distance √(r / n), so that every node has the same area."""
    at = at - at[centre]
    radius = np.linalg.norm(at, axis=1)
    rank = np.argsort(np.argsort(radius, kind="stable"))
    evened: Points = at / np.maximum(radius, 1e-9)[:, None] * np.sqrt(rank / len(at))[:, None]
    return evened
