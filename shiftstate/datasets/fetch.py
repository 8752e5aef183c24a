"""An older place of these names: see `shiftstate.texts`."""

from shiftstate.texts.gutenberg.fetch import GUTENBERG, Fetched, FetchError, fetch

__all__ = ["GUTENBERG", "FetchError", "Fetched", "fetch"]
