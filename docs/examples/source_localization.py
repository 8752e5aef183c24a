"""Train one network to tell from which community of a graph a diffused signal came.

The paper's source localization on one graph: a stochastic block model of 5 × 10 nodes, signals x = S^t δ_source,
one filter layer with 4 channels, flatten and linear readout, Adam with learning rate 1e-3, batches of 100, 40 epochs.
"""

import argparse
import time
from collections.abc import Sequence

import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from torch.nn import functional

import shiftstate as ss
from shiftstate.datasets import Samples, SourceLocalization
from shiftstate.graphs import stochastic_block_model

BATCH = 100


def train_epoch(
    net: ss.Network, optimizer: torch.optim.Optimizer, data: SourceLocalization, generator: torch.Generator
) -> float:
    """One pass over the training set in random order; the mean loss. The last, partial batch is left out."""
    order = torch.randperm(len(data.train.y), generator=generator)
    batches = [batch for batch in order.split(BATCH) if len(batch) == BATCH]
    total = 0.0
    for batch in batches:
        loss = functional.cross_entropy(net(data.train.x[batch], data.shift), data.train.y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(batches)


@torch.no_grad()
def accuracy(net: ss.Network, samples: Samples, shift: ss.Shift) -> float:
    """The share of samples whose community is found."""
    return (net(samples.x, shift).argmax(-1) == samples.y).double().mean().item()


def read_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--filter", choices=("gcnn", "rsn", "lssm"), default="lssm")
    parser.add_argument("--K", type=int, default=32, help="filter order, the number of shifts (default: 32)")
    parser.add_argument("--epochs", type=int, default=40, help="passes over the training set (default: 40)")
    parser.add_argument("--seed", type=int, default=0, help="of graph, data, weights and batches (default: 0)")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> float:
    """Generate, train, test; the test accuracy."""
    options = read_arguments(argv)
    console = Console(highlight=False)
    torch.manual_seed(options.seed)

    graph = stochastic_block_model([10] * 5, p=0.8, q=0.2, seed=options.seed)
    data = SourceLocalization.generate(graph, source="hub", seed=options.seed)
    readout = ss.FlattenReadout(graph.num_nodes, graph.num_blocks)
    net = ss.Network(options.filter, channels=[1, 4], K=options.K, readout=readout, bias=False)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    generator = torch.Generator().manual_seed(options.seed)

    kernel, _ = net.layers[0].kernel_in_use(data.train.x[:BATCH], data.shift)
    numbers = sum(parameter.numel() for parameter in net.parameters())
    console.print(f"graph   [bold]{data.shift}[/], {graph.num_blocks} communities, seed {options.seed}")
    console.print(f"network [bold]{options.filter.upper()}[/], K = {options.K}, 4 channels, {numbers:,} parameters")
    console.print(f"data    {len(data.train.y):,} signals to learn from, in batches of {BATCH}; {kernel} kernel\n")

    start = time.perf_counter()
    columns = (TextColumn("training"), BarColumn(), MofNCompleteColumn(), TextColumn("epochs"), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        for epoch in progress.track(range(1, options.epochs + 1)):
            loss = train_epoch(net, optimizer, data, generator)
            valid = accuracy(net, data.valid, data.shift)
            progress.console.print(f"epoch {epoch:3}   loss {loss:.4f}   validation {valid:6.1%}")
    seconds = time.perf_counter() - start

    result = accuracy(net, data.test, data.shift)
    console.print(
        f"\n[bold]test accuracy {result:.1%}[/] on {len(data.test.y):,} signals after {options.epochs} epochs, "
        f"{seconds:.0f} s (guessing gives {1 / graph.num_blocks:.0%})"
    )
    console.print(
        "Reading of the paper: [bold]hub[/]. The source of a community is its node of highest degree, signals are "
        "raw, filters have no bias, and the model is the one after the last epoch. This is one graph and one draw "
        "of the data; accuracies vary much from graph to graph, so compare filters over many seeds, not one."
    )
    return result


if __name__ == "__main__":
    main()
