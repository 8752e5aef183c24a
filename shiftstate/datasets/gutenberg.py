"""An older place of these names: see `shiftstate.texts`."""

from shiftstate.texts.gutenberg.boilerplate import WrongText, strip_boilerplate
from shiftstate.texts.gutenberg.catalogue import Book, check_book, digest, load_catalogue

__all__ = ["Book", "WrongText", "check_book", "digest", "load_catalogue", "strip_boilerplate"]
