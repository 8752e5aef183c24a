"""An older place of these names: see `shiftstate.texts`."""

from shiftstate.texts.word_lists import find_words, load_words
from shiftstate.texts.word_networks import AuthorGraph, author_graph, wan, word_counts

__all__ = ["AuthorGraph", "author_graph", "find_words", "load_words", "wan", "word_counts"]
