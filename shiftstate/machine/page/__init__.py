"""One self-contained page from whatever a directory holds: tables, charts, the lens, and how to repeat it."""
