"""The answer for a text: authors in order, how sure, which words say so, and a page of it."""
