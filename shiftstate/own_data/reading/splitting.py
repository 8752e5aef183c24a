"""Which rows are for training, validation and testing: by a column, by groups, or by fractions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupShuffleSplit, train_test_split

from shiftstate.own_data.asking.settings import TrainSettings
from shiftstate.tables import Table
from shiftstate.tables.table import short

Array = NDArray[Any]
Mask = NDArray[np.bool_]

SPLITS = {
    "train": "train",
    "training": "train",
    "valid": "valid",
    "validation": "valid",
    "val": "valid",
    "dev": "valid",
    "test": "test",
    "testing": "test",
}
PARTS = ("train", "valid", "test")
RARE = 5
"""A class with fewer rows is not split at random in equal shares: its rows are for training."""


def split_rows(table: Table, settings: TrainSettings, y: Array) -> tuple[dict[str, Mask], str]:
    """A mask for each part, and how they came about."""
    known = np.array([label != "" for label in y]) if y.dtype == object else np.isfinite(y)
    if settings.split:
        masks = told_masks(table, settings.split[0])
        for name, mask in masks.items():
            if not known[mask].all():
                place = int(np.flatnonzero(mask & ~known)[0])
                word = table.strings(str(settings.target))[place]
                shown = short(word) if word else "empty"
                raise ValueError(
                    f"{table.path}: row {table.row(place)}, column {settings.target!r} is {shown}, and "
                    f"{settings.split[0]!r} says {name}; expected a target"
                    + ("; --keep-na takes such words for classes" if word and y.dtype == object else "")
                )
        return masks, f"by column {settings.split[0]!r}"
    if settings.groups is not None:
        parts, how = _by_groups(table, settings, np.flatnonzero(known))
    else:
        parts, how = _by_fractions(settings, np.flatnonzero(known), y)
    masks = {name: np.zeros(len(y), bool) for name in PARTS}
    for name, rows in zip(PARTS, parts, strict=True):
        masks[name][rows] = True
    return masks, how


def split_times(table: Table | None, settings: TrainSettings, count: int) -> tuple[dict[str, Mask], str]:
    """The first times to learn from, the next to choose by, the last to judge by."""
    if settings.split and table is not None:
        masks = told_masks(table, settings.split[0])
        order = [int(np.flatnonzero(masks[name])[0]) for name in PARTS]
        ends = [int(np.flatnonzero(masks[name])[-1]) + 1 for name in PARTS]
        whole = all(end - start == masks[name].sum() for name, start, end in zip(PARTS, order, ends, strict=True))
        if not whole or order != [0, ends[0], ends[1]] or ends[2] != count:
            raise ValueError(
                f"{table.path}: column {settings.split[0]!r} is not in the order of time; expected train, then valid, "
                "then test, each without a gap, as forecasts look ahead"
            )
        return masks, f"by column {settings.split[0]!r}"
    first = count - round(settings.fractions[2] * count)
    begin = first - round(settings.fractions[1] / (1 - settings.fractions[2]) * first)
    place = np.arange(count)
    return {"train": place < begin, "valid": (place >= begin) & (place < first), "test": place >= first}, "by time"


def told_masks(table: Table, column: str) -> dict[str, Mask]:
    """What a column says of every row."""
    words = [word.strip().lower() for word in table.strings(column)]
    strange = next((word for word in words if word and word not in SPLITS), None)
    if strange is not None:
        row = table.row(words.index(strange))
        raise ValueError(
            f"{table.path}: row {row}, column {column!r} holds {strange!r}; expected train, valid, test, or nothing"
        )
    masks = {name: np.array([SPLITS.get(word) == name for word in words]) for name in PARTS}
    lacking = [name for name, mask in masks.items() if not mask.any()]
    if lacking:
        raise ValueError(
            f"{table.path}: column {column!r} has no row of {' and '.join(lacking)}; expected train, valid and test "
            "rows; without --split rows are split at random"
        )
    return masks


def _by_groups(table: Table, settings: TrainSettings, places: Array) -> tuple[list[Array], str]:
    """Rows of one group are in one part."""
    assert settings.groups is not None
    groups = np.array(table.strings(settings.groups))[places]
    count = len(np.unique(groups))
    if count < 3:
        raise ValueError(
            f"{table.path}: column {settings.groups!r} has {count} groups; expected at least three, one per part"
        )
    _, valid, test = settings.fractions
    learn, rest = next(
        GroupShuffleSplit(1, test_size=max(2 / count, valid + test), random_state=settings.random_state).split(
            places, groups=groups
        )
    )
    choose, judge = next(
        GroupShuffleSplit(1, test_size=test / (valid + test), random_state=settings.random_state).split(
            rest, groups=groups[rest]
        )
    )
    return [places[learn], places[rest[choose]], places[rest[judge]]], f"by {count} groups of {settings.groups!r}"


def _by_fractions(settings: TrainSettings, places: Array, y: Array) -> tuple[list[Array], str]:
    """At random; classes in equal shares."""
    rare = np.zeros(len(places), bool)
    if y.dtype == object:
        labels, number, sizes = np.unique(y[places].astype(str), return_inverse=True, return_counts=True)
        rare = sizes[number] < RARE if len(places) > RARE * len(labels) else rare
    common = places[~rare]
    rest_share = settings.fractions[1] + settings.fractions[2]
    learn, rest = _parted(common, rest_share, y, settings.random_state)
    choose, judge = _parted(rest, settings.fractions[2] / rest_share, y, settings.random_state)
    kind = ", classes in equal shares" if y.dtype == object else ""
    return [np.concatenate([learn, places[rare]]), choose, judge], f"at random{kind}"


def _parted(places: Array, share: float, y: Array, seed: int) -> tuple[Array, Array]:
    strata = y[places].astype(str) if y.dtype == object else None
    for groups in (strata, None) if strata is not None else (None,):
        try:
            first, second = train_test_split(places, test_size=share, random_state=seed, stratify=groups)
            return first, second
        except ValueError as error:  # too few of a class, or of all
            cause = error
    raise ValueError(f"{len(places)} rows with a target cannot be split ({cause}); expected more of them") from None
