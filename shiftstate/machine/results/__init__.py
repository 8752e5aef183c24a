"""What a directory of results holds: the store, its columns, realizations.csv, and the plan."""
