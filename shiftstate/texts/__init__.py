"""Texts: read, cut into words and excerpts, and counted as word adjacency networks."""

from shiftstate.texts.corpus import Corpus
from shiftstate.texts.folder import find_authors, find_texts
from shiftstate.texts.reading import read_books, read_text
from shiftstate.texts.tokens import excerpts, tokenize
from shiftstate.texts.word_lists import load_words
from shiftstate.texts.word_networks import AuthorGraph, author_graph, wan, word_counts

__all__ = [
    "AuthorGraph",
    "Corpus",
    "author_graph",
    "excerpts",
    "find_authors",
    "find_texts",
    "load_words",
    "read_books",
    "read_text",
    "tokenize",
    "wan",
    "word_counts",
]
