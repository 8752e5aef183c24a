"""The comparison with PyG's layers in their own call: every contestant trains, and what is measured is what is said."""

import io

import pytest
import torch
from rich.console import Console

from shiftstate.bench import Report, drop_in, memory, show
from shiftstate.bench.drop_in import SMALL, DropIn, EpochCost, Size
from shiftstate.pyg import base


def test_both_forms_are_the_same_graph():
    forms = drop_in.graphs(SMALL)
    dense = torch.zeros(SMALL.nodes, SMALL.nodes)
    source, target = forms["edge_index"]
    dense.index_put_((target, source), torch.ones(SMALL.edges), accumulate=True)
    assert torch.equal(forms["CSR"].to_dense(), dense)


def test_the_published_comparison_is_complete():
    assert (Size().edges, Size().nodes) == (2_000_000, 100_000)
    names = drop_in.contestants(quick=False)
    for peer in ("TAGConv", "GatedGraphConv"):
        assert {(peer, "edge_index"), (peer, "CSR")} <= set(names)
    for layer in ("GCNNConv", "RSNConv", "LSSMConv"):
        assert {(layer, "edge_index"), (layer, "CSR"), (layer, "cached")} <= set(names)


@pytest.mark.parametrize(("layer", "form"), drop_in.contestants(quick=False))
def test_every_contestant_trains(layer, form, monkeypatch):
    made, make = [], drop_in.make_layer
    monkeypatch.setattr(drop_in, "make_layer", lambda *args, **options: made.append(make(*args, **options)) or made[0])
    step = drop_in.training(layer, form, SMALL)
    before = [parameter.detach().clone() for parameter in made[0].parameters()]
    step()
    assert any(not torch.equal(a, b) for a, b in zip(before, made[0].parameters(), strict=True))
    assert getattr(made[0], "cached", False) == (form == "cached")


def test_conversion_is_timed_with_and_without_a_cache(monkeypatch):
    converted, timed, convert = [], [], base.to_shift
    monkeypatch.setattr(base, "to_shift", lambda graph, *rest: converted.append(graph) or convert(graph, *rest))

    def conversions_in(call, repeats):
        before = len(converted)
        call()
        timed.append(len(converted) - before)
        return float(repeats)

    monkeypatch.setattr(drop_in, "_best", conversions_in)
    assert drop_in.conversions(SMALL, 3) == {"edge_index": 3.0, "CSR": 3.0, "cached": 3.0}
    assert timed == [1, 1, 0]  # from the cache nothing is converted


@pytest.mark.skipif(not memory.supported(), reason="this system does not tell a process its resident size")
def test_an_epoch_in_its_own_process_counts_what_it_keeps():
    size = Size(20_000, 40_000, 64, 3)
    found = drop_in.epoch("TAGConv", "CSR", size, 1)
    state = 4 * size.nodes * size.channels
    assert found.seconds > 0
    assert found.bytes > 3 * state  # each hop's input is kept for the gradient of its weights


def test_a_failing_epoch_says_why():
    with pytest.raises(RuntimeError, match=r"an epoch of NoConv on CSR failed: .*NoConv"):
        drop_in.epoch("NoConv", "CSR", SMALL, 1)


def test_without_pyg_there_is_nothing_to_compare(monkeypatch):
    monkeypatch.setattr(drop_in, "find_spec", lambda name: None)
    assert drop_in.measure(True, 1, lambda what: None) is None


def test_the_report_shows_epochs_memory_and_conversion():
    found = DropIn(Size(), {"edge_index": 0.25, "cached": 1e-5}, [EpochCost("LSSMConv", "cached", 1.5, 600_000_000)])
    console = Console(width=140, record=True, file=io.StringIO())
    show.print_report(Report({"torch": "x"}, [], None, [], found), console)
    text = console.export_text()
    assert "N=100,000 E=2,000,000 C=32 K=8" in text
    assert all(word in text for word in ("LSSMConv", "1,500.00 ms", "600 MB", "edge_index 250.00 ms", "cached 0.01 ms"))
