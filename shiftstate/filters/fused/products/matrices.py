"""Products of matrices whose bits do not depend on the number of threads: C = A B, and C = Aᵀ B over many rows.

A BLAS library shares a sum out among threads as it likes, and does so differently on every processor. Here each number
of C is a sum in an order that the shapes alone decide: rows in turn, in runs of `RUN`, the runs added in turn.

The work is done four rows and 64 bytes of columns at a time, with the sums in registers. The loop over the depth is
written in LLVM's vectors, because no compiler is sure to find it: they become whatever registers the processor has.
"""

# Numba types these functions, not Python.
# mypy: ignore-errors
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from shiftstate.filters.fused.compiling.blocks import ELEMENTS, for_blocks
from shiftstate.filters.fused.compiling.compiler import inlined, kernel

RUN = 128  # rows of B that are summed before the sum goes to memory: they stay in the fastest cache
TILE = 512  # columns of a block
ROWS = 64  # rows of a block at least
WIDE = 64  # bytes of a panel of columns
PACKED = 32  # rows of A from which a panel of B is copied first, so that its rows lie side by side


def _place(builder, array, row, column, kind):
    """The address of an element, as that of a number or of a vector."""
    by_row, by_column = cgutils.unpack_tuple(builder, array.strides, 2)
    offset = builder.add(builder.mul(row, by_row), builder.mul(column, by_column))
    start = builder.bitcast(array.data, ir.IntType(8).as_pointer())
    return builder.bitcast(builder.gep(start, [offset]), kind.as_pointer())


def _spread(builder, number, vector):
    """A vector of equal numbers."""
    word, nothing = ir.IntType(32), ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(nothing, number, word(0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(word, vector.count), [0] * vector.count))


def _strip(share: int) -> Any:
    """C[ci : ci + rows, cj : cj + lanes] = A B over ``depth``, or +=; as many lanes as fill 1/``share`` of a panel."""

    @intrinsic
    def strip(typingctx, A, ai, ap, B, bp, bj, depth, C, ci, cj, rows, add):
        def codegen(context, builder, signature, args):
            A, B, C = (context.make_array(signature.args[at])(context, builder, args[at]) for at in (0, 3, 7))
            _, ai, ap, _, bp, bj, depth, _, ci, cj, rows, add = args
            number, index = context.get_data_type(signature.args[0].dtype), depth.type
            size = context.get_abi_sizeof(number)
            vector = ir.VectorType(number, max(1, WIDE // size // share))
            sums = [cgutils.alloca_once(builder, vector) for _ in range(4)]

            def some_rows(top, count):
                for total in sums[:count]:
                    builder.store(ir.Constant(vector, [0.0] * vector.count), total)
                with cgutils.for_range(builder, depth, intp=index) as loop:
                    b = builder.load(_place(builder, B, builder.add(bp, loop.index), bj, vector), align=size)
                    for row, total in enumerate(sums[:count]):
                        i = builder.add(builder.add(ai, top), index(row))
                        a = builder.load(_place(builder, A, i, builder.add(ap, loop.index), number), align=size)
                        product = builder.fmul(_spread(builder, a, vector), b, flags=("contract",))
                        builder.store(builder.fadd(builder.load(total), product, flags=("contract",)), total)
                for row, total in enumerate(sums[:count]):
                    target = _place(builder, C, builder.add(builder.add(ci, top), index(row)), cj, vector)
                    with builder.if_else(add) as (then, otherwise):
                        with then:
                            old = builder.load(target, align=size)
                            builder.store(builder.fadd(old, builder.load(total)), target, align=size)
                        with otherwise:
                            builder.store(builder.load(total), target, align=size)

            fours = builder.udiv(rows, index(4))
            with cgutils.for_range(builder, fours, intp=index) as loop:
                some_rows(builder.mul(loop.index, index(4)), 4)
            with cgutils.for_range(builder, builder.urem(rows, index(4)), intp=index) as loop:
                some_rows(builder.add(builder.mul(fours, index(4)), loop.index), 1)
            return context.get_dummy_value()

        n = types.int64
        return types.void(A, n, n, B, n, n, n, C, n, n, n, types.boolean), codegen

    return strip


@intrinsic
def _pack(typingctx, B, bp, bj, depth, panel):
    """Some rows of one panel of B, to where they lie side by side."""

    def codegen(context, builder, signature, args):
        B, panel = (context.make_array(signature.args[at])(context, builder, args[at]) for at in (0, 4))
        _, bp, bj, depth, _ = args
        number, index = context.get_data_type(signature.args[0].dtype), depth.type
        size = context.get_abi_sizeof(number)
        vector = ir.VectorType(number, WIDE // size)
        with cgutils.for_range(builder, depth, intp=index) as loop:
            row = builder.load(_place(builder, B, builder.add(bp, loop.index), bj, vector), align=size)
            builder.store(row, _place(builder, panel, loop.index, index(0), vector), align=size)
        return context.get_dummy_value()

    return types.void(B, types.int64, types.int64, types.int64, panel), codegen


_whole, _half, _quarter, _eighth, _sixteenth = (_strip(share) for share in (1, 2, 4, 8, 16))


@inlined
def _strips(A, ai, ap, B, bp, bj, depth, C, ci, cj, rows, columns, add):
    """C[ci : ci + rows, cj : cj + columns] by strips: as many whole panels as there are, then halves of halves."""
    lanes, j = WIDE // C.itemsize, 0
    while columns - j >= lanes:
        _whole(A, ai, ap, B, bp, bj + j, depth, C, ci, cj + j, rows, add)
        j += lanes
    if columns - j >= lanes // 2:
        _half(A, ai, ap, B, bp, bj + j, depth, C, ci, cj + j, rows, add)
        j += lanes // 2
    if columns - j >= lanes // 4:
        _quarter(A, ai, ap, B, bp, bj + j, depth, C, ci, cj + j, rows, add)
        j += lanes // 4
    if columns - j >= lanes // 8:
        _eighth(A, ai, ap, B, bp, bj + j, depth, C, ci, cj + j, rows, add)
        j += lanes // 8
    if j < columns:  # float64 never comes here: its eighth is one number
        _sixteenth(A, ai, ap, B, bp, bj + j, depth, C, ci, cj + j, rows, add)


@kernel
def _blocks(first, end, rows, depth, A, B, parts, add):
    """Blocks first … end of parts: some rows of a tile of columns, summed over some of the depth."""
    _, N, M = parts.shape
    lanes, groups, tiles = WIDE // parts.itemsize, -(-N // rows), -(-M // TILE)
    packed = B.shape[0] > RUN // 2 and min(rows, N) >= PACKED
    panel = np.empty((RUN if packed else 0, lanes), parts.dtype)
    for block in range(first, end):
        C, low = parts[block // (groups * tiles)], block // (groups * tiles) * depth
        start, top = block % (groups * tiles) // groups * TILE, block % groups * rows
        high, stop, height = min(low + depth, B.shape[0]), min(start + TILE, M), min(rows, N - top)
        rest = stop - (stop - start) % lanes if packed else start
        for p in range(low, max(high, low + 1), RUN):  # once for no depth at all: a sum of nothing is zero
            run, more = min(RUN, high - p), add or p > low
            for j in range(start, rest, lanes):
                _pack(B, p, j, run, panel)
                _whole(A, top, p, panel, 0, 0, run, C, top, j, height, more)
            _strips(A, top, p, B, p, rest, run, C, top, rest, height, stop - rest, more)


@kernel
def _add_up(parts, C):
    """The partial sums, added in order, in float64."""
    total = np.zeros(C.shape[1], np.float64)
    for i in range(C.shape[0]):
        total[:] = 0
        for part in range(parts.shape[0]):
            row = parts[part, i]
            for j in range(C.shape[1]):
                total[j] += row[j]
        for j in range(C.shape[1]):
            C[i, j] = total[j]


def multiply(A: Any, B: Any, C: Any, add: bool = False) -> None:
    """C = A B, or C += A B. B and C are contiguous, and so is A or Aᵀ."""
    (N, M), depth = C.shape, B.shape[0]
    if A.shape != (N, depth) or B.shape[1] != M:
        raise ValueError(f"shapes {A.shape} and {B.shape} cannot be multiplied to {C.shape}")
    if C.size == 0:
        return
    rows = ROWS if N <= ROWS else max(ROWS, ELEMENTS // max(depth, min(M, TILE), 1) // 4 * 4)
    if rows >= N and M <= TILE:  # not worth the threads
        _blocks(0, 1, rows, depth, A, B, C[None], add)
    else:
        for_blocks(-(-N // rows) * -(-M // TILE), _blocks, rows, depth, A, B, C[None], add)


def multiply_transposed(A: Any, B: Any, C: Any) -> None:
    """C = Aᵀ B for many rows: each block of rows has a sum of its own. B and C are contiguous, and so is A or Aᵀ."""
    N, M = C.shape
    if A.shape[1] != N or B.shape != (A.shape[0], M):
        raise ValueError(f"shapes {A.T.shape} and {B.shape} cannot be multiplied to {C.shape}")
    depth = max(ELEMENTS // max(N, M, 1), 8 * min(N, M), RUN) // RUN * RUN  # the sums take less than A and B
    count = -(-A.shape[0] // depth)
    if count <= 1 or C.size == 0:
        multiply(A.T, B, C)
        return
    parts = np.empty((count, N, M), C.dtype)
    for_blocks(count * -(-M // TILE), _blocks, N, depth, A.T, B, parts, False)
    _add_up(parts, C)
