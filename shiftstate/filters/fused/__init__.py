"""The filters compiled, with a backward written by hand, for the CPU: same signature as the reference.

Hundreds of elementwise operations become one pass over the state per shift, and what is kept for the backward is the
least it can do with. Everything here is compared with `shiftstate.filters.reference` on outputs and all gradients.

`cells` holds what belongs to one filter, a file each. Everything else serves them all and knows none by name: `call` is
one call, `recurrences` goes through the shifts, `products` multiplies, `memory` keeps arrays, `compiling` compiles.
This module imports nothing: Numba is loaded when a fused kernel is first asked for.
"""
