"""`shiftstate partition`, and `shiftstate train --graph`: graphs that are larger than one machine."""

from pathlib import Path
from typing import Annotated

import typer

from shiftstate.commands.console import telling


def add_to(app: typer.Typer) -> None:
    """Make the commands known."""
    app.command()(partition)
    app.command("train-graph", hidden=True)(train_graph)


def partition(
    edges: Annotated[Path, typer.Argument(help="edge list (.csv, .tsv, .parquet, .npz), .graphml, or matrix")],
    parts: Annotated[int, typer.Option(min=1, help="one for every process that will train")],
    out: Annotated[Path, typer.Option(help="folder of the parts")],
    method: Annotated[str, typer.Option(help="metis (few cut edges) or blocks (needs nothing installed)")] = "metis",
    nodes: Annotated[Path | None, typer.Option(help="table of nodes: their names, in their order")] = None,
    name: Annotated[str | None, typer.Option(help="column of names in --nodes; default: the first")] = None,
    source: Annotated[str | None, typer.Option(help="column where edges begin; default: guessed")] = None,
    destination: Annotated[str | None, typer.Option(help="column where edges end; default: guessed")] = None,
    weight: Annotated[str | None, typer.Option(help="column of edge weights; default: guessed, else ones")] = None,
    directed: Annotated[bool, typer.Option("--directed", help="edges lead one way only")] = False,
    header: Annotated[str | None, typer.Option(help="are there names above the edges: yes, no; guessed")] = None,
) -> None:
    """Cut a graph into parts, one for every process that will train on it."""
    from shiftstate.distributed import partition as cut
    from shiftstate.files import PART_FILES, check_folder
    from shiftstate.own_data.asking.settings import header_of
    from shiftstate.own_data.reading.joining import check_names
    from shiftstate.tables import read_table

    check_folder(out, PART_FILES, (edges, nodes))
    names = None
    if nodes is not None:
        table = read_table(nodes)
        column = name or next(iter(table.columns))
        names = table.strings(column)
        check_names(table, names, column)
    with telling() as say:
        say(f"{edges}: reading, then cutting into {parts} parts")
        made = cut(
            edges,
            out,
            parts,
            method,
            source=source,
            target=destination,
            weight=weight,
            directed=directed,
            nodes=names,
            header=header_of(header),
        )
    sizes = ", ".join(str(part.nodes) for part in made.parts)
    print(f"{out}: {made.num_nodes} nodes, {made.num_edges} entries of S, parts of {sizes} nodes")
    print(f"{100 * made.boundary:.1f} % of the nodes are on a boundary; {made.halo} rows are exchanged per shift")
    print(f"torchrun --nproc-per-node {parts} -m shiftstate.train --graph {out} …")


def train_graph(
    graph: Annotated[Path, typer.Option(help="folder that shiftstate partition wrote")],
    task: Annotated[str, typer.Option(help="node-classification or node-regression")],
    nodes: Annotated[Path, typer.Option(help="table with a row per node: target, split, features")],
    target: Annotated[str, typer.Option(help="column to predict")],
    out: Annotated[Path, typer.Option(help="directory of the run, seen by all processes")],
    features: Annotated[Path | None, typer.Option(help="features (N, channels): .npy or .parquet")] = None,
    split: Annotated[str | None, typer.Option(help="column that says train, valid, test or nothing")] = None,
    name: Annotated[str | None, typer.Option(help="column of names in --nodes; default: row i is node i")] = None,
    fractions: Annotated[str, typer.Option(help="train, valid and test, without --split")] = "0.6,0.2,0.2",
    filter: Annotated[str, typer.Option(help="gcnn, rsn, lssm or gsn")] = "lssm",
    K: Annotated[int, typer.Option("--K", min=0, help="filter order")] = 8,
    channels: Annotated[int, typer.Option(min=1, help="of every layer")] = 32,
    layers: Annotated[int, typer.Option(min=1, help="how many")] = 1,
    mixing: Annotated[str, typer.Option(help="depthwise, bank or dense")] = "depthwise",
    normalization: Annotated[str, typer.Option(help="symmetric, row, column, spectral or none")] = "symmetric",
    epochs: Annotated[int, typer.Option(min=1, help="passes over the training nodes")] = 100,
    learning_rate: Annotated[float, typer.Option(help="of Adam")] = 0.01,
    metric: Annotated[str | None, typer.Option(help="what decides, as roc_auc or mae; default: the task's")] = None,
    seed: Annotated[int, typer.Option(min=0, help="of weights and a random split")] = 0,
    minutes: Annotated[float, typer.Option(min=0, help="between two checkpoints")] = 10.0,
    resume: Annotated[bool, typer.Option("--resume", help="go on from the last checkpoint")] = False,
    timeout: Annotated[float, typer.Option(min=1, help="seconds to wait for another process")] = 300.0,
) -> None:
    """Train a node task on a partitioned graph: with torchrun a process per part."""
    from shiftstate.distributed import world
    from shiftstate.distributed.node_data import NodeFiles
    from shiftstate.distributed.node_training import GraphTraining, train
    from shiftstate.files import RUN_FILES, check_folder

    check_folder(out, RUN_FILES, (nodes, features))
    try:
        shares = tuple(float(one) for one in fractions.split(","))
    except ValueError:
        raise ValueError(f"--fractions is {fractions!r}; expected numbers with commas between") from None
    files = NodeFiles(nodes, target, features, split, name, shares, seed)
    wanted = GraphTraining(
        graph=graph,
        out=out,
        task=task,
        files=files,
        filter=filter,
        K=K,
        channels=channels,
        layers=layers,
        mixing=mixing,
        normalization=normalization,
        epochs=epochs,
        learning_rate=learning_rate,
        metric=metric,
        seed=seed,
        minutes=minutes,
        resume=resume,
    )
    with world(timeout) as rank, telling() as say:
        found = train(wanted, say if rank == 0 else lambda line: None)
    if rank == 0:
        scores = ", ".join(f"{name} {value:.4f}" for name, value in found["test"].items())
        print(f"{out}: best epoch {found['best_epoch']}, on test nodes {scores}")
