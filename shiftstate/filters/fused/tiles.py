"""All shifts of a few columns at a time: what the kernels for small graphs are made of.

S acts on rows, so columns never meet: a tile of them can go through all K shifts in one compiled call, its state in the
cache all the while. A tile holds whole signals, one column for every channel of their states, and its arrays lie in
one piece: array ``slot`` of tile columns at … at + width is `cut` out of flat memory.
"""

# Numba types these functions, not Python.
# mypy: ignore-errors
import math

import numpy as np
from numba import types
from numba.extending import overload

from shiftstate.filters.fused.compiled import inlined, kernel
from shiftstate.filters.fused.elementary import JIT, activate, gather_row, through

WIDTH = 128  # columns of a tile, about: long enough for vectors, short enough for the cache
VECTOR = 32  # columns that the products take at a time


def signals_per_tile(signals: int, channels: int) -> int:
    """How many signals make a tile: about `WIDTH` columns, if possible a multiple of `VECTOR`."""
    unit = VECTOR // math.gcd(channels, VECTOR)
    unit = unit if unit * channels <= 2 * WIDTH else 1
    tiles = max(1, round(signals * channels / WIDTH))
    return min(signals, unit * math.ceil(signals / tiles / unit))


@inlined
def cut(flat, slots, N, at, width):
    """The arrays (slots, N, width) of the tile whose first column is ``at``."""
    return flat[slots * N * at : slots * N * (at + width)].reshape(slots, N, width)


def at(table, k):
    """table[k]; None of None."""
    raise NotImplementedError


@overload(at, jit_options=JIT)
def _at(table, k):
    return (lambda table, k: None) if isinstance(table, types.NoneType) else (lambda table, k: table[k])


def only_for(wanted, array):
    """The array; None if ``wanted`` is None."""
    raise NotImplementedError


@overload(only_for, jit_options=JIT)
def _only_for(wanted, array):
    return (lambda wanted, array: None) if isinstance(wanted, types.NoneType) else (lambda wanted, array: array)


def multiply(S, w, out):
    """Out = S w, for an S that is a matrix or compressed rows."""
    raise NotImplementedError


@overload(multiply, jit_options=JIT)
def _multiply(S, w, out):
    return _multiply_matrix if isinstance(S, types.Array) else _multiply_rows


def _multiply_rows(S, w, out):
    for i in range(out.shape[0]):
        gather_row(S, w, i, np.uint64(0), np.uint64(out.shape[1]), out[i])


def _multiply_matrix(S, w, out):
    _dense(S, w, out)


@kernel
def _dense(S, w, out):
    """Four rows by four: the sums go through the fastest cache once for sixteen products. Sums are added in order."""
    N, width = out.shape[0], np.uint64(out.shape[1])
    whole = N - N % 4
    for i in range(0, whole, 4):
        o0, o1, o2, o3 = out[i], out[i + 1], out[i + 2], out[i + 3]
        for j in range(width):
            o0[j], o1[j], o2[j], o3[j] = 0, 0, 0, 0
        for p in range(0, whole, 4):
            w0, w1, w2, w3 = w[p], w[p + 1], w[p + 2], w[p + 3]
            a0, a1, a2, a3 = S[i, p], S[i, p + 1], S[i, p + 2], S[i, p + 3]
            b0, b1, b2, b3 = S[i + 1, p], S[i + 1, p + 1], S[i + 1, p + 2], S[i + 1, p + 3]
            c0, c1, c2, c3 = S[i + 2, p], S[i + 2, p + 1], S[i + 2, p + 2], S[i + 2, p + 3]
            d0, d1, d2, d3 = S[i + 3, p], S[i + 3, p + 1], S[i + 3, p + 2], S[i + 3, p + 3]
            for j in range(width):
                v0, v1, v2, v3 = w0[j], w1[j], w2[j], w3[j]
                o0[j] = (((o0[j] + a0 * v0) + a1 * v1) + a2 * v2) + a3 * v3
                o1[j] = (((o1[j] + b0 * v0) + b1 * v1) + b2 * v2) + b3 * v3
                o2[j] = (((o2[j] + c0 * v0) + c1 * v1) + c2 * v2) + c3 * v3
                o3[j] = (((o3[j] + d0 * v0) + d1 * v1) + d2 * v2) + d3 * v3
        for p in range(whole, N):
            w0 = w[p]
            a0, b0, c0, d0 = S[i, p], S[i + 1, p], S[i + 2, p], S[i + 3, p]
            for j in range(width):
                o0[j] += a0 * w0[j]
                o1[j] += b0 * w0[j]
                o2[j] += c0 * w0[j]
                o3[j] += d0 * w0[j]
    for i in range(whole, N):
        o0 = out[i]
        for j in range(width):
            o0[j] = 0
        for p in range(N):
            w0, a0 = w[p], S[i, p]
            for j in range(width):
                o0[j] += a0 * w0[j]


@kernel
def load_signals(x, first, count, out):
    """Signals first … first + count of x (N, B, X) as columns; the channels of a bank come again for every f."""
    X, channels = x.shape[2], out.shape[1] // count
    for i in range(x.shape[0]):
        for b in range(count):
            for column in range(b * channels, (b + 1) * channels, X):
                for g in range(X):
                    out[i, column + g] = x[i, first + b, g]


@kernel
def store_signals(columns, first, count, x):
    """The gradient of `load_signals`: columns that came from one channel are added up."""
    X, channels = x.shape[2], columns.shape[1] // count
    for i in range(x.shape[0]):
        for b in range(count):
            for g in range(X):
                x[i, first + b, g] = columns[i, b * channels + g]
            for column in range(b * channels + X, (b + 1) * channels, X):
                for g in range(X):
                    x[i, first + b, g] += columns[i, column + g]


@kernel
def store_output(total, start, y, code):
    """y = σ_y(total), at columns start …."""
    for i in range(total.shape[0]):
        for j in range(total.shape[1]):
            y[i, start + j] = activate(total[i, j], code)


@kernel
def load_gradient(dy, y, start, dtotal, code):
    """Σ_k y_k's gradient from y's, from columns start …."""
    for i in range(dtotal.shape[0]):
        for j in range(dtotal.shape[1]):
            dtotal[i, j] = through(dy[i, start + j], y[i, start + j], code)


@kernel
def add_up(dH, updates, outputs):
    """Gradients of weights of the update (P, K, channels), k = 1 … K, and of the output (Q, K + 1, channels).

    dH holds sums by tile, shift, weight and column; they are added in order.
    """
    tiles, width, P = dH.shape[0], dH.shape[4], updates.shape[0]
    for k in range(dH.shape[1] - 1):
        for p in range(0 if k > 0 else P, dH.shape[3]):
            total = dH[0, k, 0, p]
            for tile in range(1, tiles):
                part = dH[tile, k, 0, p]
                for j in range(width):
                    total[j] += part[j]
            out = updates[p, k - 1] if p < P else outputs[p - P, k]
            channels = out.shape[0]
            for g in range(channels):
                out[g] = total[g]
            for column in range(channels, width, channels):
                for g in range(channels):
                    out[g] += total[column + g]
