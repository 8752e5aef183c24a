"""What every room checks alike: names, numbers, flags, seeds, devices and, on request, the finiteness of signals."""

import difflib
import operator
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import isfinite, nan
from numbers import Real
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

Name = TypeVar("Name", bound=str)

_checking: ContextVar[bool] = ContextVar("shiftstate_checking", default=False)


@contextmanager
def checking(enabled: bool = True) -> Iterator[None]:
    """Raise if a layer is given a signal with NaN or infinity, as long as the context lasts.

    Off by default: the check reads the data, and a diverging run is an outcome to record rather than
    an error. It is skipped while ``torch.compile`` or ``torch.export`` traces.

    Example:
        >>> import torch, shiftstate as ss
        >>> shift = ss.Shift.from_edges([[0, 1], [1, 0]])
        >>> with ss.checking():
        ...     ss.GCNN(1, 1, 2)(torch.tensor([[0.0], [float("nan")]]), shift)
        Traceback (most recent call last):
        ...
        ValueError: x holds 1 value that is not finite (the first at index (1, 0)); expected finite signals; \
did training diverge, or was a feature divided by zero?
    """
    token = _checking.set(enabled)
    try:
        yield
    finally:
        _checking.reset(token)


def check_finite(x: Tensor) -> None:
    """Raise if ``x`` holds values that are not finite, inside ``checking()``; free outside it."""
    if torch.compiler.is_compiling() or not _checking.get():
        return
    bad = ~torch.isfinite(x)
    count = int(bad.sum())
    if count:
        first = tuple(int(i) for i in bad.nonzero()[0])
        values = "1 value that is" if count == 1 else f"{count} values that are"
        raise ValueError(
            f"x holds {values} not finite (the first at index {first}); expected finite signals; "
            "did training diverge, or was a feature divided by zero?"
        )


def check_name(kind: str, name: object, known: Iterable[Name]) -> Name:
    """Return ``name`` if it is known; otherwise raise and suggest the nearest known one."""
    names = list(known)
    if isinstance(name, str) and name in names:
        return names[names.index(name)]
    raise ValueError(f"unknown {kind} {name!r}; expected one of {', '.join(map(repr, names))}{nearest(name, names)}")


def nearest(name: object, known: Iterable[str]) -> str:
    """The end of a message on an unknown name: the known one that it may be meant for, if there is one."""
    close = difflib.get_close_matches(name.lower(), known, n=1) if isinstance(name, str) else []
    return f"; did you mean {close[0]!r}?" if close else ""


def check_whole(name: str, value: object, least: int) -> int:
    """Return ``value`` as an int of at least ``least``; bools and floats raise."""
    try:
        whole = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        whole = None
    if whole is None or isinstance(value, bool) or whole < least:
        raise ValueError(f"{name} is {value!r}; expected a whole number of at least {least}")
    return whole


def check_number(name: str, value: object, allowed: Callable[[float], bool], expected: str) -> float:
    """Return ``value`` as a finite float for which ``allowed`` holds; bools and text raise.

    Args:
        name: of the argument.
        value: what was given.
        allowed: whether a number lies within the bounds.
        expected: the bounds in words, as the end of the message.
    """
    try:
        number = float(value) if not isinstance(value, bool) and isinstance(value, Real) else nan
    except OverflowError:  # a whole number beyond every float
        number = nan
    if not isfinite(number) or not allowed(number):
        raise ValueError(f"{name} is {value!r}; expected {expected}")
    return number


def check_flag(name: str, value: object) -> bool:
    """Return ``value`` as a bool; what is merely true or false in an ``if``, such as the word "no", raises."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} is {value!r}; expected True or False")
    return bool(value)


def check_not_scripted(name: str) -> None:
    """Raise under ``torch.jit.trace``, which would fix what depends on the graph, and cannot record compiled code."""
    if torch.jit.is_tracing():  # type: ignore[attr-defined, no-untyped-call]
        raise no_script(name)


def no_script(name: str) -> ValueError:
    """What is raised for a module that is given to TorchScript."""
    return ValueError(
        f"{name} was given to TorchScript (torch.jit.trace, torch.jit.script or torch.onnx.export with dynamo=False), "
        "which it does not support; expected torch.compile, torch.export.export, or torch.onnx.export with dynamo=True"
    )


def check_seed(seed: object) -> np.random.Generator:
    """The generator that ``seed`` starts, or ``seed`` itself if it is one; None raises: it cannot be repeated."""
    if isinstance(seed, np.random.Generator):
        return seed
    return np.random.default_rng(check_whole("seed", seed, 0))


def check_device(
    name: str, device: object, expected: str = "a device that torch has here, such as 'cpu'"
) -> torch.device:
    """Return ``device`` as a torch device; raise if there is none of that name, or none on this machine."""
    try:
        found: torch.device = torch.device(device)  # type: ignore[call-overload]
        torch.empty(0, device=found)
    except (RuntimeError, TypeError, AssertionError) as error:
        cause = str(error).splitlines()[0]
        raise ValueError(f"{name} is {device!r}; expected {expected} ({cause})") from None
    return found
