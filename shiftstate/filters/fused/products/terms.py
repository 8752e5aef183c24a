"""What a basis other than powers makes of S w: factor · S w − before, in the same pass as the product.

In Chebyshev's basis v_k = 2 S w_{k−1} − w_{k−2} stands for S w_{k−1} (k = 1: S w_0), and its adjoint has the same form:
∂/∂w_k = 2 Sᵀ ∂v_{k+1} − ∂v_{k+2} (k = 0: Sᵀ ∂v_1 − ∂v_2). What is not there, as w_{−1} and ∂v_{K+1}, is zero.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from shiftstate.filters.fused.memory.buffers import Both


class Term(NamedTuple):
    """A product is to be ``factor`` · S w − ``before``."""

    factor: Any
    """1 or 2, in the precision of the kernels."""
    before: Both
    """An array of its own, not the target's."""

    @classmethod
    def of(cls, factor: int, before: Both) -> "Term":
        """In the precision of the array."""
        return cls(before[1].dtype.type(factor), before)


def rows_with(graph: Any, term: Term | None) -> Any:
    """The compressed rows as `gather_row` takes them: alone, or followed by the term."""
    return graph if term is None else (*graph, term.before[1], term.factor)


class InTurn:
    """The states of a linear filter, the last few of which are needed: two arrays in turn, three in Chebyshev's basis.

    More arrays keep more states.
    """

    def __init__(self, arrays: Sequence[Both], chebyshev: bool) -> None:
        self._arrays, self._chebyshev = arrays, chebyshev

    @classmethod
    def made(cls, blank: Callable[[], Both], chebyshev: bool) -> "InTurn":
        """As few as will do; before the first is nothing."""
        arrays = [blank() for _ in range(2 + chebyshev)]
        if chebyshev:
            arrays[-1][0].zero_()
        return cls(arrays, chebyshev)

    def __getitem__(self, at: int) -> Both:
        return self._arrays[at % len(self._arrays)]

    def step(self, at: int, twice: bool) -> tuple[Both, Both, Term | None]:
        """Source, target and term of the product that gives state ``at``."""
        plain = not self._chebyshev or (at < 2 and not twice)  # with nothing before it
        return self[at - 1], self[at], None if plain else Term.of(2 if twice else 1, self[at - 2])
