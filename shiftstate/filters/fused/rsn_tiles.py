"""The RSN on a small graph: tile by tile through all shifts, and back."""

from shiftstate.filters.fused.compiled import kernel
from shiftstate.filters.fused.ends import first_output, first_output_backward
from shiftstate.filters.fused.rsn import backward, forward
from shiftstate.filters.fused.tiles import (
    cut,
    load_gradient,
    load_signals,
    multiply,
    only_for,
    store_output,
    store_signals,
)


@kernel
def _shift(S, k, w_old, w, x, H, total, code_w, code_y):
    """Shift k."""
    multiply(S, w_old, w)
    forward(0, 1, x.shape[0], None, w_old, w, x, H[k], total, code_w, code_y)


@kernel
def forward_tiles(first, end, signals, segment, S, x, H, b, kept, starts, scratch, y, code_w, code_y):
    """Tiles first … end of so many signals each.

    ``kept`` has room for w_k of all shifts, or of the last two; ``starts``, if not empty, for w before every segment of
    shifts. ``scratch`` is two arrays.
    """
    N, B, K, channels = x.shape[0], x.shape[1], H.shape[0] - 2, H.shape[2] // signals
    for tile in range(first, end):
        count = min(signals, B - tile * signals)
        start, width = tile * signals * channels, count * channels
        work = cut(scratch, 2, N, start, width)
        xs, total = work[0], work[1]
        w = cut(kept[0], kept[0].size // y.size, N, start, width)
        aside = cut(starts, starts.size // y.size, N, start, width)
        load_signals(x, tile * signals, count, xs)
        first_output(xs, H[0, -2], H[0, -1], total, code_y)
        w[0] = xs
        for k in range(1, K + 1):
            w_old = w[(k - 1) % w.shape[0]]
            if starts.size > 0 and (k - 1) % segment == 0:
                aside[(k - 1) // segment] = w_old
            _shift(S, k, w_old, w[k % w.shape[0]], xs, H, total, code_w, code_y)
        store_output(total, start, y, code_y)


@kernel
def backward_tiles(
    first, end, signals, segment, S, St, x, H, b, kept, starts, scratch, y, dy, dx, code_w, code_y, dH, db
):
    """Tiles first … end in reverse; each fills its own slice of dH.

    With ``starts``, ``kept`` has room for one segment, which is computed once more. ``scratch`` is four arrays, and one
    more for dx.
    """
    N, B, K, channels = x.shape[0], x.shape[1], H.shape[0] - 2, H.shape[2] // signals
    for tile in range(first, end):
        count = min(signals, B - tile * signals)
        start, width = tile * signals * channels, count * channels
        work = cut(scratch, scratch.size // y.size, N, start, width)
        xs, dtotal, dxs = work[0], work[1], only_for(dx, work[-1])
        w = cut(kept[0], kept[0].size // y.size, N, start, width)
        aside = cut(starts, starts.size // y.size, N, start, width)
        load_signals(x, tile * signals, count, xs)
        load_gradient(dy, y, start, dtotal, code_y)
        work[2:4] = 0
        if dx is not None:
            dxs[:] = 0
        for begin in range(segment * ((K - 1) // segment), -1, -segment):
            stop = min(begin + segment, K)
            if starts.size > 0:
                w[0] = aside[begin // segment]
                for k in range(begin + 1, stop + 1):
                    _shift(S, k, w[k - begin - 1], w[k - begin], xs, H, None, code_w, code_y)
            for k in range(stop, begin, -1):
                a_old, a = work[2 + (k + 1) % 2], work[2 + k % 2]
                if k < K:
                    multiply(St, a_old, a)
                weights = (H[k], H[k + 1, 0])
                backward(0, 1, N, None, dxs, a_old, a, w[k - begin], xs, *weights, dtotal, code_w, code_y, dH[tile, k])
        if K > 0:
            multiply(St, work[3], work[2])
        ends = dH[tile, K + 1]
        first_output_backward(0, 1, N, work[2], H[1, 0], xs, H[0, -2], H[0, -1], dtotal, dxs, code_y, ends)
        dH[tile, 0, 0, -2], dH[tile, 0, 0, -1] = ends[0, 1], ends[0, 1]
        for k in range(K, 0, -1):  # each shift holds the gradient of the next one's h_ww
            dH[tile, k, 0, 0] = dH[tile, k - 1, 0, 0] if k > 1 else ends[0, 0]
        if dx is not None:
            store_signals(dxs, tile * signals, count, dx)
