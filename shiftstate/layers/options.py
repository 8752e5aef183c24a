"""The values that the options of a layer can have."""

from typing import Literal, get_args

from shiftstate.checks import check_whole

Mixing = Literal["bank", "dense", "depthwise"]
Kernel = Literal["auto", "reference", "fused"]
Init = Literal["paper", "alive", "far"]
Input = Literal["every", "first"]
Basis = Literal["powers", "chebyshev"]
MIXINGS: tuple[Mixing, ...] = get_args(Mixing)
KERNELS: tuple[Kernel, ...] = get_args(Kernel)
INITS: tuple[Init, ...] = get_args(Init)
INPUTS: tuple[Input, ...] = get_args(Input)
BASES: tuple[Basis, ...] = get_args(Basis)


def check_checkpoint(checkpoint: object) -> int | str | None:
    """A number of shifts, "sqrt" or None."""
    if checkpoint is None or checkpoint == "sqrt":
        return checkpoint
    try:
        return check_whole("checkpoint", checkpoint, 1)
    except ValueError as error:
        raise ValueError(f"{error}, 'sqrt' or None") from None
