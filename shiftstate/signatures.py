"""What a class can be told when it is made: read from the signatures of its constructors."""

import inspect
from collections.abc import Iterable
from functools import update_wrapper
from types import FunctionType
from typing import Any

from shiftstate.checks import nearest

REQUIRED: Any = inspect.Parameter.empty
"""The default of an option that has none."""


def constructor_options(kind: type, apart: tuple[str, ...] = ()) -> dict[str, Any]:
    """Every keyword of ``kind(...)`` with its default, those of base classes first.

    A constructor that ends in ``**options`` hands them on, so the one of the next base class counts as well.

    Args:
        kind: the class.
        apart: names to leave out.
    """
    levels: list[dict[str, Any]] = []
    for base in kind.__mro__:
        if "__init__" not in vars(base):
            continue
        parameters = list(inspect.signature(vars(base)["__init__"]).parameters.values())[1:]
        named = [one for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
        levels.append({one.name: one.default for one in named if one.name not in apart})
        if all(one.kind is not one.VAR_KEYWORD for one in parameters):
            break
    found: dict[str, Any] = {}
    for level in reversed(levels):
        found |= level
    return found


def current_options(thing: object, names: tuple[str, ...]) -> dict[str, Any]:
    """The options of an object by name: a constructor keeps each under its own name."""
    missing = [name for name in names if not hasattr(thing, name)]
    if missing:
        raise ValueError(
            f"{type(thing).__name__} takes the option {missing[0]!r} and has no attribute of that name; "
            f"expected its __init__ to set self.{missing[0]}, so that it can be saved and shown"
        )
    return {name: getattr(thing, name) for name in names}


def check_keywords(kind: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise as Python does if a keyword argument is unknown, in the name of the class that was called."""
    names = list(known)
    for name in given:
        if name not in names:
            expected = f"expected some of {', '.join(names)}{nearest(name, names)}"
            raise TypeError(f"{kind}() got an unexpected keyword argument {name!r}; {expected}")


def name_methods(kind: type, *names: str) -> None:
    """Give a class copies of these inherited methods in its own name, by which Python reports wrong arguments."""
    for name in names:
        if name not in vars(kind):
            method = getattr(kind, name)
            parts = (method.__code__, method.__globals__, name, method.__defaults__, method.__closure__)
            own: Any = update_wrapper(FunctionType(*parts), method)
            del own.__wrapped__
            own.__kwdefaults__, own.__qualname__ = method.__kwdefaults__, f"{kind.__qualname__}.{name}"
            setattr(kind, name, own)
