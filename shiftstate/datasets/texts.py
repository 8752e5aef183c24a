"""An older place of these names: see `shiftstate.texts`."""

from shiftstate.texts.folder import check_author, find_texts
from shiftstate.texts.reading import read_books, read_text
from shiftstate.texts.tokens import excerpts, tokenize

__all__ = ["check_author", "excerpts", "find_texts", "read_books", "read_text", "tokenize"]
