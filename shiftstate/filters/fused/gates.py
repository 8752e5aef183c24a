"""The elementwise parts of a filter with matrices for weights (dense mixing); products with weights are BLAS's."""

from shiftstate.filters.fused.compiled import kernel
from shiftstate.filters.fused.elementary import activate, sigmoid, tanh
from shiftstate.filters.fused.elementary import through as pass_through


@kernel
def lssm_forward(first, end, rows, z, c_old, c, w):
    """c_k and w_k from the gates' arguments z (rows, 4F): candidate, forget, update, state."""
    R, F = c.shape
    for i in range(first * rows, min(end * rows, R)):
        for j in range(F):
            cj = sigmoid(z[i, F + j]) * c_old[i, j] + sigmoid(z[i, 2 * F + j]) * tanh(z[i, j])
            c[i, j] = cj
            w[i, j] = sigmoid(z[i, 3 * F + j]) * tanh(cj)


@kernel
def lssm_state(first, end, rows, z, c, w):
    """w_k again, from what was kept."""
    R, F = c.shape
    for i in range(first * rows, min(end * rows, R)):
        for j in range(F):
            w[i, j] = sigmoid(z[i, 3 * F + j]) * tanh(c[i, j])


@kernel
def lssm_backward(first, end, rows, z, c_old, c, dw, dc):
    """z becomes its own gradient, dc goes from ∂/∂c_k to ∂/∂c_{k−1}."""
    R, F = c.shape
    one = z.dtype.type(1)
    for i in range(first * rows, min(end * rows, R)):
        for j in range(F):
            candidate, forget = tanh(z[i, j]), sigmoid(z[i, F + j])
            update, state = sigmoid(z[i, 2 * F + j]), sigmoid(z[i, 3 * F + j])
            t = tanh(c[i, j])
            dcj = dc[i, j] + dw[i, j] * state * (one - t * t)
            z[i, j] = dcj * update * (one - candidate * candidate)
            z[i, F + j] = dcj * c_old[i, j] * forget * (one - forget)
            z[i, 2 * F + j] = dcj * candidate * update * (one - update)
            z[i, 3 * F + j] = dw[i, j] * t * state * (one - state)
            dc[i, j] = dcj * forget


@kernel
def activate_rows(first, end, rows, z, code):
    """z = σ(z), in place."""
    for i in range(first * rows, min(end * rows, z.shape[0])):
        for j in range(z.shape[1]):
            z[i, j] = activate(z[i, j], code)


@kernel
def add_activated(first, end, rows, z, total, code):
    """Total += σ(z)."""
    for i in range(first * rows, min(end * rows, z.shape[0])):
        for j in range(z.shape[1]):
            total[i, j] += activate(z[i, j], code)


@kernel
def through(first, end, rows, z, d, code):
    """z becomes d σ'(z)."""
    for i in range(first * rows, min(end * rows, z.shape[0])):
        for j in range(z.shape[1]):
            z[i, j] = pass_through(d[i, j], activate(z[i, j], code), code)


@kernel
def through_value(first, end, rows, value, d, code):
    """d becomes d σ'(z), with σ(z) given."""
    for i in range(first * rows, min(end * rows, d.shape[0])):
        for j in range(d.shape[1]):
            d[i, j] = pass_through(d[i, j], value[i, j], code)
