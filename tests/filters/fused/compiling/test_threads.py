"""Any number of threads gives the same bits, and no mix of threads, processes and forks kills the interpreter."""

import gc
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from shiftstate.filters.fused.compiling import blocks
from shiftstate.filters.fused.memory import pool
from shiftstate.layers.options import MIXINGS
from tests.filters.fused.comparison import KINDS, assert_identical, pair, ragged, results, signal


@pytest.fixture
def threads():
    """Sets torch's number of threads, which is put back afterwards."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def assert_threads_do_not_matter(layer, x, shift, threads):
    threads(1)
    alone = results(layer, x, shift)
    for count in (2, 4):
        threads(count)
        assert_identical(results(layer, x, shift), alone)


@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_results_on_a_sparse_graph_do_not_depend_on_the_number_of_threads(kind, mixing, threads):
    layer, _ = pair(kind, 2, 3, 3, torch.float32, mixing=mixing)
    shift, x = ragged(200, torch.float32), signal(60, 200, 2, dtype=torch.float32)  # three blocks of rows in a bank
    assert_threads_do_not_matter(layer, x, shift, threads)


@pytest.mark.parametrize(("N", "B"), [(61, 150), (200, 20)])
@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_results_on_a_dense_graph_do_not_depend_on_the_number_of_threads(kind, mixing, N, B, threads):
    layer, _ = pair(kind, 2, 3, 2, mixing=mixing)
    assert_threads_do_not_matter(layer, signal(B, N, 2), ragged(N, layout="dense"), threads)


@pytest.mark.parametrize(("N", "B"), [(7, 3), (50, 3), (50, 100), (211, 100)])
@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_results_on_a_small_dense_graph_in_float32_do_not_depend_on_the_number_of_threads(kind, mixing, N, B, threads):
    layer, _ = pair(kind, 2, 3, 2, torch.float32, mixing=mixing)
    shift, x = ragged(N, torch.float32, "dense"), signal(B, N, 2, dtype=torch.float32)
    assert_threads_do_not_matter(layer, x, shift, threads)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("number", [1, 2, 4])
def test_every_block_is_visited_once(number, count, threads):
    threads(number)
    visits = [0] * count

    def visit(first, end, add):
        for block in range(first, end):
            visits[block] += add

    blocks.for_blocks(count, visit, 1)
    assert visits == [1] * count


def test_an_error_in_a_block_is_raised(threads):
    threads(2)

    def fail(first, end):
        raise ZeroDivisionError(f"{first}")

    with pytest.raises(ZeroDivisionError):
        blocks.for_blocks(8, fail)


def test_many_python_threads_at_once_do_not_disturb_each_other(threads):
    threads(2)
    shift, x = ragged(150), signal(40, 150, 2)  # two blocks of rows in a bank
    layers = [pair(kind, 2, 3, 3, mixing=mixing)[0] for kind in KINDS for mixing in MIXINGS]
    expected = [results(layer, x, shift) for layer in layers]
    with ThreadPoolExecutor(6) as pool:
        futures = [pool.submit(results, layer, x, shift) for _ in range(3) for layer in layers]
        for place, future in enumerate(futures):
            assert_identical(future.result(timeout=600), expected[place % len(layers)])


def test_two_calls_never_share_a_recurrence():
    layer, _ = pair("lssm", 2, 3, 3)
    shift, inputs = ragged(7), [signal(2, 7, 2, seed=seed) for seed in range(4)]
    expected = [results(layer, x, shift) for x in inputs]
    leaves = [x.clone().requires_grad_() for x in inputs]
    outputs = [layer(x, shift) for x in leaves]  # all forwards first, then the backwards in another order
    for place in (2, 0, 3, 1):
        gradient = torch.autograd.grad(outputs[place], leaves[place], signal(2, 7, 3, seed=11))[0]
        assert torch.equal(gradient, expected[place]["x"])
        assert torch.equal(outputs[place], expected[place]["output"])


def test_recurrences_go_back_to_the_pool_which_holds_a_bounded_amount(monkeypatch):
    pool._idle.clear()
    layer, _ = pair("lssm", 2, 3, 3)
    y = layer(signal(2, 7, 2), ragged(7))
    assert not pool._idle
    del y
    (group,) = pool._idle.values()
    assert len(group) == 1
    size = group[0].size
    monkeypatch.setattr(pool, "HELD", 3 * size)
    alive = [layer(signal(2, 7, 2), ragged(7)) for _ in range(8)]
    del alive
    gc.collect()
    assert 1 <= sum(map(len, pool._idle.values())) <= 3


def test_calls_that_end_in_garbage_collection_do_not_break_others():
    layer, _ = pair("rsn", 2, 3, 3)
    shift, sizes = ragged(7), [1, 2, 3, 5]
    expected = {B: results(layer, signal(B, 7, 2), shift) for B in sizes}
    thresholds = gc.get_threshold()
    try:
        gc.set_threshold(1)
        for round in range(60):
            B = sizes[round % 4]
            cycle = [layer(signal(B, 7, 2), shift)]
            cycle.append(cycle)
            del cycle
            assert_identical(results(layer, signal(B, 7, 2), shift), expected[B])
    finally:
        gc.set_threshold(*thresholds)


PRELUDE = """
import multiprocessing, sys, threading, torch, shiftstate as ss
torch.set_num_threads(2)
N = 400
ring = torch.arange(N)
shift = ss.Shift.from_edges(torch.stack([ring, ring.roll(1)]), num_nodes=N, layout="sparse").to(torch.float64)
torch.manual_seed(0)
layer = ss.LSSM(1, 2, 3, mixing="depthwise", kernel="fused").double()
x = torch.randn(60, N, 1, dtype=torch.float64)

def work(_=None):
    y = layer(x, shift)
    return [y.detach(), *torch.autograd.grad(y.sum(), list(layer.parameters()))]

def same(found, expected):
    return all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))
"""

SPAWN = """
if __name__ == "__main__":
    expected = work()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert same(pool.map(work, [0])[0], expected)
    print("done")
"""

FORKS = """
from shiftstate.filters.fused.compiling.blocks import for_blocks

class Filtered(torch.utils.data.Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, index):
        return work()

expected = work()
loader = torch.utils.data.DataLoader(Filtered(), batch_size=None, num_workers=2, multiprocessing_context="fork")
assert sum(same(found, expected) for found in loader) == 4
assert same(work(), expected)

def visit(first, end, visits):
    for block in range(first, end):
        visits[block] += 1
def child():
    visits = [0] * 8
    for_blocks(8, visit, visits)
    sys.exit(visits != [1] * 8)

other = threading.Thread(target=work)  # may be at work in the very moment of the fork
other.start()
process = multiprocessing.get_context("fork").Process(target=child)
process.start()
process.join(300)
other.join()
assert process.exitcode == 0, process.exitcode

kept = [layer(x, shift) for _ in range(3)]  # alive, and in a cycle, when the interpreter ends
cycle = [kept]
cycle.append(cycle)
print("done")
"""


@pytest.mark.parametrize("program", [SPAWN, FORKS], ids=["spawn", "forks"])
def test_no_use_kills_the_interpreter(program, tmp_path):
    script = tmp_path / "program.py"
    script.write_text(PRELUDE + program)
    command = [sys.executable, "-W", "ignore::DeprecationWarning", str(script)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    said = [line for line in result.stderr.splitlines() if not line.startswith("shiftstate: compiling")]
    assert (result.returncode, said, result.stdout) == (0, [], "done\n")
