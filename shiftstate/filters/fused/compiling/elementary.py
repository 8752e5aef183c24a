"""What the kernels are made of: tanh, sigmoid, the named activations, and the gathering of one row of S w.

The functions have two faces: a Python body that is never called, and an overload that Numba inlines, chosen by type.
"""

# Numba types these functions, not Python.
# mypy: ignore-errors
import math
from functools import lru_cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from shiftstate.filters.fused.compiling.compiler import FASTMATH, inlined

# tanh x ≈ x P(x²) / Q(x²) on |x| ≤ 7.9, relative error 1.3e-7 before rounding, fitted by
# benchmarks/fit_tanh.py; beyond, tanh is 1 to float32's last digit. Polynomials and a division vectorise,
# calls into the mathematical library do not.
EDGE = np.float32(7.9)
P0, P1, P2, P3 = map(
    np.float32, (0.9999998691953943, 0.12934418210151302, 0.002960474046702025, 1.1531847056250513e-05)
)
Q1, Q2, Q3, Q4 = map(
    np.float32, (0.4626764491087258, 0.02385408602183189, 0.00024001215765670904, 2.49255045661519e-07)
)
HALF, ONE = np.float32(0.5), np.float32(1.0)

JIT = {"fastmath": FASTMATH, "error_model": "numpy", "forceinline": True}


def tanh(x):
    """Tanh: rational in float32, exact in float64."""
    raise NotImplementedError


def sigmoid(x):
    """Sigmoid: from the rational tanh in float32, exact in float64."""
    raise NotImplementedError


@overload(tanh, jit_options=JIT)
def _tanh(x):
    if x == types.float32:

        def rational(x):
            # Written so that NaN fails both comparisons and stays.
            above = -EDGE if x < -EDGE else x
            y = EDGE if above > EDGE else above
            z = y * y
            return y * (((P3 * z + P2) * z + P1) * z + P0) / ((((Q4 * z + Q3) * z + Q2) * z + Q1) * z + ONE)

        return rational
    return lambda x: math.tanh(x)


@overload(sigmoid, jit_options=JIT)
def _sigmoid(x):
    if x == types.float32:
        return lambda x: HALF + HALF * tanh(HALF * x)
    return lambda x: 1.0 / (1.0 + math.exp(-x))


# A named activation is handed to a kernel as numbers. Piecewise linear: the slope of its negative side, the value below
# which that side is cut off so that relu(−∞) is 0 and not 0 · ∞, and the slope at NaN. Smooth: (p, q, q s, s) for
# p + q tanh(s z). The length of the tuple is part of its type, so each kind gets a loop of its own.
LOWEST = float(np.finfo(np.float32).min)
PIECEWISE = {"identity": (1.0, -math.inf, 1.0), "relu": (0.0, LOWEST, 1.0), "leaky_relu": (0.01, -math.inf, 0.01)}
SMOOTH = {"tanh": (0.0, 1.0, 1.0, 1.0), "sigmoid": (0.5, 0.5, 0.25, 0.5)}


@lru_cache
def encode(activation: str, dtype: Any) -> Any:
    """The numbers that stand for a named activation, in the kernel's precision."""
    return tuple(dtype(number) for number in {**PIECEWISE, **SMOOTH}[activation])


def activate(z, code):
    """σ(z)."""
    raise NotImplementedError


def through(gradient, value, code):
    """gradient · σ'(z), from the value σ(z)."""
    raise NotImplementedError


@overload(activate, jit_options=JIT)
def _activate(z, code):
    zero, _ = _constants(z)
    if len(code) == 3:

        def piecewise(z, code):
            negative = code[0] * (code[1] if z < code[1] else z)
            return negative if z <= zero else z

        return piecewise
    return lambda z, code: code[0] + code[1] * tanh(code[3] * z)


@overload(through, jit_options=JIT)
def _through(gradient, value, code):
    zero, one = _constants(value)
    if len(code) == 3:

        def piecewise(gradient, value, code):
            # As torch has it: a shut relu stops even a NaN, and each decides for itself what to do at NaN.
            below = zero if code[0] == zero else code[0] * gradient
            return below if value <= zero else gradient if value > zero else code[2] * gradient

        return piecewise

    def smooth(gradient, value, code):
        t = (value - code[0]) / code[1]
        return gradient * (code[2] * (one - t * t))

    return smooth


def _constants(kind: Any) -> tuple[Any, Any]:
    """0 and 1 in the kernel's precision: a Python number would widen float32."""
    number = np.float32 if kind == types.float32 else np.float64
    return number(0), number(1)


@intrinsic
def prefetch(typingctx, array, index):
    """Ask for the cache line that holds element ``index`` of a contiguous array."""

    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        pointer = builder.bitcast(builder.gep(data, [args[1]]), byte)
        function = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        )
        builder.call(function, [pointer, word(0), word(3), word(1)])  # read, keep in all caches, data
        return context.get_dummy_value()

    return types.void(array, types.int64), codegen


def begin_row(graph, i, start, stop, row):
    """What a row of S w starts from: 0; or −before_i of a graph (crow, col, values, before, factor)."""
    raise NotImplementedError


def weight_of(graph, edge):
    """S_ij of one edge, times the factor if there is one."""
    raise NotImplementedError


@overload(begin_row, jit_options=JIT)
def _begin_row(graph, i, start, stop, row):
    if len(graph) == 3:

        def zero(graph, i, start, stop, row):
            for j in range(start, stop):
                row[j] = 0

        return zero

    def minus(graph, i, start, stop, row):
        before = graph[3][i]
        for j in range(start, stop):
            row[j] = -before[j]

    return minus


@overload(weight_of, jit_options=JIT)
def _weight_of(graph, edge):
    return (lambda graph, edge: graph[2][edge]) if len(graph) == 3 else (lambda graph, edge: graph[4] * graph[2][edge])


AHEAD = 20  # edges to look ahead: a memory access or two
LINE = 16  # float32 a cache line


@inlined
def gather_row(graph, source, i, start, stop, row):
    """row[start:stop] = Σ_j S_ij source_j: four edges at a time, the next rows asked for in advance.

    A ``graph`` that ends with a term makes it factor · Σ_j S_ij source_j − before_i.
    ``start`` and ``stop`` are unsigned: a signed index might be negative, which Python lets count from the end, and
    the test for it would keep the loop from being vectorised.
    """
    crow, col = graph[0], graph[1]
    edge, end, last = crow[i], crow[i + 1], crow[crow.shape[0] - 1]
    begin, width = np.int64(start), np.int64(source.shape[1])
    for ahead in range(edge + AHEAD, min(end + AHEAD, last)):
        base = np.int64(col[ahead]) * width + begin
        for line in range(0, min(np.int64(stop) - begin, 4 * LINE), LINE):
            prefetch(source, base + line)
    begin_row(graph, i, start, stop, row)
    while edge + 4 <= end:
        v0, v1 = weight_of(graph, edge), weight_of(graph, edge + 1)
        v2, v3 = weight_of(graph, edge + 2), weight_of(graph, edge + 3)
        w0, w1, w2, w3 = source[col[edge]], source[col[edge + 1]], source[col[edge + 2]], source[col[edge + 3]]
        for j in range(start, stop):
            row[j] += v0 * w0[j] + v1 * w1[j] + v2 * w2[j] + v3 * w3[j]
        edge += 4
    while edge < end:
        v0, w0 = weight_of(graph, edge), source[col[edge]]
        for j in range(start, stop):
            row[j] += v0 * w0[j]
        edge += 1
