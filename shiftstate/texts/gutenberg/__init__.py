"""Books of Project Gutenberg: a catalogue, fetching them, and taking away what stands around the book."""
