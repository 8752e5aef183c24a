"""Linear models: logistic regression and support vectors on frequencies, logistic regression on word pairs."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from shiftstate.attribution.models.base import Array, Model, scaling_shapes, standardize, z_scores
from shiftstate.attribution.pieces import Pieces


class Logistic(Model):
    """score_a = log p(a | z), p = softmax(W z): z-scores of the word frequencies, authors of equal weight."""

    title = "logistic regression"
    C = 0.1

    def shapes(self, num_authors: int, num_words: int) -> dict[str, tuple[int, ...]]:
        """One row of weights per author."""
        return {**scaling_shapes(num_words), **linear_shapes(num_authors, num_words)}

    def fit(self, pieces: Pieces, author: NDArray[np.int64], num_authors: int) -> "Logistic":
        """Fit by scikit-learn."""
        self.learned = standardize(pieces)
        self.learned |= logistic(z_scores(pieces, self.learned), author, num_authors, self.C)
        return self

    def scores(self, pieces: Pieces) -> NDArray[np.float64]:
        """Logarithms of probabilities."""
        return log_softmax(linear(z_scores(pieces, self.learned), self.learned))


class SupportVectors(Model):
    """score_a = w_a · z + b_a: one author against the others, ½‖w‖² + C Σ max(0, 1 − t (w · z + b))², t = ±1.

    The squared hinge of scikit-learn's `LinearSVC`, for all authors at once.
    """

    title = "support vector machine"
    C = 0.006

    def shapes(self, num_authors: int, num_words: int) -> dict[str, tuple[int, ...]]:
        """One row of weights per author."""
        return {**scaling_shapes(num_words), **linear_shapes(num_authors, num_words)}

    def fit(self, pieces: Pieces, author: NDArray[np.int64], num_authors: int) -> "SupportVectors":
        """Minimize by L-BFGS: smooth and convex, so there is one answer."""
        self.learned = standardize(pieces)
        z = np.hstack([z_scores(pieces, self.learned), np.ones((len(pieces), 1), dtype=np.float32)])
        signs = np.where(author[:, None] == np.arange(num_authors), np.float32(1), np.float32(-1))

        def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            w = flat.reshape(num_authors, -1)
            missing = np.maximum(0, 1 - signs * (z @ w.astype(np.float32).T))
            slope = -2 * self.C * ((signs * missing).T @ z)
            return 0.5 * float((w**2).sum()) + self.C * float((missing**2).sum(dtype=np.float64)), (w + slope).ravel()

        found = minimize(
            loss, np.zeros(num_authors * z.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 200}
        )
        weights = found.x.reshape(num_authors, -1).astype(np.float32)
        self.learned |= {"weights": weights[:, :-1], "bias": weights[:, -1]}
        return self

    def scores(self, pieces: Pieces) -> NDArray[np.float64]:
        """Margins."""
        return linear(z_scores(pieces, self.learned), self.learned)


class PairLogistic(Model):
    """score_a = log p(a | u), p = softmax(W u): u the roots of the weights of the piece's own network.

    u_ij = (√w_ij − mean_ij) / √deviation_ij over the most frequent pairs of the training texts, all brought to one
    scale. The root of the deviation stands between two extremes: z-scores would let rare pairs speak as loud as
    frequent ones, plain differences would silence them.
    """

    title = "logistic regression on word pairs"
    network = True
    C = 0.01
    number = 10_000

    def shapes(self, num_authors: int, num_words: int) -> dict[str, tuple[int, ...]]:
        """One row of weights per author, over the chosen pairs."""
        pairs = self.learned["pairs"].size
        return {"pairs": (pairs,), "mean": (pairs,), "scale": (pairs,), **linear_shapes(num_authors, pairs)}

    def positions(self, num_words: int) -> dict[str, int]:
        """The chosen pairs."""
        return {"pairs": num_words**2}

    def fit(self, pieces: Pieces, author: NDArray[np.int64], num_authors: int) -> "PairLogistic":
        """Choose the pairs, then fit by scikit-learn."""
        total = np.asarray(pieces.pairs.sum(0)).ravel()
        chosen = np.sort(np.argsort(-total, kind="stable")[: min(self.number, int((total > 0).sum()))])
        roots = self._roots(pieces, chosen)
        scale = np.sqrt(roots.std(0))
        spread = np.sqrt(float(scale.dot(scale)) / max(1, len(scale)))  # the deviation of √w / scale is scale
        self.learned = {
            "pairs": chosen,  # float32 would round the positions of long lists
            "mean": roots.mean(0),
            "scale": np.where(scale > 0, scale * spread, 1).astype(np.float32),
        }
        self.learned |= logistic(self._features(roots), author, num_authors, self.C)
        return self

    def scores(self, pieces: Pieces) -> NDArray[np.float64]:
        """Logarithms of probabilities."""
        roots = self._roots(pieces, self.learned["pairs"])
        return log_softmax(linear(self._features(roots), self.learned))

    def _roots(self, pieces: Pieces, chosen: NDArray[np.int64]) -> Array:
        weights: Array = pieces.pairs[:, chosen].toarray()
        return np.sqrt(weights, out=weights)

    def _features(self, roots: Array) -> Array:
        roots -= self.learned["mean"]
        roots /= self.learned["scale"]
        return roots


def logistic(x: Array, author: NDArray[np.int64], num_authors: int, C: float) -> dict[str, Array]:
    """Weights (authors, features) of scikit-learn's logistic regression; two authors have two rows as well.

    No intercept: it would be learned from how well the author's own pieces fit, which they do the better the fewer
    texts the author has, and new texts would pay for it. The features have a mean of zero.
    """
    model = LogisticRegression(C=C, max_iter=300, class_weight="balanced", fit_intercept=False).fit(x, author)
    weights = np.asarray(model.coef_)
    if num_authors == 2:  # one row then, for the second author
        weights = np.vstack([-weights / 2, weights / 2])
    return {"weights": weights.astype(np.float32), "bias": np.zeros(num_authors, dtype=np.float32)}


def linear_shapes(num_authors: int, features: int) -> dict[str, tuple[int, ...]]:
    """Of the W and b of `linear`."""
    return {"weights": (num_authors, features), "bias": (num_authors,)}


def linear(x: Array, learned: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
    """W x + b."""
    values: NDArray[np.float64] = (x @ learned["weights"].T + learned["bias"]).astype(np.float64)
    return values


def log_softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithms of probabilities, row by row."""
    scores = scores - scores.max(1, keepdims=True)
    shifted: NDArray[np.float64] = scores - np.log(np.exp(scores).sum(1, keepdims=True))
    return shifted
