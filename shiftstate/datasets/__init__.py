"""Datasets: signals on graphs, with the answers to be learned."""

from shiftstate.datasets.source_localization import Samples, SourceLocalization

__all__ = ["Samples", "SourceLocalization"]
