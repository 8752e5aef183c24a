"""The layer under test, the form of a check, and the comparisons that checks share."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from shiftstate.layers import Layer, Trace
from shiftstate.testing.inputs import IN, OUT, seeded

ORDER = 3
RTOL, ATOL = 1e-10, 1e-12  # float64 throughout: two orders of the same sums, nothing more

Check = Callable[..., None]


class Subject(NamedTuple):
    """The layer under test: its class and the options it is built with."""

    layer_class: type[Layer]
    options: dict[str, Any]

    def build(self, K: int = ORDER, seed: int = 0, **changes: Any) -> Layer:
        """A float64 layer with a state that lives, the same one for the same seed."""
        with seeded(seed):
            layer = self.layer_class(IN, OUT, K, **(self.options | changes)).double()
            layer.reset_parameters("alive")
        return layer


def named(body: Callable[[Subject], None]) -> Check:
    """A check as users call it: ``check(layer_class, mixing=..., **options)``."""

    @functools.wraps(body)
    def check(layer_class: type[Layer], *, mixing: str = "bank", **options: Any) -> None:
        try:
            body(Subject(layer_class, {"mixing": mixing, **options}))
        except Exception as error:
            shown = "".join(f", {key}={value!r}" for key, value in options.items())
            raise AssertionError(
                f"{body.__name__} fails for {layer_class.__name__}(mixing={mixing!r}{shown}): {error}"
            ) from error

    return check


def assert_alive(trace: Trace) -> None:
    """Raise before a comparison of nothing: each ‖w_k‖ has to lie between a thousandth and a thousandfold of ‖w_0‖."""
    norms = trace.states.flatten(1).norm(dim=1)
    assert bool(torch.isfinite(norms).all()), f"the state is not finite: {norms.tolist()}"
    ratio = norms / norms[0]
    assert bool(((ratio > 1e-3) & (ratio < 1e3)).all()), f"the state died or exploded, ‖w_k‖/‖w_0‖ = {ratio.tolist()}"


def assert_same(got: Any, expected: Any, what: str) -> None:
    """Raise if two results differ by more than rounding."""
    torch.testing.assert_close(got, expected, rtol=RTOL, atol=ATOL, msg=lambda text: f"{what} differs: {text}")
