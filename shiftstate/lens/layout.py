"""Where to draw nodes: a force-directed layout that starts from the spectrum, the same for the same graph."""

import numpy as np
from numpy.typing import NDArray

STEPS = 150
GOLDEN = np.pi * (3 - np.sqrt(5))


def layout(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Positions (n, 2) within [−1, 1]² for a graph of these weights (n, n), directions and signs ignored.

    Fruchterman and Reingold's forces: connected nodes attract, all repel, and a pull to the centre keeps
    disconnected parts in the picture.
    """
    n = len(weights)
    if n == 1:
        return np.zeros((1, 2))
    strength = np.abs(weights) + np.abs(weights).T
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
    place = place - (place.max(0) + place.min(0)) / 2
    scaled: NDArray[np.float64] = place / max(np.abs(place).max(), 1e-12)
    return scaled


def _start(strength: NDArray[np.float64]) -> NDArray[np.float64]:
    """Two smooth eigenvectors of the graph and a little of a sunflower, which no two nodes share."""
    n = len(strength)
    degree = strength.sum(1)
    scale = np.where(degree > 0, 1 / np.sqrt(np.where(degree > 0, degree, 1)), 0)
    _, vectors = np.linalg.eigh(scale[:, None] * strength * scale)
    smooth = vectors[:, [-2, -3 if n > 2 else -1]]
    smooth = smooth * np.sign(smooth[np.abs(smooth).argmax(0), [0, 1]])  # a solver's choice of sign is not ours
    angle, radius = GOLDEN * np.arange(n), np.sqrt((np.arange(n) + 0.5) / n)
    sunflower = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    start: NDArray[np.float64] = smooth / np.abs(smooth).max() + 0.1 * sunflower
    return start
