"""Lenses as the page carries them: what `shiftstate inspect` wrote into DIR/lens, as much as a page can hold."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shiftstate.experiments.claims import title
from shiftstate.experiments.report.results import TITLES

ROOM = 3_000_000
"""Bytes of lenses in a page."""
FORMAT = 1


@dataclass(frozen=True)
class Lens:
    """One realization under the lens."""

    id: str
    title: str
    content: Mapping[str, Any]
    size: int
    """Bytes."""

    @property
    def gated(self) -> bool:
        """Whether its first layer has gates to show."""
        return bool(self.content["layers"][0]["sample"]["gates"])


def read_lenses(directory: Path) -> list[Lens]:
    """Every lens of the directory, in the order of the experiments' cells."""
    lenses = [_read(path) for path in (directory / "lens").glob("*.json")]
    return sorted(lenses, key=lambda lens: (_order(lens.content), lens.id))


def that_fit(lenses: list[Lens]) -> list[Lens]:
    """As many as a page has room for, the first of each filter in front."""
    seen: dict[str, int] = {}
    ranked = []
    for place, lens in enumerate(lenses):
        filter = str(lens.content["layers"][0]["filter"])
        seen[filter] = seen.get(filter, 0) + 1
        ranked.append((seen[filter], place))
    room, kept = ROOM, []
    for _, place in sorted(ranked):
        if lenses[place].size <= room:
            room -= lenses[place].size
            kept.append(place)
    return [lenses[place] for place in sorted(kept)]


def _read(path: Path) -> Lens:
    try:
        text = path.read_text("utf-8")
        content = json.loads(text)
        if content["kind"] != "shiftstate.lens" or content["format"] != FORMAT:
            raise ValueError(f"kind {content['kind']!r}, format {content['format']!r}")
        drawn = len(content["graph"]["nodes"])
        for layer in content["layers"]:
            states = layer["sample"]["states"]
            if len(states) != layer["K"] + 1 or any(len(channel) != drawn for state in states for channel in state):
                raise ValueError(f"its states do not fit K = {layer['K']} and {drawn} nodes")
        if not content["layers"]:
            raise ValueError("no layer")
        return Lens(path.stem, _title(path.stem, content), content, len(text.encode()))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path} cannot be read ({error}); expected a lens of format {FORMAT}: `shiftstate inspect` writes it anew"
        ) from None


def _title(name: str, content: Mapping[str, Any]) -> str:
    known = content.get("realization")
    if not isinstance(known, Mapping) or "filter" not in known:
        return name
    known = {**known.get("config", {}), **known}
    experiment = str(known.get("experiment", ""))
    parts = [TITLES.get(experiment, experiment), title(str(known["filter"]))]
    parts += [f"{axis} = {known[axis]}" for axis in ("K", "L") if axis in known]
    parts += [f"\u2068{known['author']}\u2069"] if known.get("author") else []
    parts += [f"{axis} {known[axis]}" for axis in ("graph", "draw") if axis in known]
    return ", ".join(part for part in parts if part)


def _order(content: Mapping[str, Any]) -> tuple[str, int, int]:
    known = content.get("realization")
    experiment = str(known.get("experiment", "")) if isinstance(known, Mapping) else ""
    return experiment, content["layers"][0]["K"], len(content["layers"])
