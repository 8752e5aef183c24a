"""The contract that every layer keeps, the library's and a user's own.

`check_layer(MyFilter)` runs every check for every mixing; `CONTRACT` holds them one by one, for test
runners: ``for check in CONTRACT: check(MyFilter, mixing="dense")``. A check that fails raises an
`AssertionError` that names the check, the layer and the mixing.
"""

from typing import Any

from shiftstate.layers import Layer
from shiftstate.layers.options import MIXINGS
from shiftstate.testing.subject import Check
from shiftstate.testing.surroundings import (
    compiles_whole,
    draws_follow_the_seed,
    exports,
    nothing_is_kept_without_gradients,
    save_and_load,
)
from shiftstate.testing.values import (
    batch_equals_loop,
    checkpoints_change_nothing,
    dense_equals_sparse,
    gradients_are_exact,
    order_zero,
    permutation_equivariance,
    state_is_alive,
    strides_do_not_matter,
    trace_agrees_with_forward,
    weights_carry_over,
)

CONTRACT: tuple[Check, ...] = (
    state_is_alive,
    permutation_equivariance,
    batch_equals_loop,
    weights_carry_over,
    dense_equals_sparse,
    gradients_are_exact,
    order_zero,
    save_and_load,
    trace_agrees_with_forward,
    strides_do_not_matter,
    checkpoints_change_nothing,
    nothing_is_kept_without_gradients,
    draws_follow_the_seed,
    compiles_whole,
    exports,
)


def check_layer(layer_class: type[Layer], **options: Any) -> None:
    """Run the whole contract on a layer class, for every mixing.

    Args:
        layer_class: a subclass of `Layer`.
        **options: keyword arguments the layer is built with; ``mixing`` restricts the run to one mixing.

    Example:
        >>> import shiftstate as ss
        >>> from shiftstate.testing import check_layer
        >>> check_layer(ss.GCNN, mixing="bank")
    """
    mixings = (options.pop("mixing"),) if "mixing" in options else MIXINGS
    for mixing in mixings:
        for check in CONTRACT:
            check(layer_class, mixing=mixing, **options)
