"""`python -m shiftstate.train …` is `shiftstate train …`: a module for torchrun to start."""

import sys

from shiftstate.cli import main

if __name__ == "__main__":
    sys.argv[1:1] = ["train"]
    main()
