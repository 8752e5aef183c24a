"""Experiments so small that a sweep takes no time, and an engine that runs them here and now."""

from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import replace

import pytest

from shiftstate.experiments.config import Realization
from shiftstate.experiments.engines import Pool
from shiftstate.experiments.protocols import SourceProtocol
from shiftstate.experiments.realization import Outcome
from shiftstate.training import Fit

SMALL = SourceProtocol(block_sizes=(4, 4, 4), num_samples=(120, 40, 40), epochs=2, batch_size=20, max_time=5)


class Here(Executor):
    """Runs what is submitted at once, in this process."""

    def submit(self, function, /, *arguments, **options):
        future = Future()
        try:
            future.set_result(function(*arguments, **options))
        except Exception as error:
            future.set_exception(error)
        return future


@pytest.fixture
def here():
    @contextmanager
    def engine():
        yield Pool(Here(), lambda: 1, ())

    return engine


@pytest.fixture(scope="session")
def realization():
    """Makes a realization; every part of it can be changed by name."""

    def make(experiment="figure1", filter="gcnn", K=4, L=1, graph=0, draw=0, **settings):
        return Realization(experiment, filter, K, L, graph, draw, replace(SMALL, **settings))

    return make


@pytest.fixture(scope="session")
def outcome():
    """Makes an outcome with these accuracies."""

    def make(last=0.5, best=0.6, **changes):
        fit = Fit({"accuracy": last}, {"accuracy": best}, 1, (1.25, 0.1 + 0.2), (0.4, 1 / 3), "finished", 1.0)
        return Outcome(replace(fit, **changes), 0.001, 4, 100, "reference", {"torch": "2"}, 1.5)

    return make
