"""Datasets: signals on graphs, with the answers to be learned."""

from shiftstate.datasets.authorship import Authorship
from shiftstate.datasets.corpus import Corpus
from shiftstate.datasets.samples import Samples
from shiftstate.datasets.source_localization import SourceLocalization

__all__ = ["Authorship", "Corpus", "Samples", "SourceLocalization"]
