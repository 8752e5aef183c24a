"""Products by our own kernels: of matrices, and of S with a state."""
