"""The filters once more, in NumPy, scalar by scalar from the equations: what the package is compared with.

Written from the mathematics alone, in float64, with a loop for every index. It takes weights by the paper's
letters and shares no code with the package.
"""

import math

import numpy as np

ACTIVATIONS = {
    "identity": lambda v: v,
    "relu": lambda v: v if v > 0 else 0.0,
    "leaky_relu": lambda v: v if v > 0 else 0.01 * v,
    "tanh": math.tanh,
    "sigmoid": lambda v: 1 / (1 + math.exp(-v)) if v >= 0 else math.exp(v) / (1 + math.exp(v)),
}


def apply(name, signal):
    """One nonlinearity, number by number."""
    return np.array([ACTIVATIONS[name](v) for v in np.ravel(signal)]).reshape(np.shape(signal))


def shifted(S, w):
    """S w for w (N,): node i gathers S[i, j] w[j]."""
    return np.array([sum(S[i, j] * w[j] for j in range(len(w))) for i in range(len(w))])


def layer(kind, weights, S, x, K, mixing="bank", state="relu", output="relu"):
    """y (N, F) of one layer for x (N, G); ``weights`` maps the paper's letters to arrays."""
    F = count_outputs(kind, weights, mixing)
    N, G = x.shape
    if kind == "gcnn" and mixing == "dense":
        mixing = "bank"
    y = np.zeros((N, F))
    if mixing == "dense":
        y += vector_filter(kind, weights, S, x, K, F, state, output)
    elif mixing == "depthwise":
        for f in range(F):
            mixed = sum(weights["mix"][g, f] * x[:, g] for g in range(G))
            y[:, f] = scalar_filter(kind, pick(weights, f, 0), S, mixed, K, state, output)
    else:
        for f in range(F):
            for g in range(G):
                y[:, f] += scalar_filter(kind, pick(weights, f, g), S, x[:, g], K, state, output)
    for f in range(F):
        y[:, f] += weights["bias"][f] if "bias" in weights else 0.0
    return y


def count_outputs(kind, weights, mixing):
    return weights["h" if kind == "gcnn" else "h_yw"].shape[1]


def pick(weights, f, g):
    """The weights of the filter (f, g), each a sequence over k."""
    return {name: h[:, f, g] for name, h in weights.items() if name not in ("mix", "project", "bias")}


def scalar_filter(kind, h, S, x, K, state, output):
    """One filter of the bank, R^N to R^N."""
    if kind == "gcnn":
        w, y = x, h["h"][0] * x
        for k in range(1, K + 1):
            w = shifted(S, w)
            y = y + h["h"][k] * w
        return y
    w, c = x, np.zeros_like(x)
    total = apply(output, h["h_yw"][0] * w + signal_part(h, "y", 0, x))
    for k in range(1, K + 1):
        Sw = shifted(S, w)
        if kind == "rsn":
            w = apply(state, h["h_ww"][k - 1] * Sw + signal_part(h, "w", k - 1, x))
        else:
            parts = {}
            for letter in LETTERS[kind]:
                signal = signal_part(h, letter, k - 1, x)
                signal = signal + h[f"b_{letter}"][k - 1] if f"b_{letter}" in h else signal
                parts[letter] = h[f"h_{letter}w"][k - 1] * Sw, signal
            w, c = STEPS[kind](parts, Sw, c)
        total = total + apply(output, h["h_yw"][k] * w + signal_part(h, "y", k, x))
    return apply(output, total)


def signal_part(h, letter, k, x):
    """What x brings to an affine map; nothing where it enters as w_0 only."""
    return h[f"h_{letter}x"][k] * x if f"h_{letter}x" in h else np.zeros_like(x)


def lssm_step(parts, Sw, c):
    """``parts`` holds, by letter, what state and input bring to an affine map."""
    forget, update, gate = (apply("sigmoid", sum(parts[letter])) for letter in "fuw")
    c = forget * c + update * apply("tanh", sum(parts["c"]))
    return gate * apply("tanh", c), c


def gsn_step(parts, Sw, c):
    update, reset = (apply("sigmoid", sum(parts[letter])) for letter in "zr")
    candidate = apply("tanh", reset * parts["c"][0] + parts["c"][1])
    return (1 - update) * Sw + update * candidate, c


LETTERS = {"lssm": "cfuw", "gsn": "czr"}
STEPS = {"lssm": lssm_step, "gsn": gsn_step}


def vector_filter(kind, h, S, x, K, F, state, output):
    """Dense mixing: one recurrence with a state in R^F at each node and matrices for weights."""
    N, G = x.shape

    def parts(letter, k, w):
        state, signal = np.zeros((2, N, F))
        for i in range(N):
            for f in range(F):
                state[i, f] = sum(h[f"h_{letter}w"][k, f, e] * w[i, e] for e in range(F))
                if f"h_{letter}x" in h:
                    signal[i, f] = sum(h[f"h_{letter}x"][k, f, g] * x[i, g] for g in range(G))
                signal[i, f] += h[f"b_{letter}"][k, f] if f"b_{letter}" in h else 0.0
        return state, signal

    def affine(letter, k, w):
        return sum(parts(letter, k, w))

    w = (
        np.array([[sum(x[i, g] * h["project"][g, f] for g in range(G)) for f in range(F)] for i in range(N)])
        if (G != F)
        else x
    )
    c = np.zeros((N, F))
    total = apply(output, affine("y", 0, w))
    for k in range(1, K + 1):
        Sw = np.stack([shifted(S, w[:, f]) for f in range(F)], axis=1)
        if kind == "rsn":
            w = apply(state, affine("w", k - 1, Sw))
        else:
            w, c = STEPS[kind]({letter: parts(letter, k - 1, Sw) for letter in LETTERS[kind]}, Sw, c)
        total = total + apply(output, affine("y", k, w))
    return apply(output, total)
