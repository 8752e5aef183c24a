"""Source localization: from which block of the graph did a diffused signal come?"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from shiftstate.checks import check_name, check_seed, check_whole
from shiftstate.datasets.samples import Samples, standardized
from shiftstate.graphs import BlockGraph, Shift


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

    @classmethod
    def generate(
        cls,
        graph: BlockGraph,
        *,
        source: Literal["hub", "any"] = "hub",
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
                "any": a node of the block, uniformly drawn for every sample.
            standardize: subtract each node's mean over the training set and divide by its standard deviation;
                nodes that never vary there are only centred.
            num_samples: samples for training, validation and test.
            max_time: the latest time.
            seed: a whole number, or a generator to go on drawing from.
            dtype: of signals and shift; diffusion and standardization run in float64 whatever it is.
        """
        check_name("source", source, ("hub", "any"))
        check_whole("max_time", max_time, 0)
        if len(num_samples) != 3:
            raise ValueError(f"num_samples is {num_samples!r}; expected three: for training, validation and test")
        counts = [check_whole("num_samples", count, 1) for count in num_samples]
        generator = check_seed(seed)
        shift = Shift.from_matrix(graph.adjacency.double()).normalized("spectral")
        diffused = _diffuse(shift, max_time)
        candidates = _candidates(graph, source)
        splits = [_draw(diffused, candidates, count, generator) for count in counts]
        if standardize:
            splits = standardized(splits)
        train, valid, test = (Samples(x.to(dtype), y) for x, y in splits)
        return cls(shift.to(dtype), train, valid, test)


def _diffuse(shift: Shift, max_time: int) -> Tensor:
    """S^t for t = 0 … max_time: (max_time + 1, N, N); column j is a delta at node j, diffused."""
    powers = [torch.eye(shift.num_nodes, dtype=shift.dtype)]
    for _ in range(max_time):
        powers.append(shift @ powers[-1])
    return torch.stack(powers)


def _candidates(graph: BlockGraph, source: str) -> list[NDArray[np.int64]]:
    """The nodes of every block that can be its source, in order of their ids."""
    blocks, degree = graph.blocks.numpy(), graph.adjacency.sum(1).numpy()
    members = [np.flatnonzero(blocks == block) for block in range(graph.num_blocks)]
    return members if source == "any" else [nodes[[degree[nodes].argmax()]] for nodes in members]


def _draw(diffused: Tensor, candidates: list[NDArray[np.int64]], count: int, generator: np.random.Generator) -> Samples:
    labels = generator.integers(len(candidates), size=count)
    times = generator.integers(len(diffused), size=count)
    sizes = np.array([len(nodes) for nodes in candidates])
    starts = sizes.cumsum() - sizes
    sources = np.concatenate(candidates)[starts[labels] + generator.integers(sizes[labels])]
    x = diffused[torch.from_numpy(times), :, torch.from_numpy(sources)]  # (n, N)
    return Samples(x.unsqueeze(-1), torch.from_numpy(labels))
