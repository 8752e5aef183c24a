"""Join pandas objects by their index; refuse where it is not clear whether labels or positions are meant."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np


def index_of(data: Any) -> list[Any] | None:
    """The labels of the rows of a pandas table or series; None for what has none, such as arrays and lists."""
    index = getattr(data, "index", None)
    return None if index is None or callable(index) else list(index)


def columns_of(data: Any) -> list[Any] | None:
    """The labels of the columns of a table; None for what has none."""
    columns = getattr(data, "columns", None)
    return None if columns is None or callable(columns) else list(columns)


def names_of(X: Any, axis: int) -> list[str] | None:
    """The names that a pandas table has along an axis; None for plain positions and other types."""
    labels = columns_of(X) if axis else index_of(X)
    return None if labels is None or _is_count(labels) else [str(label) for label in labels]


def by_index(name: str, data: Any, references: Sequence[tuple[str, Any]]) -> Any:
    """``data`` with its rows in the order of the first of the references that has an index.

    Equal labels stand as they are, and the same labels in another order are put in order. A plain index (0, 1, 2, …)
    beside names is taken by position, and so is an array. Everything else raises: labels that differ, that are there
    twice, and numbers in another order beside a plain index, where labels and positions are both possible.

    Args:
        name: of the argument.
        data: a pandas object; anything else is returned as it is.
        references: arguments by name, such as ``("X", X)``.
    """
    own = index_of(data)
    against = next(((title, found) for title, one in references if (found := index_of(one)) is not None), None)
    if own is None or against is None or own == against[1] or len(own) != len(against[1]):
        return data
    title, other = against
    if _is_count(own) or _is_count(other):
        if not any(isinstance(label, Integral) for label in (other if _is_count(own) else own)):
            return data
    elif len(set(own)) == len(own) and set(own) == set(other):
        place = {label: row for row, label in enumerate(own)}
        order = [place[label] for label in other]
        return data.iloc[order] if hasattr(data, "iloc") else np.asarray(data)[order]
    row = next(row for row, (one, two) in enumerate(zip(own, other, strict=True)) if one != two)
    raise ValueError(
        f"{name} has the index {own[row]!r} in row {row}, where {title} has {other[row]!r}; expected the same labels: "
        f"{name}.loc[{title}.index] if they name the rows, {name}.to_numpy() if positions count"
    )


def join_rows(X: Any, ordered: str | None = None, **others: Any) -> list[Any]:
    """Targets and masks in the order of the rows of X, or of the first of them that has an index.

    Args:
        X: the features.
        ordered: what rows stand for, if these are counted from 0; see `check_order`.
        **others: by name; None stays None.
    """
    references = [("X", X)]
    for name, data in others.items():
        references.append((name, by_index(name, data, references)))
    for name, data in references if ordered is not None else ():
        check_order(name, index_of(data), str(ordered))
    return [data for _, data in references[1:]]


def check_order(name: str, labels: Sequence[Any] | None, what: str) -> None:
    """Raise if labels are 0 … n − 1 in another order, while they stand for what is counted from 0.

    Args:
        name: of the argument.
        labels: of its rows or columns.
        what: what is counted from 0.
    """
    if labels is not None and is_shuffled_count(labels):
        raise ValueError(
            f"{name} has the labels {', '.join(map(str, labels[:3]))} …, which are 0 … {len(labels) - 1} in another "
            f"order than {what}; expected that order, or an array if positions count: {name}.to_numpy()"
        )


def is_shuffled_count(labels: Sequence[Any]) -> bool:
    """Whether labels are the numbers from 0 in another order."""
    if _is_count(labels) or not all(isinstance(label, Integral) for label in labels):
        return False
    return sorted(labels) == list(range(len(labels)))


def _is_count(labels: Sequence[Any]) -> bool:
    """Whether labels are 0, 1, 2, …: what pandas numbers rows by if nobody names them."""
    return all(isinstance(label, Integral) and label == row for row, label in enumerate(labels))
