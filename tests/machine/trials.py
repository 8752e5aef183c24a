"""Trials so small that a sweep takes no time, and an engine that runs them here and now: fixtures of several rooms."""

from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import replace

import pytest

from shiftstate.machine.run import Outcome
from shiftstate.machine.running.engines import Pool
from shiftstate.machine.settings import change
from shiftstate.machine.trial import Cell, Trial
from shiftstate.studies.paper import STUDY
from shiftstate.studies.paper.source_localization import SourceSettings

SMALL = change(SourceSettings(), block_sizes=(4, 4, 4), num_samples=(120, 40, 40), epochs=2, batch_size=20, max_time=5)


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
def trial():
    """Makes a trial of source localization; every part of it can be changed by name."""

    def make(experiment="figure1", filter="gcnn", K=4, L=1, graph=0, draw=0, **settings):
        cell = Cell.of(experiment, filter=filter, K=K, L=L, author=None)
        return Trial(STUDY, cell, graph, draw, change(SMALL, **settings))

    return make


@pytest.fixture(scope="session")
def outcome():
    """Makes an outcome with these scores."""

    def make(last=0.5, best=0.6, **changes):
        versions = {"torch": "2"}
        scores = {"accuracy": last}, {"accuracy": best}
        done = Outcome(*scores, 1, "finished", (1.25, 0.1 + 0.2), (0.4, 1 / 3), 1.5, 0.001, 4, 100, "reference")
        return replace(done, versions=versions, **changes)

    return make
