"""`shiftstate train`, `predict` and `compare`: people's own data."""

from pathlib import Path
from typing import Annotated

import typer

from shiftstate.commands.console import telling

TASKS = "node-classification, node-regression, signal-classification, signal-regression or forecast"


def add_to(app: typer.Typer) -> None:
    """Make the commands known."""
    app.command()(train)
    app.command()(predict)
    app.command()(compare)


def train(
    task: Annotated[str, typer.Option(help=TASKS)],
    edges: Annotated[
        Path, typer.Option(help="edge list (.csv, .tsv, .parquet), .graphml, or matrix (.csv, .mtx, .npz)")
    ],
    out: Annotated[Path, typer.Option(help="directory of the run; the same command goes on with it")],
    nodes: Annotated[Path | None, typer.Option(help="table of nodes: names, target, split, features")] = None,
    features: Annotated[Path | None, typer.Option(help="features of nodes: .csv, .parquet, .mtx, .npy, .npz")] = None,
    signals: Annotated[Path | None, typer.Option(help="table with a column per node: signals, or a series")] = None,
    target: Annotated[str | None, typer.Option(help="column to predict")] = None,
    targets: Annotated[Path | None, typer.Option(help="table of targets, if signals are a matrix")] = None,
    split: Annotated[str | None, typer.Option(help="column that says train, valid, test or nothing")] = None,
    groups: Annotated[str | None, typer.Option(help="column: rows of a group stay together in a split")] = None,
    name: Annotated[str | None, typer.Option(help="column of node names; default: the first")] = None,
    source: Annotated[str | None, typer.Option(help="column where edges begin; default: guessed")] = None,
    destination: Annotated[str | None, typer.Option(help="column where edges end; default: guessed")] = None,
    weight: Annotated[str | None, typer.Option(help="column of edge weights; default: guessed, else ones")] = None,
    directed: Annotated[bool, typer.Option("--directed", help="edges lead one way only")] = False,
    fractions: Annotated[str, typer.Option(help="train, valid and test, without a column for it")] = "0.6,0.2,0.2",
    filter: Annotated[str, typer.Option(help="one or several, the best on validation data is kept")] = "gcnn",
    K: Annotated[str | None, typer.Option("--K", help="filter orders to try, as 2,8,32; default: by rule")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="trainings of the kept model, for its interval")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="of weights, batches and a random split")] = 0,
    epochs: Annotated[int | None, typer.Option(min=1, help="at most so many; default: by rule")] = None,
    metric: Annotated[str | None, typer.Option(help="what decides, as roc_auc or mae; default: the task's")] = None,
    history: Annotated[int, typer.Option(min=1, help="of a forecast: how many last values it sees")] = 12,
    horizons: Annotated[str, typer.Option(help="of a forecast: steps ahead, as 3,6,12")] = "1",
    period: Annotated[int | None, typer.Option(min=1, help="of the seasonal mean; default: guessed")] = None,
    missing: Annotated[str, typer.Option(help="refuse, mask, interpolate or zero=missing")] = "refuse",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="check data and settings, train nothing")] = False,
) -> None:
    """Train on your own graph, and say whether the graph helps."""
    from shiftstate.own_data import TrainSettings
    from shiftstate.own_data import train as run
    from shiftstate.own_data.problems import read_problem
    from shiftstate.own_data.training import describe

    settings = TrainSettings(
        task=task,
        edges=edges,
        out=out,
        nodes=nodes,
        features=features,
        signals=signals,
        target=target,
        targets=targets,
        split=() if split is None else tuple(one.strip() for one in split.split(",")),
        groups=groups,
        name=name,
        source=source,
        destination=destination,
        weight=weight,
        directed=directed,
        fractions=tuple(_numbers("fractions", fractions, float)),
        filters=tuple(one.strip() for one in filter.split(",")),
        K=(None,) if K is None else tuple(int(one) for one in _numbers("K", K, int)),
        seeds=seeds,
        random_state=seed,
        epochs=epochs,
        metric=metric,
        history=history,
        horizons=tuple(int(one) for one in _numbers("horizons", horizons, int)),
        period=period,
        missing=missing,
    )
    with telling() as say:
        if dry_run:
            print(describe(read_problem(settings, say)))
            return
        found = run(settings, say)
    print(found.table())
    print(found.verdict)
    print(out / "metrics.json")


def predict(
    run: Annotated[Path, typer.Argument(help="directory of a run")],
    out: Annotated[Path, typer.Option(help="CSV of predictions to write")],
    signals: Annotated[Path | None, typer.Option(help="new signals, or the last rows of a series")] = None,
    features: Annotated[Path | None, typer.Option(help="new features of the nodes")] = None,
    edges: Annotated[Path | None, typer.Option(help="another graph; default: the run's")] = None,
) -> None:
    """Predict with the model of a run."""
    from shiftstate.own_data import predict as predict_with

    with telling() as say:
        count = predict_with(run, out, say, signals, features, edges)
    print(f"{out}: {count} predictions")


def compare(run: Annotated[list[Path], typer.Argument(help="directories of runs")]) -> None:
    """Show the test scores of runs side by side."""
    from shiftstate.own_data.comparing import side_by_side

    print(side_by_side(run))


def _numbers(name: str, text: str, kind: type) -> list[float]:
    try:
        return [kind(one) for one in text.split(",")]
    except ValueError:
        raise ValueError(f"--{name} is {text!r}; expected numbers with commas between") from None
