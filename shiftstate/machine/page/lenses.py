"""Lenses as the page carries them: what `shiftstate inspect` wrote into DIR/lens, as much as a page can hold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shiftstate.lens.as_json import FILTER, ORDER
from shiftstate.machine.page.contract import ShownExperiment, ShownLens, ShownMetric
from shiftstate.machine.page.lens_form import FORMAT, check_lens
from shiftstate.machine.parsing import parse_table, read_text

ROOM = 3_000_000
"""Bytes of lenses in a page."""
AGAIN, RECORDED = "_again", "_recorded"
"""Ends of the names under which a lens has the metric of its training, now and then."""


@dataclass(frozen=True)
class LensFile:
    """One training under the lens, as its file tells."""

    id: str
    content: Mapping[str, Any]
    size: int
    """Bytes."""

    @property
    def gated(self) -> bool:
        """Whether its first layer has gates to show."""
        return bool(self.content["layers"][0]["sample"]["gates"])

    @property
    def told(self) -> Mapping[str, Any]:
        """What the file says of the training."""
        return self.content.get("realization") or {}

    def described(self, experiments: Sequence[ShownExperiment]) -> ShownLens:
        """Title, and what came out when it was trained again."""
        found = _find(self.id, experiments)
        name = self.told.get("name")
        title = _title(*found) if found else name if isinstance(name, str) else self.id
        return {"id": self.id, "title": title, "note": self._note(found[0] if found else None)}

    def _note(self, experiment: ShownExperiment | None) -> str:
        name = next((key.removesuffix(AGAIN) for key in self.told if key.endswith(AGAIN)), "")
        again, recorded = self.told.get(name + AGAIN), self.told.get(name + RECORDED)
        if not isinstance(again, int | float) or not isinstance(recorded, int | float):
            return ""
        title, now, then = name, f"{again:.4g}", f"{recorded:.4g}"
        if experiment is not None and experiment["metric"]["name"] == name:
            title = experiment["metric"]["title"]
            now, then = (_measured(experiment["metric"], value) for value in (again, recorded))
        return f"Trained again from its record: {title} {now}, recorded {then}."


def read_lenses(directory: Path) -> list[LensFile]:
    """Every lens of the directory, by name."""
    return [_read(path) for path in sorted((directory / "lens").glob("*.json"))]


def that_fit(lenses: Sequence[LensFile], experiments: Sequence[ShownExperiment]) -> list[LensFile]:
    """As many as a page has room for, in the order of the experiments' cells; the first of each filter comes first."""
    ordered = sorted(lenses, key=lambda lens: _order(lens, experiments))
    seen: dict[str, int] = {}
    ranked = []
    for place, lens in enumerate(ordered):
        kind = str(lens.content["layers"][0][FILTER])
        seen[kind] = seen.get(kind, 0) + 1
        ranked.append((seen[kind], place))
    room, kept = ROOM, []
    for _, place in sorted(ranked):
        if ordered[place].size <= room:
            room -= ordered[place].size
            kept.append(place)
    return [ordered[place] for place in sorted(kept)]


def _read(path: Path) -> LensFile:
    expected = f"a lens of format {FORMAT}: `shiftstate inspect` writes it again"
    text = read_text(path, expected)
    try:
        content = parse_table(text)
        check_lens(content)
    except ValueError as error:
        raise ValueError(f"{path} cannot be read ({error}); expected {expected}") from None
    return LensFile(path.stem, content, len(text.encode()))


def _measured(metric: ShownMetric, value: float) -> str:
    """With one digit more than tables show, as two values are compared."""
    return f"{metric['scale'] * value:.{metric['digits'] + 1}f} {metric['unit']}".strip()


def _find(id: str, experiments: Sequence[ShownExperiment]) -> tuple[ShownExperiment, int] | None:
    """The experiment of a training, and its number there."""
    return next(((one, one["trainings"]["id"].index(id)) for one in experiments if id in one["trainings"]["id"]), None)


def _title(experiment: ShownExperiment, number: int) -> str:
    """Experiment, series, place and numbers of a training."""
    trainings = experiment["trainings"]
    at = experiment["cells"][trainings["cell"][number]]["at"]
    axes = sorted(experiment["axes"], key=lambda axis: axis["name"] != experiment["series"])
    values = [value["place"] for axis in axes for value in axis["values"] if value["value"] == at[axis["name"]]]
    counts = [f"{one['title']} {trainings['counts'][one['name']][number]}" for one in experiment["counts"]]
    return ", ".join([experiment["title"], *values, *counts])


def _order(lens: LensFile, experiments: Sequence[ShownExperiment]) -> tuple[int, int, int, int, str]:
    """By experiment and cell; those of no stored training last, by K and layers."""
    found = _find(lens.id, experiments)
    if found is None:
        return len(experiments), 0, int(lens.content["layers"][0][ORDER]), len(lens.content["layers"]), lens.id
    return experiments.index(found[0]), found[0]["trainings"]["cell"][found[1]], 0, 0, lens.id
