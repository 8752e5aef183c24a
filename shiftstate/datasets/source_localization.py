"""Source localization: from which block of the graph did a diffused signal come?"""

from dataclasses import dataclass
from importlib import import_module
from typing import Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from shiftstate.checks import check_name, check_seed, check_whole
from shiftstate.datasets.samples import Samples, Scaling, scaled
from shiftstate.graphs import BlockGraph, Shift

Source = Literal["hub", "any", "one", "clusters"]


@dataclass(frozen=True, eq=False)
class SourceLocalization:
    """x = S^t δ_source with S = A / λ_max; the label is the block of the source.

    Example:
        >>> from shiftstate.datasets import SourceLocalization
        >>> from shiftstate.graphs import stochastic_block_model
        >>> graph = stochastic_block_model([10] * 5, p=0.8, q=0.2, seed=0)
        >>> data = SourceLocalization.generate(graph, num_samples=(100, 20, 20), seed=1)
        >>> data.train.x.shape, data.train.y.shape, data.shift
        (torch.Size([100, 50, 1]), torch.Size([100]), Shift(50 nodes, 750 edges, dense, float32, cpu))
    """

    shift: Shift
    train: Samples
    valid: Samples
    test: Samples
    scaling: Scaling | None = None
    """How the signals were standardized, in float64; None if they were not."""

    @classmethod
    def generate(
        cls,
        graph: BlockGraph,
        *,
        source: Source = "hub",
        standardize: bool = False,
        num_samples: tuple[int, int, int] = (10240, 2560, 2560),
        max_time: int = 50,
        seed: int | np.random.Generator,
        dtype: torch.dtype = torch.float32,
    ) -> "SourceLocalization":
        """Draw labels uniformly from the blocks and times t uniformly from 0 … max_time, and diffuse.

        Args:
            graph: the graph and its blocks.
            source: "hub": the source of a block is its node of highest degree, the lowest id among equals.
                "any": a node of the block, uniformly drawn for every sample. "one": a node of the block, drawn once
                for all samples. "clusters": as "hub", with the classes found by spectral clustering of the graph
                instead of its blocks (needs scikit-learn).
            standardize: subtract each node's mean over the training set and divide by its standard deviation;
                nodes that never vary there are only centred.
            num_samples: samples for training, validation and test.
            max_time: the latest time.
            seed: a whole number, or a generator to go on drawing from.
            dtype: of signals and shift; diffusion and standardization run in float64 whatever it is.
        """
        check_name("source", source, get_args(Source))
        check_whole("max_time", max_time, 0)
        if len(num_samples) != 3:
            raise ValueError(f"num_samples is {num_samples!r}; expected three: for training, validation and test")
        counts = [check_whole("num_samples", count, 1) for count in num_samples]
        generator = check_seed(seed)
        shift = Shift.from_matrix(graph.adjacency.double()).normalized("spectral")
        diffused = _diffuse(shift, max_time)
        candidates = _candidates(graph, source, generator)
        splits = [_draw(diffused, candidates, count, generator) for count in counts]
        scaling = Scaling.of(splits[0].x) if standardize else None
        train, valid, test = (Samples(x.to(dtype), y) for x, y in scaled(splits, scaling))
        return cls(shift.to(dtype), train, valid, test, scaling)


def _diffuse(shift: Shift, max_time: int) -> Tensor:
    """S^t for t = 0 … max_time: (max_time + 1, N, N); column j is a delta at node j, diffused."""
    powers = [torch.eye(shift.num_nodes, dtype=shift.dtype)]
    for _ in range(max_time):
        powers.append(shift @ powers[-1])
    return torch.stack(powers)


def find_clusters(graph: BlockGraph) -> Tensor:
    """The cluster of every node (N), by spectral clustering into as many clusters as the graph has blocks.

    Clusters are numbered by their first node, so where the clustering recovers the blocks, it gives their numbers.
    """
    try:
        cluster = import_module("sklearn.cluster")
    except ImportError:
        raise ValueError(
            "source 'clusters' needs scikit-learn; expected it installed: pip install 'shiftstate[baselines]'"
        ) from None
    model = cluster.SpectralClustering(
        graph.num_blocks, affinity="precomputed", assign_labels="discretize", random_state=0
    )
    found = model.fit(graph.adjacency.double().numpy()).labels_
    names, firsts = np.unique(found, return_index=True)
    if len(names) < graph.num_blocks:
        raise ValueError(f"spectral clustering found {len(names)} clusters; expected {graph.num_blocks}, one per block")
    return torch.from_numpy(np.argsort(np.argsort(firsts))[np.searchsorted(names, found)])


def recovered(graph: BlockGraph) -> tuple[bool, bool]:
    """Whether spectral clustering finds the blocks themselves, and whether it finds the sources of "hub" at least."""
    blocks = torch.equal(find_clusters(graph), graph.blocks)
    generator = np.random.default_rng()  # not drawn from
    clusters, hubs = (_candidates(graph, source, generator) for source in ("clusters", "hub"))
    return blocks, np.array_equal(np.sort(np.concatenate(clusters)), np.sort(np.concatenate(hubs)))  # in any order


def _candidates(graph: BlockGraph, source: str, generator: np.random.Generator) -> list[NDArray[np.int64]]:
    """The nodes of every class that can be its source, in order of their ids."""
    classes = find_clusters(graph) if source == "clusters" else graph.blocks
    degree = graph.adjacency.sum(1).numpy()
    members = [np.flatnonzero(classes.numpy() == number) for number in range(graph.num_blocks)]
    if source == "any":
        return members
    if source == "one":
        return [generator.choice(nodes, 1) for nodes in members]
    return [nodes[[degree[nodes].argmax()]] for nodes in members]


def _draw(diffused: Tensor, candidates: list[NDArray[np.int64]], count: int, generator: np.random.Generator) -> Samples:
    labels = generator.integers(len(candidates), size=count)
    times = generator.integers(len(diffused), size=count)
    sizes = np.array([len(nodes) for nodes in candidates])
    starts = sizes.cumsum() - sizes
    sources = np.concatenate(candidates)[starts[labels] + generator.integers(sizes[labels])]
    x = diffused[torch.from_numpy(times), :, torch.from_numpy(sources)]  # (n, N)
    return Samples(x.unsqueeze(-1), torch.from_numpy(labels))
