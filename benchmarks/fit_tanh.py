"""Fit the rational tanh of the float32 kernels: x P(x²) / Q(x²) on (0, 7.9], least largest relative error.

Iteratively reweighted least squares on the linearised problem (Lawson's method); prints the coefficients that stand in
shiftstate/filters/fused/compiling/elementary.py and the error in exact and in float32 arithmetic.
"""

import numpy as np

EDGE, POINTS, ROUNDS = 7.9, 4000, 1500


def fit(p, q):
    x = EDGE * (0.5 - 0.5 * np.cos(np.pi * (np.arange(POINTS) + 0.5) / POINTS))
    z, target = (x / EDGE) ** 2, np.tanh(x) / x
    powers = [z**i for i in range(max(p, q) + 1)]
    weight, denominator, best = np.ones(POINTS), np.ones(POINTS), (np.inf, None)
    for _ in range(ROUNDS):
        scale = np.sqrt(weight) / (target * denominator)
        columns = powers[: p + 1] + [-target * power for power in powers[1 : q + 1]]
        solution = np.linalg.lstsq(np.stack(columns, 1) * scale[:, None], target * scale, rcond=1e-17)[0]
        numerator = sum(a * power for a, power in zip(solution[: p + 1], powers, strict=False))
        denominator = 1 + sum(b * power for b, power in zip(solution[p + 1 :], powers[1:], strict=False))
        error = np.abs(numerator / denominator / target - 1)
        if denominator.min() > 0 and error.max() < best[0]:
            best = (error.max(), solution.copy())
        weight *= (error + 1e-18) ** 0.7
        weight /= weight.mean()
    error, solution = best
    a = [float(solution[i] / EDGE ** (2 * i)) for i in range(p + 1)]
    return error, a, [1.0] + [float(solution[p + i] / EDGE ** (2 * i)) for i in range(1, q + 1)]


def in_float32(a, b):
    x = np.concatenate([np.linspace(-12, 12, 1_000_001), np.logspace(-10, 1, 100_001)]).astype(np.float32)
    y = np.clip(x, np.float32(-EDGE), np.float32(EDGE))
    numerator, denominator = (np.polyval(np.float32(c[::-1]), y * y) for c in (a, b))
    nonzero = x != 0
    return np.abs((y * numerator / denominator)[nonzero] / np.tanh(x[nonzero].astype(float)) - 1).max()


if __name__ == "__main__":
    for p, q in ((3, 3), (3, 4), (4, 4)):
        error, a, b = fit(p, q)
        print(f"degrees {p}/{q}: relative error {error:.1e}, in float32 {in_float32(a, b):.1e}")
        print("  P =", a)
        print("  Q =", b)
