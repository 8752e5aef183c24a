"""Where and how trials run: engines, the sweep, progress, and the lock on a directory."""
