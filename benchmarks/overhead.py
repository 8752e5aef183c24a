"""What bounds a small filter: a step of an LSSM of the paper's shape at K = 4, and where its time goes.

    python benchmarks/overhead.py

The whole step; the share of it inside compiled code, by the profiler; and a step of an autograd function that takes,
keeps and returns the same tensors and computes nothing. The rest is Python around them. One thread, best of several.
"""

import cProfile
import pstats
import time
from collections.abc import Callable

import torch

from shiftstate.bench.cases import Case, Setup

COMPILED = ("lssm.py", "outputs.py", "columns.py", "shifts.py")


def best(call: Callable[[], object], number: int, rounds: int = 15) -> float:
    """Seconds a call, the best of several rounds."""
    call()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(number):
            call()
        times.append((time.perf_counter() - start) / number)
    return min(times)


def compiled_share(call: Callable[[], object], number: int = 2000) -> float:
    """Seconds a call spends inside kernels, by the profiler."""
    profile = cProfile.Profile()
    profile.enable()
    for _ in range(number):
        call()
    profile.disable()
    kernels = {"forward", "backward", "_matrix", "first_output", "first_output_backward", "finish", "finish_backward"}
    kernels |= {"spread", "gather", "add_blocks"}
    total = 0.0
    for (file, _, name), (_, _, inside, _, _) in pstats.Stats(profile).stats.items():
        if file.endswith(COMPILED) and name in kernels:
            total += inside
    return total / number


def nothing_but_autograd(setup: Setup) -> Callable[[], object]:
    """A step with the filter's tensors and no filter."""
    N, B, F = setup.case.nodes, setup.case.batch, setup.case.channels[1]
    y, gradients = torch.randn(N, B, F), [torch.randn_like(weight) for weight in setup.parameters]

    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, *weights):
            ctx.save_for_backward(y, x, *weights, *setup.shift.operator)
            return y.view_as(y)

        @staticmethod
        def backward(ctx, dy):
            dy.contiguous()
            assert len(ctx.saved_tensors) > 1
            return None, *gradients

    def step() -> object:
        out = Nothing.apply(setup.x.movedim(-2, 0), *setup.parameters).movedim(0, -2)
        return torch.autograd.grad(out, setup.parameters, setup.cotangent)

    return step


def main() -> None:
    setup = Setup(Case("lssm", 4))
    step = setup.ours()
    print(f"{setup.case.name}: a step takes {1e3 * best(step, 100):.2f} ms")
    print(f"  inside kernels and products, by the profiler: {1e3 * compiled_share(step):.2f} ms")
    print(f"  autograd alone, with the same tensors: {1e3 * best(nothing_but_autograd(setup), 100):.2f} ms")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
