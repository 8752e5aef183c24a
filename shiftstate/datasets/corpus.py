"""An older place of these names: see `shiftstate.texts`."""

from shiftstate.texts.corpus import Corpus, Excerpts, fingerprint

__all__ = ["Corpus", "Excerpts", "fingerprint"]
