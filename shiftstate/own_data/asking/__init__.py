"""What `shiftstate train` is asked for: flags, and files of settings."""
