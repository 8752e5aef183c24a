"""A small lens, and what becomes of it with another value in one of its places."""

import json
from contextlib import contextmanager

import torch

import shiftstate as ss

VALUES = [None, True, -1, 10**30, 1e300, "", "x" * 300, [], {}, [[]], [None], ["a"], {"a": {"b": []}}]


def small_lens():
    """Of an LSSM with two shifts on four nodes, as JSON reads it back."""
    torch.manual_seed(0)
    shift = ss.Shift.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]])
    network = ss.Network("lssm", [1, 1], 2, ss.PoolReadout(2))
    lens = ss.lens.examine(network, torch.randn(2, 4, 1), shift, torch.tensor([0, 1]), names=["a", "b", "c", "d"])
    return json.loads(lens.to_json()) | {"realization": {"name": "small", "score_again": 0.5, "score_recorded": 0.5}}


def mutants(content):
    """The content with every value in every place, one at a time; it is as before when all are through."""
    for path in list(places(content)):
        for value in VALUES:
            with changed(content, path, value) as one:
                yield one


def places(value, path=()):
    """Every place in nested lists and tables; of a list the first and the last."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list) and value:
        for number in {0, len(value) - 1}:
            yield from places(value[number], (*path, number))


@contextmanager
def changed(content, path, value):
    """The content with another value in this place, as long as the context is open."""
    if not path:
        yield value
        return
    inner = content
    for step in path[:-1]:
        inner = inner[step]
    kept, inner[path[-1]] = inner[path[-1]], value
    try:
        yield content
    finally:
        inner[path[-1]] = kept
