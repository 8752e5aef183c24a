"""Grids: which realizations an experiment is made of."""

from dataclasses import dataclass

from shiftstate.checks import check_name, check_whole

FILTERS = ("gcnn", "rsn", "lssm", "gcnn:rsn", "gcnn:lssm")
"""What ``filters`` may name; gcnn:rsn is a GCNN with as many parameters as the RSN."""
BASELINES = ("logistic", "svm", "delta")
"""What ``baselines`` may name: classifiers without a graph. Their K and L are 0."""

Place = tuple[str, int, int, str | None]
"""Filter, K, L and author."""


@dataclass(frozen=True)
class Grid:
    """Filters, K and L."""

    filters: tuple[str, ...] = ("gcnn", "rsn", "lssm")
    K: tuple[int, ...] = (4,)
    L: tuple[int, ...] = (1,)

    def __post_init__(self) -> None:
        for name in self.filters:
            check_name("filter", name, FILTERS)
        for name, least in (("K", 0), ("L", 1)):
            for value in getattr(self, name):
                check_whole(name, value, least)
        for name in ("filters", "K", "L"):
            _check_different(name, getattr(self, name))

    def cells(self) -> list[Place]:
        """All cells, the costliest in front."""
        cells: list[Place] = [(name, K, L, None) for K in self.K for L in self.L for name in self.filters]
        return sorted(cells, key=lambda cell: -cell[1] * cell[2])

    def numbers(self) -> list[tuple[int, int]]:
        """Graph and data draw of the realizations of every cell."""
        raise NotImplementedError


@dataclass(frozen=True)
class SourceGrid(Grid):
    """Source localization: graphs, and data draws on each."""

    graphs: int = 10
    draws: int = 10
    """Data draws on each graph."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("graphs", "draws"):
            check_whole(name, getattr(self, name), 1)

    def numbers(self) -> list[tuple[int, int]]:
        """Every graph's first draw comes first."""
        return [(graph, draw) for draw in range(self.draws) for graph in range(self.graphs)]


@dataclass(frozen=True)
class AuthorshipGrid(Grid):
    """Authorship attribution: authors, and splits of their excerpts; every split has a graph of its own."""

    K: tuple[int, ...] = (32,)
    authors: tuple[str, ...] = ("austen", "bronte_charlotte", "poe", "bronte")
    baselines: tuple[str, ...] = BASELINES
    splits: int = 30

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.baselines:
            check_name("baseline", name, BASELINES)
        for name in ("authors", "baselines"):
            _check_different(name, getattr(self, name), least=0 if name == "baselines" else 1)
        check_whole("splits", self.splits, 1)

    def cells(self) -> list[Place]:
        """The filters' cells for every author, then the baselines'."""
        filters = [(name, K, L, author) for name, K, L, _ in super().cells() for author in self.authors]
        return [*filters, *((name, 0, 0, author) for name in self.baselines for author in self.authors)]

    def numbers(self) -> list[tuple[int, int]]:
        """The split is the graph's number; there is one draw."""
        return [(split, 0) for split in range(self.splits)]


def _check_different(name: str, values: tuple[object, ...], least: int = 1) -> None:
    if len(values) < least or len(set(values)) < len(values):
        raise ValueError(f"{name} is {list(values)}; expected one or more different values")
