"""What surrounds a layer's numbers: files, memory, random draws, torch.compile and torch.export."""

import tempfile
from pathlib import Path

import torch

from shiftstate.layers.options import INITS
from shiftstate.network import Network
from shiftstate.testing.inputs import IN, OUT, graph, seeded, signal
from shiftstate.testing.measure import peak_bytes, results
from shiftstate.testing.subject import ORDER, Subject, assert_same, named


@named
def save_and_load(subject: Subject) -> None:
    """A network of two such layers comes back from its file with the same configuration and output."""
    options = subject.options
    with seeded(1):
        network = Network(subject.layer_class, [IN, OUT, OUT], ORDER, **options).double()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network.safetensors"
        if any(callable(value) for value in options.values()):
            _check_callables_raise(network, path)
            return
        network.save(path)
        again = Network.load(path, filter=subject.layer_class)
    assert again.config() == network.config(), f"{again.config()} was read, {network.config()} written"
    assert_same(again(signal(2), graph()), network(signal(2), graph()), "the output of the network read back")


@named
def nothing_is_kept_without_gradients(subject: Subject) -> None:
    """Under no_grad no state is kept: with K the peak of live memory grows by less than a quarter of a state per shift.

    What may grow are the weights, which a kernel lays out by column; the graph is large enough to make them small.
    """
    nodes, batch = 120, 4
    few, many = (peak_bytes(subject.build(K=K), graph(nodes), signal(batch, nodes=nodes)) for K in (8, 24))
    state = nodes * batch * OUT * signal().element_size()
    assert many - few < 16 * state / 4, f"8 shifts need {few} bytes and 24 need {many}: states are kept"


@named
def draws_follow_the_seed(subject: Subject) -> None:
    """Every draw fills every parameter, and the same seed draws the same numbers."""
    layer = subject.build()
    for init in INITS:
        drawn = []
        for seed in (1, 1, 2):
            with seeded(seed), torch.no_grad():
                for parameter in layer.parameters():
                    parameter.fill_(torch.nan)
                layer.reset_parameters(init)
            drawn.append({name: parameter.detach().clone() for name, parameter in layer.named_parameters()})
        for name, values in drawn[0].items():
            assert bool(torch.isfinite(values).all()), f"init={init!r} leaves {name} undrawn"
        assert_same(drawn[1], drawn[0], f"init={init!r} with the same seed:")
        assert any(not torch.equal(drawn[2][name], drawn[0][name]) for name in drawn[0]), "the seed is ignored"


@named
def compiles_whole(subject: Subject) -> None:
    """torch.compile takes the layer as one graph, both layouts, and gives the same output and gradients."""
    for layout in ("dense", "sparse"):
        layer, shift = subject.build(K=2), graph(layout=layout)
        expected = results(layer, shift)
        torch.compiler.reset()
        compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
        assert_same(results(layer, shift, call=compiled), expected, f"the compiled layer's ({layout})")


@named
def exports(subject: Subject) -> None:
    """torch.export takes the layer with the shift as an input, both layouts, and gives the same output."""
    for layout in ("dense", "sparse"):
        layer, shift, x = subject.build(K=2), graph(layout=layout), signal(2)
        program = torch.export.export(layer, (x, shift))
        assert_same(program.module()(2 * x, shift), layer(2 * x, shift), f"the exported layer's ({layout})")


def _check_callables_raise(network: Network, path: Path) -> None:
    try:
        network.save(path)
    except ValueError:
        assert not path.exists()
    else:
        raise AssertionError("an activation without a name was written to a file")
