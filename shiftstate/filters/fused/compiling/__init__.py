"""How kernels are compiled, the mathematics they are made of, and their rows shared out among threads."""
