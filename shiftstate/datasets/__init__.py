"""Datasets: signals on graphs, with the answers to be learned."""

from shiftstate.datasets.authorship import Authorship
from shiftstate.datasets.samples import Samples, Scaling
from shiftstate.datasets.source_localization import SourceLocalization
from shiftstate.texts.corpus import Corpus

__all__ = ["Authorship", "Corpus", "Samples", "Scaling", "SourceLocalization"]
