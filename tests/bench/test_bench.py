"""The bench: it compares before it times, writes whole files or none, and measures what it says it measures."""

import json
import math
from dataclasses import replace

import pytest
import torch
from rich.console import Console

from shiftstate import bench
from shiftstate.bench import cases, drop_in, growth, memory, plain, show, timing
from shiftstate.bench.cases import SMALL, TABLE, Case, Setup, large

TINY = [
    Case("gcnn", 3, nodes=12, batch=4, channels=(2, 3)),
    Case("rsn", 3, nodes=12, batch=4, channels=(2, 3)),
    Case("lssm", 3, nodes=12, batch=4, channels=(1, 3)),
    *(large(name, 3, 60, 240, 4) for name in ("gcnn", "rsn", "lssm")),
]


@pytest.fixture(scope="module")
def report():
    """A quick run; peak memory comes from a formula, for the processes that measure it would take too long."""
    base = large("lssm", 4, 200, 800, 4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "peak_bytes", lambda case, kernel, checkpoint=None: 1000 * case.K)
        patch.setattr(
            drop_in, "epoch", lambda layer, form, size, repeats: drop_in.EpochCost(layer, form, 0.5, 7_000_000)
        )
        patch.setitem(growth.AXES, "K", (base, replace(base, K=8), replace(base, K=16)))
        return bench.run(quick=True, repeats=1)


def test_a_quick_run_measures_everything_in_miniature(report):
    alone = [row for row in report.rows if row.threads == 1]  # two threads follow where torch has as many
    assert [row.case for row in alone] == [case.name for case in SMALL]
    for row in alone:
        assert row.deviation <= timing.TOLERANCE
        assert {"ours", "plain 1", "plain 2", "bare 1", "bare 2"} <= row.seconds.keys()
        assert all(0 < seconds < math.inf for seconds in row.seconds.values())
        assert row.times_faster_than("plain") == pytest.approx(row.plain / row.seconds["ours"])
        assert row.over_bare == pytest.approx(row.seconds["ours"] / min(row.seconds["bare 1"], row.seconds["bare 2"]))
    assert report.memory.reference == report.memory.fused == 32_000
    assert report.memory.checkpointed_time > 0
    (curve,) = report.growth
    assert (curve.axis, curve.sizes) == ("K", (4, 8))
    assert curve.memory_exponent == pytest.approx(1.0)
    assert report.machine["device"] == "cpu"
    assert report.machine["torch"] == torch.__version__


def test_the_number_of_threads_is_put_back(monkeypatch):
    before = torch.get_num_threads()

    def fail(*_):
        torch.set_num_threads(1)
        raise ZeroDivisionError

    monkeypatch.setattr(bench, "measure", fail)
    torch.set_num_threads(3)
    try:
        with pytest.raises(ZeroDivisionError):
            bench.run(quick=True, repeats=1)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_the_table_holds_the_published_shapes():
    shapes = [(case.filter, case.K, case.nodes, case.edges) for case in TABLE]
    assert ("lssm", 32, 50, None) in shapes
    assert ("lssm", 4, 50, None) in shapes
    assert ("rsn", 32, 50, None) in shapes
    for name in ("lssm", "rsn"):
        assert (name, 16, 200_000, 1_000_000) in shapes
        assert (name, 16, 100_000, 2_000_000) in shapes
    assert ("gcnn", 16, 100_000, 2_000_000) in shapes
    assert {case.filter for case in SMALL} == {"gcnn", "rsn", "lssm"}


@pytest.mark.parametrize("case", TINY, ids=lambda case: case.name)
def test_every_way_of_plain_pytorch_is_the_reference(case):
    setup = Setup(case)
    expected = setup.in_float64("reference")
    for way in plain.PLAIN[case.filter]:
        assert timing.difference(setup.plain(way)(), expected) < 1e-5
    assert timing.difference(setup.ours()(), expected) < 1e-5
    assert all(deviation < 1e-5 for deviation in timing.agree(setup).values())


@pytest.mark.parametrize("case", TINY, ids=lambda case: case.name)
@pytest.mark.parametrize("way", ["bare 1", "bare 2"])
def test_the_bare_shifts_are_2k_products_of_the_states_size(way, case, monkeypatch):
    products = []

    class Counted:
        def __matmul__(self, w):
            products.append(tuple(w.shape))

        @classmethod
        def __torch_function__(cls, function, kinds, args, kwargs):
            assert function is torch.mm
            assert kwargs["out"].shape == args[1].shape
            args[0] @ args[1]

    setup = Setup(case)
    monkeypatch.setattr(plain, "csr", lambda shift: Counted())
    monkeypatch.setattr(type(setup.shift), "to_dense", lambda shift: Counted())
    setup.bare()[way]()
    G, F = case.channels
    width = case.batch * F * (G if case.mixing == "bank" else 1)
    assert products == [(case.nodes, width)] * (2 * case.K)


def test_a_kernel_that_deviates_gets_no_time(monkeypatch):
    honest = cases.Setup.ours

    def wrong(self, *args):
        return lambda: [1.001 * value for value in honest(self, *args)()]

    monkeypatch.setattr(cases.Setup, "ours", wrong)
    row = bench.measure(TINY[2], "cpu", torch.get_num_threads(), 1, lambda what: None)
    assert row.deviation == pytest.approx(1e-3, rel=0.1)
    assert row.seconds == {}
    assert row.over_bare is None
    assert row.times_faster_than("plain") is None


def test_the_difference_is_that_of_the_worst_tensor_and_sees_nan():
    one, two = torch.ones(2), torch.tensor([1.0, 2.0])
    assert timing.difference([one, two], [one, two]) == 0
    assert timing.difference([one, 1.5 * two, one], [one, two, one]) == pytest.approx(0.5)
    for place in range(3):
        spoiled = [one, two, one]
        spoiled[place] = torch.tensor([math.nan, 1.0])
        assert timing.difference(spoiled, [one, two, one]) == math.inf


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_kernel_that_is_not_finite_gets_no_time(value, monkeypatch):
    monkeypatch.setattr(
        bench, "agree", lambda setup: {"ours": timing.difference([torch.tensor([value])], [torch.ones(1)])}
    )
    assert bench.measure(TINY[2], "cpu", torch.get_num_threads(), 1, lambda what: None).seconds == {}


def test_times_are_the_best_of_interleaved_rounds(monkeypatch):
    calls = []
    ticks = iter(range(10_000))
    monkeypatch.setattr(timing.time, "perf_counter", lambda: float(next(ticks)))
    runs = {name: lambda name=name: calls.append(name) for name in ("a", "b")}
    best = timing.best_times(runs, 3, lambda what: None)
    assert calls == ["a", "b"] * 4
    assert best == {"a": 1.0, "b": 1.0}


def test_the_json_is_whole_and_holds_the_ratios(report, tmp_path):
    path = tmp_path / "bench.json"
    show.write_json(report, path)
    read = json.loads(path.read_text())
    assert read.keys() == {"machine", "rows", "memory", "growth", "drop_in"}
    assert read["rows"][0]["over_bare"] == pytest.approx(report.rows[0].over_bare)
    assert read["rows"][0]["over_plain"] == pytest.approx(report.rows[0].times_faster_than("plain"))
    assert [entry.name for entry in tmp_path.iterdir()] == ["bench.json"]


@pytest.mark.parametrize(("write", "name"), [(show.write_json, "bench.json"), (show.plot, "growth.svg")])
def test_a_file_that_cannot_be_written_is_one_line_and_leaves_nothing(write, name, report, tmp_path, monkeypatch):
    path = tmp_path / name
    path.write_text("old")
    for folder in (tmp_path / "missing", path):  # the second is a file
        with pytest.raises(ValueError, match=r"cannot be written \(.*\); expected a path in a writable folder$"):
            write(report, folder / name)
    monkeypatch.setattr(show.os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(ValueError, match="No space left on device"):
        write(report, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_to_is_refused_before_anything_is_measured(tmp_path):
    show.check_writable(tmp_path / "bench.json")
    with pytest.raises(ValueError, match="is a folder; expected the path of a file"):
        show.check_writable(tmp_path)
    with pytest.raises(ValueError, match="cannot be written; expected a path in a writable folder"):
        show.check_writable(tmp_path / "missing" / "bench.json")
    assert not list(tmp_path.iterdir())


def test_a_plot_of_an_unknown_kind_is_refused(report, tmp_path):
    with pytest.raises(ValueError, match="Format 'xyz' is not supported"):
        show.plot(report, tmp_path / "growth.xyz")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_the_plot_is_drawn(report, tmp_path, suffix):
    path = tmp_path / f"growth{suffix}"
    show.plot(report, path)
    assert path.stat().st_size > 1000
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_the_tables_are_printed(report, capsys):
    wrong = replace(report.rows[0], seconds={}, deviation=0.5)
    show.print_report(replace(report, rows=[*report.rows, wrong]), Console(width=200))
    printed = capsys.readouterr().out
    assert all(row.case in printed for row in report.rows)
    assert "differs by 5e-01: no time" in printed
    assert "memory as K^1.00" in printed


@pytest.mark.parametrize("power", [-0.5, 0.0, 1.0, 2.0])
def test_the_exponent_of_a_power_law_is_found(power):
    sizes = [10, 20, 50, 300]
    assert growth.exponent(sizes, [3.7 * size**power for size in sizes]) == pytest.approx(power, abs=1e-12)


@pytest.mark.skipif(not memory.supported(), reason="this system does not tell a process its resident size")
def test_the_sampler_sees_an_allocation_that_is_gone_at_the_end():
    with memory.Peak() as peak:
        torch.ones(50_000_000)  # 200 MB
    assert 190e6 < peak.bytes < 260e6
    with memory.Peak() as idle:
        pass
    assert idle.bytes < 20e6


@pytest.mark.skipif(not memory.supported(), reason="this system does not tell a process its resident size")
def test_a_process_of_its_own_measures_the_states():
    case = large("lssm", 16, 20_000, 40_000, 16)
    state = 4 * case.nodes * case.channels[1]
    assert 2 * case.K * state <= memory.peak_bytes(case, "fused") <= 4 * case.K * state


def test_a_process_that_fails_says_why():
    with pytest.raises(RuntimeError, match=r"^measuring LSSM .* failed: .*unknown mixing 'none'"):
        memory.peak_bytes(replace(TINY[2], mixing="none"), "fused")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_cuda_without_a_device_is_refused():
    with pytest.raises(ValueError, match=r"^device is 'cuda'; expected a device that torch has here, such as 'cpu' \("):
        bench.run(device="cuda")
