"""Random graphs whose nodes fall into blocks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from shiftstate.checks import check_seed, check_whole
from shiftstate.memory import check_fits

MAX_DRAWS = 1000


@dataclass(frozen=True, eq=False)
class BlockGraph:
    """A graph and the block that each of its nodes belongs to."""

    adjacency: Tensor
    """A (N, N), with A[i, j] the weight of the edge j → i."""
    blocks: Tensor
    """The block of every node: (N), whole numbers from 0 to C − 1, each used."""

    def __post_init__(self) -> None:
        shape = tuple(self.adjacency.shape)
        if len(shape) != 2 or shape[0] != shape[1] or 0 in shape:
            raise ValueError(f"adjacency has shape {shape}; expected a square (N, N) of at least one node")
        if tuple(self.blocks.shape) != shape[:1] or self.blocks.dtype != torch.int64:
            raise ValueError(
                f"blocks has shape {tuple(self.blocks.shape)} and dtype {self.blocks.dtype}; "
                f"expected ({shape[0]},) and torch.int64: one block per node"
            )
        used = sorted(set(self.blocks.tolist()))
        if used != list(range(len(used))):
            raise ValueError(f"blocks holds {used}; expected 0 to C − 1, each used")

    @property
    def num_nodes(self) -> int:
        """N."""
        return self.adjacency.shape[0]

    @property
    def num_blocks(self) -> int:
        """C."""
        return int(self.blocks.max()) + 1


def stochastic_block_model(
    block_sizes: Sequence[int], p: float, q: float, seed: int | np.random.Generator, connected: bool = True
) -> BlockGraph:
    """An undirected graph in which nodes of one block are joined with probability p, others with probability q.

    Edges are independent, have weight 1, and there are no self-loops.

    Args:
        block_sizes: nodes of every block; they are numbered block after block.
        p: probability of an edge within a block.
        q: probability of an edge between blocks.
        seed: a whole number, or a generator to go on drawing from.
        connected: whether to draw again until the graph is connected.

    Example:
        >>> from shiftstate.graphs import stochastic_block_model
        >>> graph = stochastic_block_model([10] * 5, p=0.8, q=0.2, seed=0)
        >>> graph.adjacency.shape, graph.num_blocks
        (torch.Size([50, 50]), 5)
    """
    sizes = [check_whole("block size", size, 1) for size in block_sizes]
    if not sizes:
        raise ValueError("block_sizes is empty; expected the number of nodes of at least one block")
    p, q = _check_probability("p", p), _check_probability("q", q)
    generator = check_seed(seed)
    what = f"a graph of {sum(sizes):,} nodes needs {{}} bytes while it is drawn"
    check_fits(16 * sum(sizes) ** 2, torch.device("cpu"), what, "fewer nodes: every pair of them is drawn")
    blocks = np.repeat(np.arange(len(sizes)), sizes)
    probability = np.where(blocks[:, None] == blocks, p, q)
    for _ in range(MAX_DRAWS):
        adjacency = _draw(probability, generator)
        if not connected or connected_components(csr_array(adjacency), directed=False, return_labels=False) == 1:
            return BlockGraph(torch.from_numpy(adjacency), torch.from_numpy(blocks))
    raise ValueError(
        f"none of {MAX_DRAWS} draws was connected (p = {p}, q = {q}, {len(blocks)} nodes); "
        "expected larger probabilities, or connected=False"
    )


def _draw(probability: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.float64]:
    upper = np.triu(generator.random(probability.shape) < probability, k=1).astype(np.float64)
    return upper + upper.T


def _check_probability(name: str, value: float) -> float:
    if not isinstance(value, int | float | np.floating) or not 0 <= value <= 1:
        raise ValueError(f"{name} is {value!r}; expected a probability from 0 to 1")
    return float(value)
