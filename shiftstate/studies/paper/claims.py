"""The sentences of the paper's Section 4, and how its filters stand against the baselines: three families of claims."""

from collections.abc import Iterable, Mapping, Sequence

from shiftstate.machine.judging.claims import Claim, beats, best, steadiest
from shiftstate.machine.trial import Cell
from shiftstate.studies.paper.baselines import BASELINES
from shiftstate.studies.paper.networks import FILTERS, title
from shiftstate.studies.paper.published import PAPER_AUTHORS

TARGET = 0.05
"""By how much RSN and LSSM are to beat the equally tuned GCNN on the task that stays hard."""
LARGE = 0.05
"""What is taken for "a large margin"; the paper's own leads are 7, 2 and 11 points."""
OWN = ("gcnn", "rsn", "lssm")


def claims(cells: Iterable[Cell], presets: Mapping[str, str]) -> list[list[Claim]]:
    """Source localization, Table 2 and the baselines: each family has its own correction.

    Claims about authors are left out where the results have nothing of them: other texts have other authors.
    """
    there = list(cells)
    experiments = {cell.experiment for cell in there}
    authors = {cell["author"] for cell in there}
    baselines = [name for name in BASELINES if any(cell["filter"] == name for cell in there)]
    families = []
    if experiments != {"table2"}:
        filters = [name for name in FILTERS if any(cell["filter"] == name and not cell["author"] for cell in there)]
        families.append(source_localization(filters, target=presets.get("figure1") == "tuned"))
    if "table2" in experiments:
        families.append(authorship([author for author in PAPER_AUTHORS if author in authors]))
    if baselines:
        families.append(against_baselines([author for author in PAPER_AUTHORS if author in authors], baselines))
    return families


def source_localization(filters: Sequence[str], target: bool = False) -> list[Claim]:
    """The claims of Section 4 on source localization.

    Args:
        filters: those that were run; where there is a GCNN of equal size, it is the rival.
        target: whether to add the target of the `tuned` preset, a lead of 5 points at K = 16 and 32.
    """
    claims: list[Claim] = []
    for K in (4, 16, 32):
        claims += [_beats(_at("figure1", name, K), filters) for name in ("rsn", "lssm")]
    claims += [_best(_at("figure1", "rsn", 4), filters)]
    claims += [_best(_at("figure1", "lssm", K), filters) for K in (16, 32)]
    claims += [_steadiest(_at("figure1", "lssm", K), filters) for K in (16, 32)]
    for L in (2, 4):
        claims += [_beats(_at("table1", name, 4, L), filters) for name in ("rsn", "lssm")]
        claims += [_best(_at("table1", "lssm", 4, L), filters)]
    if "gcnn" in filters:
        text = f"{title('gcnn')} of one layer has its best accuracy at K = 32"
        claims += [best(text, _at("figure1", "gcnn", 32), [_at("figure1", "gcnn", K) for K in (4, 16)])]
    if target:
        claims += [_beats(_at("figure1", name, K), filters, TARGET) for K in (16, 32) for name in ("rsn", "lssm")]
    return claims


def authorship(authors: Sequence[str] = PAPER_AUTHORS) -> list[Claim]:
    """RSN beats GCNN for all but Bronte; LSSM is best by a large margin."""
    pairs = {"austen": ("rsn", "gcnn"), "bronte_charlotte": ("gcnn", "rsn"), "poe": ("rsn", "gcnn")}
    claims = [
        beats(f"{title(ours)} beats the {title(rival)} for {author}", _of(author, ours), _of(author, rival))
        for author, (ours, rival) in pairs.items()
        if author in authors
    ]
    for margin in (0.0, LARGE):
        claims += [
            best(
                f"LSSM has the best accuracy of the filters for {author}{_lead(margin)}",
                _of(author, "lssm"),
                [_of(author, rival) for rival in OWN if rival != "lssm"],
                margin,
            )
            for author in authors
        ]
    return claims


def against_baselines(authors: Sequence[str] = PAPER_AUTHORS, names: Sequence[str] = tuple(BASELINES)) -> list[Claim]:
    """Every filter against the baselines that were run; the paper has none."""
    return [
        best(
            f"{title(name)} beats every baseline for {author}",
            _of(author, name),
            [Cell.of("table2", filter=baseline, K=0, L=0, author=author) for baseline in names],
        )
        for author in authors
        for name in OWN
    ]


def _beats(ours: Cell, filters: Sequence[str], margin: float = 0.0) -> Claim:
    name = ours["filter"]
    rival = f"gcnn:{name}" if f"gcnn:{name}" in filters else "gcnn"
    text = f"{title(name)} beats the {title(rival)}{_lead(margin)} at {_place(ours)}"
    return beats(text, ours, ours.at(filter=rival), margin)


def _best(ours: Cell, filters: Sequence[str]) -> Claim:
    return best(f"{title(ours['filter'])} has the best accuracy at {_place(ours)}", ours, _rivals(ours, filters))


def _steadiest(ours: Cell, filters: Sequence[str]) -> Claim:
    text = f"{title(ours['filter'])} has the smallest standard deviation at {_place(ours)}"
    return steadiest(text, ours, _rivals(ours, filters))


def _rivals(ours: Cell, filters: Sequence[str]) -> list[Cell]:
    return [ours.at(filter=rival) for rival in filters if rival != ours["filter"]]


def _at(experiment: str, filter: str, K: int, L: int = 1) -> Cell:
    return Cell.of(experiment, filter=filter, K=K, L=L, author=None)


def _of(author: str, filter: str, K: int = 32, L: int = 1) -> Cell:
    return Cell.of("table2", filter=filter, K=K, L=L, author=author)


def _place(cell: Cell) -> str:
    return f"K = {cell['K']}" if cell.experiment == "figure1" else f"L = {cell['L']}, K = {cell['K']}"


def _lead(margin: float) -> str:
    return f" by {100 * margin:g} points or more" if margin else ""
