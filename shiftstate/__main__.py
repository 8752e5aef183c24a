"""``python -m shiftstate``: the command line."""

from shiftstate.cli import main

if __name__ == "__main__":
    main()
