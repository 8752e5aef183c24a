"""`shiftstate report RUN`: the page of a run, from the parts of the machine's page."""

from __future__ import annotations

import base64
import json
import shlex
from importlib import metadata
from pathlib import Path
from typing import Any

from shiftstate.estimators.graph_help.baselines import TITLES
from shiftstate.files import make_directory, write_whole
from shiftstate.lens import examine
from shiftstate.machine.page.build import NO_CHARTS, PAGE
from shiftstate.machine.page.contract import PageData, RunRow, ShownPicture, ShownRun
from shiftstate.machine.page.lenses import read_lenses, that_fit
from shiftstate.machine.page.render import chart_library, render
from shiftstate.machine.page.results import PALETTE
from shiftstate.machine.results.data_files import read_fingerprints
from shiftstate.own_data.asking.config import settings_from_record
from shiftstate.own_data.left.inputs import inputs_of
from shiftstate.own_data.left.leaving import METRICS, PICTURES, metric_of, read_metrics, read_settings
from shiftstate.own_data.left.manifest import MANIFEST, MODEL, check_run, read_run_model
from shiftstate.own_data.left.verdicts import plain
from shiftstate.own_data.reading.joining import Say
from shiftstate.own_data.reading.problems import read_problem
from shiftstate.own_data.trials import check_unchanged

REACH_NODES = 3000
"""The reach, the costliest part of the lens, is taken on graphs of up to so many nodes."""
LENS_NODES = 100_000
CAPTIONS = {
    "curves.svg": "Training loss, and the score on validation data by which training stops; a line per seed.",
    "confusion.svg": "Test data: what was predicted for each class.",
    "residuals.svg": "Test data: predicted numbers beside the true ones, and the distribution of the errors.",
}


def is_run(directory: Path) -> bool:
    """Whether `shiftstate train` has begun or finished a run there."""
    return (directory / MANIFEST).exists() or (directory / "settings.json").exists()


def write_run_page(directory: Path, say: Say) -> str:
    """Write report.html of a run; a line on it."""
    check_run(directory, "settings.json", MODEL, METRICS)
    found = read_metrics(directory)
    note = _write_lens(directory, found, say)
    lenses = that_fit(read_lenses(directory), [])
    library = chart_library()
    title = directory.resolve().name
    data: PageData = {
        "title": title,
        "out": shlex.quote(title),
        "palette": list(PALETTE),
        "experiments": [],
        "claims": [],
        "reading": "",
        "plan_recorded": False,
        "record": _record(directory, found),
        "versions": [],
        "files": sorted(one.name for one in directory.iterdir() if one.suffix in (".csv", ".json", ".svg")),
        "charts": library is not None,
        "lenses": [lens.described([]) for lens in lenses],
        "lenses_stored": len(lenses),
        "lens_first": 0,
        "networks": None,
        "run": _shown(directory, found, note),
    }
    content = render(data, [lens.content for lens in lenses], library).encode()
    write_whole(directory / PAGE, content)
    end = "open it in a browser" if library is not None else NO_CHARTS
    return f"{directory / PAGE}: {len(content) / 1e6:.1f} MB; {end}"


def _shown(directory: Path, found: dict[str, Any], note: str) -> ShownRun:
    metric = metric_of(found["task"], found["metric"])
    model = f"{found['filter']}, K = {found['settings']['K']}"
    ends = found["seeds"].get("interval")
    scores = {model: found["seeds"]["mean"]}
    scores |= {TITLES.get(name, name): value for name, value in found["baselines"].items()}
    ordered = sorted(scores.items(), key=lambda one: one[1], reverse=metric.direction == "higher")
    rows = [
        RunRow(
            title=title,
            score=plain(metric, value),
            interval="" if title != model or not ends else f"{plain(metric, ends[0])} … {plain(metric, ends[1])}",
            own=title == model,
        )
        for title, value in ordered
    ]
    pictures = [
        ShownPicture(
            caption=CAPTIONS[name],
            source=f"data:image/svg+xml;base64,{base64.b64encode((directory / name).read_bytes()).decode()}",
        )
        for name in PICTURES
        if (directory / name).is_file()
    ]
    count = len(found["splits"]) if "splits" in found else len(found["seeds"]["seeds"])
    of = f"{count} splits" if "splits" in found else f"{count} seed{'s' * (count > 1)}"
    sentence = found["verdict"]
    return {
        "heading": "Does the graph help?",
        "verdict": sentence[:1].upper() + sentence[1:] + ".",
        "caption": f"{metric.title} on test data, {metric.direction} is better; the model is trained with {of}.",
        "rows": rows,
        "scores": [[part, {name: f"{value:.4g}" for name, value in found[part].items()}] for part in _PARTS],
        "pictures": pictures,
        "lens_note": note,
    }


_PARTS = ("train", "valid", "test")


def _record(directory: Path, found: dict[str, Any]) -> list[tuple[str, str]]:
    used = {key: value for key, value in found["settings"].items() if value is not None}
    asked = read_settings(directory)
    files = {key: str(asked[key]) for key in ("edges", "nodes", "features", "signals", "targets") if asked.get(key)}
    return [
        ("task", found["task"]),
        *files.items(),
        ("graph normalised", found["normalization"]),
        ("features scaled", found["scale"]),
        *((key.replace("_", " "), str(value)) for key, value in used.items()),
        ("page by", f"shiftstate {metadata.version('shiftstate')}"),
    ]


def _write_lens(directory: Path, found: dict[str, Any], say: Say) -> str:
    """Put the trained model under the lens, if the data are still there; why not, if it was not."""
    asked, estimator = read_settings(directory), read_run_model(directory)
    try:
        settings = settings_from_record(asked, found.get("files_of"))
        check_unchanged(settings, read_fingerprints(directory))
        problem = read_problem(settings, lambda line: None)
    except (OSError, ValueError) as error:
        return f"The lens is left out, as the data cannot be read again: {error}"
    nodes = problem.shift.num_nodes
    if nodes > LENS_NODES:
        return f"The lens is left out: the graph has more than {LENS_NODES:,} nodes."
    say("the trained model under the lens")
    x, shift = inputs_of(estimator, problem)
    lens = examine(
        estimator.model_.eval(), x, shift, names=problem.node_names, with_reach=nodes <= REACH_NODES, max_nodes=200
    )
    content = {**lens.to_dict(), "realization": {"name": f"{found['filter']}, K = {found['settings']['K']}"}}
    make_directory(directory / "lens", "the lens")
    text = json.dumps(content, allow_nan=False, ensure_ascii=False, separators=(",", ":")) + "\n"
    write_whole(directory / "lens" / f"{found['filter']}.json", text)
    return ""
