"""Memory that is used again: arrays for the next call, and whole recurrences that are set up already."""
