"""The LSSM on a small graph: tile by tile through all shifts, and back."""

from shiftstate.filters.fused.compiled import kernel
from shiftstate.filters.fused.ends import first_output, first_output_backward
from shiftstate.filters.fused.lssm import backward, forward
from shiftstate.filters.fused.tiles import (
    at,
    cut,
    load_gradient,
    load_signals,
    multiply,
    only_for,
    store_output,
    store_signals,
)


@kernel
def _shift(S, k, w_old, Sw, x, H, b, c_old, c, w, total, code):
    """Shift k."""
    multiply(S, w_old, Sw)
    forward(0, 1, x.shape[0], None, w_old, Sw, x, H[k], at(b, k), c_old, c, w, total, code)


@kernel
def forward_tiles(first, end, signals, segment, S, x, H, b, kept, starts, scratch, y, code_w, code):
    """Tiles first … end of so many signals each.

    ``kept`` has room for S w_{k−1} and for c_k of all shifts, or of the last alone; ``starts``, if not empty, for c and
    w before every segment of shifts. ``scratch`` is four arrays.
    """
    N, B, K, channels = x.shape[0], x.shape[1], H.shape[0] - 2, H.shape[2] // signals
    for tile in range(first, end):
        count = min(signals, B - tile * signals)
        start, width = tile * signals * channels, count * channels
        work = cut(scratch, 4, N, start, width)
        xs, total = work[0], work[1]
        Sw = cut(kept[0], kept[0].size // y.size, N, start, width)
        c = cut(kept[1], kept[1].size // y.size, N, start, width)
        aside = cut(starts, starts.size // y.size, N, start, width)
        load_signals(x, tile * signals, count, xs)
        first_output(xs, H[0, -2], H[0, -1], total, code)
        work[2] = xs
        c[0] = 0
        for k in range(1, K + 1):
            w_old, w = work[2 + (k - 1) % 2], work[2 + k % 2]
            c_old, c_new = c[(k - 1) % c.shape[0]], c[k % c.shape[0]]
            if starts.size > 0 and (k - 1) % segment == 0:
                place = 2 * ((k - 1) // segment)
                aside[place], aside[place + 1] = c_old, w_old
            _shift(S, k, w_old, Sw[(k - 1) % Sw.shape[0]], xs, H, b, c_old, c_new, w, total, code)
        store_output(total, start, y, code)


@kernel
def backward_tiles(
    first, end, signals, segment, S, St, x, H, b, kept, starts, scratch, y, dy, dx, code_w, code, dH, db
):
    """Tiles first … end in reverse; each fills its own slice of dH and db.

    With ``starts``, ``kept`` has room for one segment, which is computed once more. ``scratch`` is five arrays, two
    more for w where there are ``starts``, and one more for dx.
    """
    N, B, K, channels = x.shape[0], x.shape[1], H.shape[0] - 2, H.shape[2] // signals
    for tile in range(first, end):
        count = min(signals, B - tile * signals)
        start, width = tile * signals * channels, count * channels
        work = cut(scratch, scratch.size // y.size, N, start, width)
        xs, dtotal, dc, dxs = work[0], work[1], work[2], only_for(dx, work[-1])
        Sw = cut(kept[0], kept[0].size // y.size, N, start, width)
        c = cut(kept[1], kept[1].size // y.size, N, start, width)
        aside = cut(starts, starts.size // y.size, N, start, width)
        load_signals(x, tile * signals, count, xs)
        load_gradient(dy, y, start, dtotal, code)
        work[2:5] = 0
        if dx is not None:
            dxs[:] = 0
        for begin in range(segment * ((K - 1) // segment), -1, -segment):
            stop = min(begin + segment, K)
            if starts.size > 0:
                c[0], work[5] = aside[2 * (begin // segment)], aside[2 * (begin // segment) + 1]
                for slot in range(stop - begin):
                    w_old, w = work[5 + slot % 2], work[5 + (slot + 1) % 2]
                    _shift(S, begin + slot + 1, w_old, Sw[slot], xs, H, b, c[slot], c[slot + 1], w, None, code)
            for k in range(stop, begin, -1):
                slot, d_old, d = k - begin - 1, work[3 + (k + 1) % 2], work[3 + k % 2]
                if k < K:
                    multiply(St, d_old, d)
                states = (Sw[slot], xs, H[k], at(b, k), c[slot], c[slot + 1])
                backward(0, 1, N, None, dxs, d_old, d, *states, dtotal, dc, code, dH[tile, k], at(at(db, tile), k))
        if dx is not None and K > 0:
            multiply(St, work[4], work[3])
        v = only_for(dx, work[3])  # ∂/∂w_0, wanted only where that of x is
        ends = dH[tile, K + 1]
        first_output_backward(0, 1, N, v, None, xs, H[0, -2], H[0, -1], dtotal, dxs, code, ends)
        dH[tile, 0, 0, -2], dH[tile, 0, 0, -1] = ends[0, 1], ends[0, 1]
        if dx is not None:
            store_signals(dxs, tile * signals, count, dx)
