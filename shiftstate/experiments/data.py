"""The data of a realization: each kind of protocol has its own builder."""

from functools import lru_cache
from pathlib import Path

import numpy as np
import torch

from shiftstate.datasets import Authorship, Corpus, SourceLocalization
from shiftstate.experiments.config import Realization
from shiftstate.experiments.protocols import AuthorshipProtocol, Protocol, SourceProtocol
from shiftstate.graphs import BlockGraph, stochastic_block_model

Data = SourceLocalization | Authorship
"""Shift, train, valid and test."""


def build_data(realization: Realization, corpus: Path | None = None) -> Data:
    """Graph and signals, from the seed, the graph, the draw and the author: the same for every filter, K and L.

    Args:
        realization: what to build for.
        corpus: the prepared corpus, where the experiment needs one.
    """
    match realization.protocol:
        case SourceProtocol() as protocol:
            return _source_localization(protocol, realization)
        case AuthorshipProtocol():
            if corpus is None:
                raise ValueError(f"{realization} was given no texts; expected a prepared corpus")
            return authorship_data(realization, _load(corpus, corpus.stat().st_mtime_ns))
    raise ValueError(f"no data are known for a {type(realization.protocol).__name__}; expected a kind of experiment")


def num_classes(protocol: Protocol) -> int:
    """Classes to tell apart."""
    return len(protocol.block_sizes) if isinstance(protocol, SourceProtocol) else 2


def draw_graph(protocol: SourceProtocol, graph: int) -> BlockGraph:
    """The graph of this number, the same for every filter and every draw of the data on it."""
    return stochastic_block_model(protocol.block_sizes, protocol.p, protocol.q, seed_of(protocol, "graph", graph))


def seed_of(protocol: Protocol, purpose: str, *numbers: int) -> int:
    """Independent streams for graph, data, weights and batches."""
    stream = ("graph", "data", "weights", "batches").index(purpose)
    return int(np.random.SeedSequence((protocol.seed, stream, *numbers)).generate_state(1)[0])


def _source_localization(protocol: SourceProtocol, realization: Realization) -> SourceLocalization:
    return SourceLocalization.generate(
        draw_graph(protocol, realization.graph),
        source=protocol.source,  # type: ignore[arg-type]
        standardize=protocol.standardize,
        num_samples=protocol.num_samples,  # type: ignore[arg-type]
        max_time=protocol.max_time,
        seed=seed_of(protocol, "data", realization.graph, realization.draw),
        dtype=getattr(torch, protocol.dtype),
    )


def authorship_data(realization: Realization, corpus: Corpus) -> Authorship:
    """The split of a realization of Table 2."""
    protocol, author = realization.protocol, realization.author
    if not isinstance(protocol, AuthorshipProtocol) or author is None:
        raise ValueError(f"{realization} is not about an author; expected a realization of table2")
    return Authorship.generate(
        corpus,
        author,
        split=protocol.split,  # type: ignore[arg-type]
        number=realization.graph,
        test=protocol.test,
        valid=protocol.valid,
        outside=protocol.outside,
        kin=protocol.kin,
        transform=protocol.transform,  # type: ignore[arg-type]
        standardize=protocol.standardize,
        seed=seed_of(protocol, "data", realization.graph, realization.draw, *author.encode()),
        dtype=getattr(torch, protocol.dtype),
    )


@lru_cache(maxsize=1)
def _load(corpus: Path, written: int) -> Corpus:
    """A worker reads it once, and again after it was written anew: authors may have come to it."""
    return Corpus.load(corpus)
