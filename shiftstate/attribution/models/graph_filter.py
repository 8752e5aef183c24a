"""A graph filter on the authors' word adjacency network."""

from types import SimpleNamespace

import numpy as np
import torch
from numpy.typing import NDArray

from shiftstate.attribution.models.base import Model, scaling_shapes, standardize, z_scores
from shiftstate.attribution.models.linear import log_softmax
from shiftstate.attribution.pieces import Pieces
from shiftstate.graphs import Shift
from shiftstate.network import Network
from shiftstate.readout import FlattenReadout
from shiftstate.tasks import SignalClassification
from shiftstate.texts.word_networks import AuthorGraph, author_graph
from shiftstate.training import fit

FILTER, CHANNELS = "gcnn", 4
EPOCHS, BATCH, STEPS, DROPOUT = 12, 100, 300, 0.3
"""At least so many epochs and so many steps; the share of words that a step does not see."""


class GraphFilter(Model):
    """score_a = log p(a | x): y = tanh(Σ_k h_k S^k x), then a linear readout over words and channels.

    x are the z-scores of a piece's word frequencies, a signal on the words; S is `author_graph` of the networks of all
    training pieces together, the same for every author.
    """

    title = "graph filter on the word network"
    network = True
    K = 4

    def fit(self, pieces: Pieces, author: NDArray[np.int64], num_authors: int) -> "GraphFilter":
        """Train on the pooled network of all pieces."""
        graph = self._graph(pieces)
        self.learned = standardize(pieces)
        self.learned |= {"adjacency": graph.adjacency.astype(np.float32), "kept": graph.kept}
        train = SimpleNamespace(x=self._signals(pieces), y=torch.from_numpy(author))
        data = SimpleNamespace(train=train, valid=SimpleNamespace(x=train.x[:64], y=train.y[:64]), test=None)
        batch = min(BATCH, max(1, len(author) // 4))
        epochs = max(EPOCHS, -(-STEPS // (len(author) // batch)))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)  # of the weights and of what is dropped
            net = self._network(len(graph.kept), num_authors)
            fit(
                net,
                self._shift(),
                data,
                task=SignalClassification(smoothing=0.1, class_weights="balanced"),
                epochs=epochs,
                look_every=epochs,
                batch_size=batch,
                learning_rate=3e-3,
                weight_decay=0.1,
                schedule="cosine",
            )
        self.learned |= {f"net.{name}": value.numpy() for name, value in net.state_dict().items()}
        return self

    def shapes(self, num_authors: int, num_words: int) -> dict[str, tuple[int, ...]]:
        """Of the graph over the kept words, and of the network on it."""
        nodes = self.learned["kept"].size
        state = self._network(nodes, num_authors).state_dict()
        return {
            **scaling_shapes(num_words),
            "kept": (nodes,),
            "adjacency": (nodes, nodes),
            **{f"net.{name}": tuple(value.shape) for name, value in state.items()},
        }

    def positions(self, num_words: int) -> dict[str, int]:
        """The words that are nodes."""
        return {"kept": num_words}

    def scores(self, pieces: Pieces) -> NDArray[np.float64]:
        """Logarithms of probabilities."""
        weights = {
            name.removeprefix("net."): torch.from_numpy(np.ascontiguousarray(value))
            for name, value in self.learned.items()
            if name.startswith("net.")
        }
        net = self._network(len(self.learned["kept"]), len(weights["readout.linear.bias"]))
        net.load_state_dict(weights)
        net.eval()
        with torch.no_grad():
            return log_softmax(net(self._signals(pieces), self._shift()).double().numpy())

    def _signals(self, pieces: Pieces) -> torch.Tensor:
        return torch.from_numpy(z_scores(pieces, self.learned)[:, self.learned["kept"], None])

    def _shift(self) -> Shift:
        return Shift.from_matrix(torch.from_numpy(self.learned["adjacency"]))

    def _graph(self, pieces: Pieces) -> AuthorGraph:
        size = pieces.num_words
        return author_graph(np.asarray(pieces.pairs.sum(0), dtype=np.float64).reshape(size, size))

    def _network(self, nodes: int, authors: int) -> Network:
        readout = FlattenReadout(nodes, authors)
        return Network(FILTER, [1, CHANNELS], self.K, readout, activation="tanh", dropout=DROPOUT)


class NoGraph(GraphFilter):
    """The same with K = 0: y = tanh(h_0 x), no graph. What the filter is better than this is what its graph adds."""

    title = "the filter without its graph"
    network = False
    K = 0

    def _graph(self, pieces: Pieces) -> AuthorGraph:
        return AuthorGraph(np.eye(pieces.num_words), np.arange(pieces.num_words))
