"""`shiftstate train`, `predict` and `compare`: people's own data."""

from pathlib import Path
from typing import Annotated

import typer

from shiftstate.commands.console import plain_console, telling

TASKS = "node-classification, node-regression, signal-classification, signal-regression or forecast"

NO_SETTINGS = ("set", "config", "init", "dry_run", "workers", "engine", "scheduler", "graph")
"""Options of `train` that say how to run, not what; ``graph`` leads to another command before it comes here."""


def add_to(app: typer.Typer) -> None:
    """Make the commands known."""
    app.command()(train)
    app.command()(predict)
    app.command()(compare)
    app.command()(export)


def train(
    task: Annotated[str | None, typer.Option(help=TASKS)] = None,
    edges: Annotated[
        Path | None, typer.Option(help="edge list (.csv, .tsv, .parquet), .graphml, or matrix (.csv, .mtx, .npz)")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="directory of the run; the same command goes on with it")] = None,
    nodes: Annotated[Path | None, typer.Option(help="table of nodes: names, target, split, features")] = None,
    features: Annotated[Path | None, typer.Option(help="features of nodes: .csv, .parquet, .mtx, .npy, .npz")] = None,
    signals: Annotated[Path | None, typer.Option(help="signals, or a series: a column per node, or a matrix")] = None,
    target: Annotated[str | None, typer.Option(help="column to predict")] = None,
    targets: Annotated[Path | None, typer.Option(help="table of targets, if signals are a matrix")] = None,
    split: Annotated[str | None, typer.Option(help="column that says train, valid, test; several: 0,1,2")] = None,
    groups: Annotated[str | None, typer.Option(help="column: rows of a group stay together in a split")] = None,
    fractions: Annotated[str | None, typer.Option(help="train, valid and test; default: 0.6,0.2,0.2")] = None,
    name: Annotated[str | None, typer.Option(help="column of node names; default: guessed")] = None,
    source: Annotated[str | None, typer.Option(help="column where edges begin; default: guessed")] = None,
    destination: Annotated[str | None, typer.Option(help="column where edges end; default: guessed")] = None,
    weight: Annotated[str | None, typer.Option(help="column of edge weights; default: guessed, else ones")] = None,
    directed: Annotated[bool | None, typer.Option("--directed", help="edges lead one way only")] = None,
    header: Annotated[str | None, typer.Option(help="are there names above the edges: yes, no; guessed")] = None,
    join: Annotated[str | None, typer.Option(help="name (default); position: row i of features is node i")] = None,
    missing: Annotated[str | None, typer.Option(help="refuse (default), mask, interpolate, zero=missing")] = None,
    keep_na: Annotated[bool | None, typer.Option("--keep-na", help="targets NA, NaN, null … are a class")] = None,
    filter: Annotated[str | None, typer.Option(help="one or several, the best on validation data is kept")] = None,
    K: Annotated[str | None, typer.Option("--K", help="filter orders to try, as 2,8,32; default: by rule")] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="trainings of the kept model; default: 3")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="of weights, batches and a random split")] = None,
    epochs: Annotated[int | None, typer.Option(min=1, help="at most so many; default: by rule")] = None,
    metric: Annotated[str | None, typer.Option(help="what decides, as roc_auc or mae; default: the task's")] = None,
    history: Annotated[int | None, typer.Option(min=1, help="how many last values a forecast sees; 12")] = None,
    horizons: Annotated[str | None, typer.Option(help="of a forecast: steps ahead, as 3,6,12; default: 1")] = None,
    period: Annotated[int | None, typer.Option(min=1, help="of the seasonal mean; default: guessed")] = None,
    set: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="another argument of the model")] = None,
    config: Annotated[Path | None, typer.Option(help="TOML file of settings; flags win over it")] = None,
    init: Annotated[Path | None, typer.Option(help="write such a file for these data, and end")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="check data and settings, train nothing")] = False,
    workers: Annotated[int | None, typer.Option(help="processes; as many as cores by default")] = None,
    engine: Annotated[str, typer.Option(help="local, or dask")] = "local",
    scheduler: Annotated[str | None, typer.Option(help="address of a Dask scheduler")] = None,
    graph: Annotated[Path | None, typer.Option(help="a graph in parts; for its options add --help")] = None,
) -> None:
    """Train on your own graph, and say whether the graph helps."""
    given = {key: value for key, value in locals().items() if value is not None and key not in NO_SETTINGS}
    from shiftstate.own_data.asking.config import model_options, settings_of

    if init is not None:
        from shiftstate.own_data.asking.starting import write_config

        write_config(init, given)
        print(f"{init}: look through it, then: shiftstate train --config {init}")
        return
    settings = settings_of(config, given, model_options(set or []))
    say = plain_console(stderr=True).print
    if dry_run:
        from shiftstate.own_data.dry_run import dry_run as measure

        for line in measure(settings, say):
            print(line)
        return
    from shiftstate.own_data.training import train as run
    from shiftstate.own_data.trials import engine_of

    found = run(settings, say, engine_of(engine, workers, scheduler))
    print(found["table"])
    print(found["verdict"])
    print(f"{settings.out}: shiftstate report {settings.out} writes its page")


def predict(
    run: Annotated[Path, typer.Argument(help="directory of a run")],
    out: Annotated[Path, typer.Option(help="CSV of predictions to write")],
    signals: Annotated[Path | None, typer.Option(help="new signals, or the last rows of a series")] = None,
    features: Annotated[Path | None, typer.Option(help="new features of the nodes")] = None,
    edges: Annotated[Path | None, typer.Option(help="another graph; default: the run's")] = None,
    header: Annotated[str | None, typer.Option(help="are there names above the edges: yes, no; guessed")] = None,
    join: Annotated[str | None, typer.Option(help="name, position; default: as in training")] = None,
    missing: Annotated[str | None, typer.Option(help="refuse, mask, …; default: as in training")] = None,
) -> None:
    """Predict with the model of a run."""
    from shiftstate.own_data import predict as predict_with

    with telling() as say:
        count = predict_with(run, out, say, signals, features, edges, missing, header, join)
    print(f"{out}: {count} predictions")


def compare(run: Annotated[list[Path], typer.Argument(help="directories of runs")]) -> None:
    """Show the test scores of runs side by side."""
    from shiftstate.own_data.comparing import side_by_side

    print(side_by_side(run))


def export(
    run: Annotated[Path, typer.Argument(help="directory of a run")],
    onnx: Annotated[Path | None, typer.Option(help="ONNX file to write: operations of the opset only")] = None,
    torch: Annotated[Path | None, typer.Option(help="torch.export program to write")] = None,
) -> None:
    """Write the model of a run for other programs, after comparing its answers."""
    from shiftstate.own_data.exporting import export as write

    for line in write(run, onnx, torch):
        print(line)
